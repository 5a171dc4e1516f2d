"""What of a record's verdict the other probes of its lane decide: what a refusal, or a success, is worth."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from catalog_probe.catalog.model import Reason
from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.probes.judging.comparison.message import wording
from catalog_probe.probes.judging.inconclusive import settlement
from catalog_probe.probes.judging.inconclusive.accepted_keys import accepted_keys
from catalog_probe.probes.judging.inconclusive.assumed_paths import at_assumed_paths, reached
from catalog_probe.probes.judging.inconclusive.named_values import blamed
from catalog_probe.probes.judging.inconclusive.refused_keys import refused_keys
from catalog_probe.probes.judging.inconclusive.unasked import words
from catalog_probe.probes.judging.inconclusive.unvouched import at_services, is_clearly_theirs
from catalog_probe.probes.judging.verdicts.record_verdict import record_verdict, unseen
from catalog_probe.probes.planning.obstacles import services_beyond_the_control
from catalog_probe.probes.recipes.fault_free import TWIN
from catalog_probe.probes.recipes.performing import perform
from catalog_probe.probes.recipes.probe import Stopped
from catalog_probe.probes.running.attempt_probe import AttemptProbe

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from catalog_probe.catalog.model import Exchange
    from catalog_probe.catalog.recognition.known import Known
    from catalog_probe.probes.judging.verdicts.cells import Place
    from catalog_probe.probes.judging.verdicts.verdict import Verdict
    from catalog_probe.probes.running.lane import Lane
    from catalog_probe.probes.running.task import Task, Tried


async def settled(doubts: Doubts, task: Task, lane: Lane) -> Verdict:
    """The verdict once all of the lane are judged: what many different faults were answered with may say nothing.

    `task` is that of any of the lane: each asks alike without a fault.
    """
    return _without_strangers(await _among_the_others(doubts, task, lane), doubts.unvouched, lane)


async def _among_the_others(doubts: Doubts, task: Task, lane: Lane) -> Verdict:
    """The verdict so far as the address is right at which it was asked."""
    final, doubted, found, nowhere, _ = doubts
    if doubted:
        return _without_what_is_not_there(final, doubted, lane)
    final = _without_assumed_paths(final, nowhere, lane, task.known)
    rulings = await lane.settling.rulings(partial(_without_fault, task, lane), task.known)
    known = lane.settling
    return settlement.settled(final, found, rulings, known.pages, known.restricting, known.kept_out, known.texts)


class Doubts(NamedTuple):
    """The verdict so far, and what of it the lane's other probes decide: where values are doubted, nothing else."""

    final: Verdict
    doubted: Mapping[Place, frozenset[str]]
    """The values that somebody set, and that may be what was refused."""
    found: tuple[settlement.Refusal, ...]
    nowhere: Mapping[Place, str]
    """Refusals as at a path which is not there, with the endpoint whose path we assumed."""
    unvouched: Mapping[Place, str]
    """What was asked at a service of which no control is, with that service."""

    @property
    def any(self) -> bool:
        """Whether there are any: else the verdict stands, whatever the others saw."""
        return bool(self.doubted or self.found or self.nowhere or self.unvouched)


def in_doubt(task: Task, lane: Lane, tried: Tried, final: Verdict) -> Doubts:
    """What of a verdict the lane's other probes decide, once they are judged; what they need of it is noted."""
    everything = tried.exchanges
    exchanges = {(each.label, each.endpoint): each for each in everything}
    unvouched = _unvouched(task, lane, final, exchanges) if lane.live else {}
    if lane.live:
        lane.settling.reached.update(reached(everything, task.known, lane.provider.name))
        final = _without_rights(task, lane, tried, final, everything)
    doubted = blamed(final, task.expected, everything, lane.doubtful, lane.provider.name)
    if doubted:
        return Doubts(final, doubted, (), {}, unvouched)
    nowhere: Mapping[Place, str] = {}
    if lane.live:  # a mock's keys and paths are known: there a refusal in place of another is drift
        credential = task.recipe.lane
        restricting = settlement.restricting(task.expected, final, exchanges, credential, task.known)
        lane.settling.restricting.update(restricting)
        nowhere = at_assumed_paths(task.record, final, exchanges, task.known, lane.provider.name)
    found = tuple(
        settlement.refusals(
            task.expected,
            final,
            exchanges,
            task.recipe.lane,
            task.faults,
            task.known,
            with_another_key=tried.with_another_key,
            success=task.success,
        )
    )
    texts = settlement.foreign_texts(task.expected, everything, task.known)
    lane.settling.note(found, settlement.pages(task.expected, everything, task.known), texts)
    return Doubts(final, {}, found, nowhere, unvouched)


def _unvouched(task: Task, lane: Lane, final: Verdict, exchanges: Mapping[Place, Exchange]) -> Mapping[Place, str]:
    """The cells asked at services whose address no control shows to be right; what vouches for one is noted.

    A mock's addresses are known.
    """
    services = services_beyond_the_control(task.recipe)
    if task.control is None or not services:
        return {}
    found = at_services(final, exchanges, services, lane.provider.addresses)
    stated = {each.label: each for each in task.expected}
    for place, service in found.items():
        if is_clearly_theirs(stated[place[0]], final.cells[place], exchanges[place]):
            lane.settling.vouched.add(service)
    return found


def _without_rights(task: Task, lane: Lane, tried: Tried, final: Verdict, exchanges: Sequence[Exchange]) -> Verdict:
    """The verdict without what a key was let through with that may have the right, and without what it was kept from.

    A mock's keys are known.
    """
    cells = dict(final.cells)
    for place in accepted_keys(final, task.expected, exchanges, task.known, lane.provider.name):
        another = place[0] in tried.with_another_key
        look = "" if another else f"; look at the account of {lane.provider.called(lane.role)}"
        told = f"it was let through, as a key with the right is; a key without it is wanted here{look}"
        cells[place] = unseen(cells[place], Reason(ReasonCode.ACCOUNT_TROUBLE, told))
    asked = {(each.label, each.endpoint): each.response for each in exchanges}
    stated = {each.label: each for each in task.expected}
    for place in refused_keys(final, task.expected, exchanges, task.known, tried.with_another_key):
        response = asked[place]
        assert response is not None
        message = wording(stated[place[0]], response, task.known)
        lane.settling.kept_out.add((task.recipe.lane, response.status or 0, message))
        told = f"{words(response)}; the key is good elsewhere: look at the account of {lane.provider.called(lane.role)}"
        cells[place] = unseen(cells[place], Reason(ReasonCode.ACCOUNT_TROUBLE, told))
    return final if cells == final.cells else record_verdict(cells)


def _without_what_is_not_there(final: Verdict, doubted: Mapping[Place, frozenset[str]], lane: Lane) -> Verdict:
    """The verdict without the refusals of values that no request of the lane was let through with."""
    cells = dict(final.cells)
    for place, named in doubted.items():
        if wrong := named - lane.served:
            cells[place] = unseen(cells[place], Reason(ReasonCode.VALUE_NOT_FOUND, _not_there(lane, wrong)))
    return final if cells == final.cells else record_verdict(cells)


def _without_strangers(final: Verdict, unvouched: Mapping[Place, str], lane: Lane) -> Verdict:
    """The verdict without what came from addresses at which the lane saw nothing that is clearly the provider's."""
    cells = dict(final.cells)
    provider = lane.provider
    for place, service in unvouched.items():
        if service in lane.settling.vouched:
            continue
        look = f"look at {provider.address_called(service)}"
        told = f"nothing from {provider.addresses[service]} was as documented; {look}"
        cells[place] = unseen(cells[place], Reason(ReasonCode.CONTROL_FAILED, told))
    return final if cells == final.cells else record_verdict(cells)


def _without_assumed_paths(final: Verdict, nowhere: Mapping[Place, str], lane: Lane, known: Known) -> Verdict:
    """The verdict without the refusals of paths that we assumed and where the lane met nobody."""
    cells = dict(final.cells)
    for place, endpoint in nowhere.items():
        if endpoint in lane.settling.reached:
            continue
        detail = f"path: {known.assumed_paths[endpoint]} Nothing but 404 or 405 came from {endpoint}"
        cells[place] = unseen(cells[place], Reason(ReasonCode.ASSUMPTION_FAILED, detail))
    return final if cells == final.cells else record_verdict(cells)


def _not_there(lane: Lane, wrong: Iterable[str]) -> str:
    """What to set, and why, in the same words wherever these values were named."""
    provider = lane.provider
    told = {name: f" ({provider.values[name]})" if name.endswith("_model") else "" for name in sorted(wrong)}
    mends = " or ".join(f"{provider.mend(f'values.{name}')}{shown}" for name, shown in told.items())
    return f"{mends}: it is refused wherever it is named, and nothing shows that this key may use it"


async def _without_fault(task: Task, lane: Lane, endpoint: str) -> Exchange:
    """The answer of an endpoint to a request without a fault; what that makes is removed.

    Raises:
        Stopped: it is not allowed here, or nothing more can be sent.
    """
    recipe = task.twin(endpoint)
    if isinstance(recipe, Reason):
        raise Stopped(recipe)
    probe = AttemptProbe(endpoint, lane.role, lane, f"{task.run}/{endpoint}/{TWIN}", task.journal, tokens=recipe.tokens)
    async with lane.places:
        lane.reserve(recipe.tokens)
        try:
            await perform(recipe, probe)
        finally:
            await probe.remove_all()
    return next(each for each in probe.exchanges if each.label == TWIN)
