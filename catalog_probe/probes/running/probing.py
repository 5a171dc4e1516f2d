"""One record, one probe: elicit its behaviour, judge what was seen, and look again where that is not yet settled."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

import anyio

from catalog_probe.catalog.evidence.results import Result
from catalog_probe.catalog.evidence.retention import trim_attempt, trim_finding, trim_observation
from catalog_probe.catalog.model import Attempt, Finding, Outcome, Reason, Record
from catalog_probe.catalog.model.codes import FindingCode, ReasonCode
from catalog_probe.catalog.model.explanations import INCONCLUSIVE, RESTRICTED
from catalog_probe.catalog.model.labels import BESIDE
from catalog_probe.probes.judging.inconclusive.record import Pending, Probed, add_record, settle_record
from catalog_probe.probes.judging.judge import judge
from catalog_probe.probes.judging.verdicts.attempts import PASSING, only_later, over_all, still_open
from catalog_probe.probes.judging.verdicts.not_observed import not_observed
from catalog_probe.probes.judging.verdicts.record_verdict import record_verdict
from catalog_probe.probes.judging.verdicts.verdict import Verdict
from catalog_probe.probes.planning.obstacles import services_beyond_the_control
from catalog_probe.probes.recipes.performing import Unseen, perform
from catalog_probe.probes.recipes.probe import Stopped
from catalog_probe.probes.running import controls
from catalog_probe.probes.running.attempt_probe import AttemptProbe
from catalog_probe.probes.running.barrier import Stage
from catalog_probe.probes.running.task import Tried
from catalog_probe.probes.wire.redaction.evidence import redact_attempt

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from catalog_probe.probes.judging.verdicts.cells import Place
    from catalog_probe.probes.recipes.recipe import Recipe
    from catalog_probe.probes.running.lane import Lane
    from catalog_probe.probes.running.task import Task
    from catalog_probe.probes.wire.redaction.redactor import Redactor


class Waiting(NamedTuple):
    """A record that waits for the others of its lane; there may be thousands, so it is all that is held of each."""

    seen: Result
    """The result but for its verdict."""
    pending: Pending


async def run(task: Task, lane: Lane) -> Result | Waiting:
    """Probe one record; never raises for what the network, the provider or the recipe does."""
    tried = Tried()
    try:
        final = await _looked_at(task, lane, tried)
        if final.outcome is Outcome.DRIFTED:
            # A key or a host that fails by now makes everything look like drift: it stands if a later control succeeds.
            await _confirm(task, lane, after=time.perf_counter())
        pending = add_record(_describe_probe(task, lane, tried), final, tried.exchanges, lane.evidence)
    except Stopped as stopped:
        pending = Pending(Verdict(Outcome.INCONCLUSIVE, stopped.reason))
    seen = _seen(task, tried)
    return Waiting(seen, pending) if pending.waits else _conclude(seen, pending.verdict, lane)


def settle(waiting: Waiting, lane: Lane) -> Result:
    """The result of a record once all of its lane are judged."""
    return _conclude(waiting.seen, settle_record(waiting.pending), lane)


def _describe_probe(task: Task, lane: Lane, tried: Tried) -> Probed:
    """What the rules know of the record's requests. On a mock every address is known."""
    addresses = lane.provider.addresses
    beyond = services_beyond_the_control(task.recipe) if lane.live and task.control is not None else ()
    return Probed(
        provider=lane.provider.name,
        expected=task.expected,
        known=task.known,
        live=lane.live,
        record=task.record,
        faults=task.faults,
        with_another_key=tried.with_another_key,
        success=task.success,
        unconfirmed_hosts={service: addresses[service] for service in beyond if service in addresses},
    )


async def _looked_at(task: Task, lane: Lane, tried: Tried) -> Verdict:
    """Look until every cell is settled, or no other look could settle it.

    What failed for a reason that may pass is asked again when all others of the lane have been asked, if a control
    shows by then that it is worth it.

    Raises:
        Stopped: nothing more can be sent, or the control says that nothing should be.
    """
    lost: Stopped | None = None
    while True:
        try:
            async with lane.places:
                final = await _looked_at_for_now(task, lane, tried)
        except Stopped as stopped:
            # It asked first, and the lane's control got lost on the way: no reason to give up its night.
            if tried.attempts or lost is not None or lane.stopped is not None or stopped.reason.code not in PASSING:
                raise
            final, lost = None, stopped
        if final is not None:
            return final
        if not await _worth_asking_again(task, lane):
            if lost is not None and not tried.verdicts:
                raise lost
            return over_all(tried.verdicts)
        await anyio.sleep(task.reprobe_after_s)


async def _looked_at_for_now(task: Task, lane: Lane, tried: Tried) -> Verdict | None:
    """Look until nothing is left open but what had better be asked later; the verdict, if nothing is.

    Raises:
        Stopped: nothing more can be sent, or the control says that nothing should be.
    """
    if not tried.attempts:
        await _confirm(task, lane)
    while True:
        lane.reserve(task.recipe.tokens)
        verdict = await _attempt(task, lane, tried)
        if not verdict.cells or verdict.outcome is Outcome.HARNESS_ERROR:
            return verdict
        tried.verdicts.append(verdict.cells)
        if not still_open(tried.verdicts) and not tried.lost:
            return over_all(tried.verdicts) if len(tried.verdicts) > 1 else verdict
        if only_later(tried.verdicts) or tried.lost:
            return None
        await anyio.sleep(task.reprobe_after_s)


async def _worth_asking_again(task: Task, lane: Lane) -> bool:
    """Whether the key and the host work once all of the lane has been asked; waits until then."""
    since = await lane.barrier.wait_for(Stage.ASKED, str(task.record.address))
    try:
        await _confirm(task, lane, after=since)
    except Stopped:
        return False
    return True


async def _confirm(task: Task, lane: Lane, *, after: float | None = None) -> None:
    if task.control is not None:
        await controls.confirm(task.control, lane, f"{task.run}/control", task.known, after=after)


def unprobed(record: Record, reason: Reason, recipe: Recipe | None) -> Result:
    """The result of a record that is not probed here, or for which what it rests on could not be looked up."""
    return Result(
        record=str(record.address),
        probed_record=record.data,
        outcome=Outcome.INCONCLUSIVE if reason.code in INCONCLUSIVE else Outcome.NOT_PROBED,
        reason=reason,
        lane=recipe.lane if recipe else "",
        cost=str(recipe.cost) if recipe else "",
        trigger=recipe.trigger if recipe else "",
    )


async def _attempt(task: Task, lane: Lane, tried: Tried) -> Verdict:
    """Look once more at what is open and what it means nothing without, at first at everything; keep what was seen."""
    address = str(task.record.address)
    number = len(tried.attempts) + 1
    session, still = f"{task.run}/{address}/{number}", task.recipe.uses_up
    role, tokens = task.recipe.credential, task.recipe.tokens
    probe = AttemptProbe(address, role, lane, session, task.journal, still=still, tokens=tokens)
    needed = _needed(task, tried) if tried.verdicts else None
    first = needed is None
    tried.unseen = {label: reason for label, reason in tried.unseen.items() if label not in tried.lost}
    at = now()
    stopped: Reason | None = None
    broken: Verdict | None = None
    unseen = Unseen()
    try:
        unseen = await perform(task.recipe, probe, needed)
    except Stopped as ended:
        stopped = probe.explain_stop(ended.reason)
    except Exception as error:  # noqa: BLE001 - a recipe's own fault must not take the run down
        broken = _broken_off(probe, error, place_of(error, lane.redactor))
    finally:
        await probe.remove_all()
    tried.with_another_key |= probe.with_another_key
    attempt = Attempt(at, _ms_since(probe.started), tuple(probe.exchanges))
    tried.unseen |= unseen.looks
    tried.lost = frozenset(label for label, reason in unseen.looks.items() if first and reason.code in PASSING)
    tried.unseen_endpoints |= unseen.endpoints
    verdict = (broken or _judged(task, tried, attempt, needed, stopped)).kept
    # Judged on the whole, kept in part: hundreds of large bodies would not fit into memory until the run ends.
    tried.exchanges += trim_attempt(attempt, task.expected).exchanges
    # Redacted before it is cut: strings of a stream are no longer told apart in what is cut.
    tried.attempts.append(trim_attempt(redact_attempt(attempt, lane.redactor), task.expected, task.allowance))
    tried.observed_at = at
    return verdict


def _judged(
    task: Task, tried: Tried, attempt: Attempt, needed: frozenset[Place] | None, stopped: Reason | None
) -> Verdict:
    """What the attempt showed in each cell that it asked, beside what is known of the others since before."""
    looked_at = [expected for expected in task.expected if expected.label not in tried.unseen]
    before = {
        (each.label, each.endpoint): each
        for each in tried.exchanges
        if needed is not None
        and needed.isdisjoint({(each.label, each.endpoint), (each.label, "")})
        and each.label not in BESIDE
    }
    verdict = judge(looked_at, replace(attempt, exchanges=(*before.values(), *attempt.exchanges)), task.known, stopped)
    if not tried.verdicts:
        return verdict
    asked = {(each.label, each.endpoint) for each in attempt.exchanges}
    # What a setup kept from being asked is not asked again either, where another look alone is still open.
    own = {
        place: each
        for place, each in verdict.cells.items()
        if place in asked or (place not in before and (needed is None or place in needed))
    }
    for place in still_open(tried.verdicts) - own.keys():
        why = stopped or tried.unseen_endpoints.get(place[1])
        not_again = why or Reason(ReasonCode.ATTEMPTS_DISAGREE, "it was not asked again")
        own[place] = Verdict(Outcome.INCONCLUSIVE, not_again)
    return record_verdict(own)


def _needed(task: Task, tried: Tried) -> frozenset[Place]:
    """The cells that are open, and all that must be seen in the same attempt for them to mean anything."""
    rest_on = {
        each.label: {*each.depends, *(label for relation in each.relations for label in relation.of)}
        for each in task.expected
    }
    needed = still_open(tried.verdicts) | {(label, "") for label in tried.lost}
    while True:
        more = needed | {(label, endpoint) for place, endpoint in needed for label in rest_on.get(place, ())}
        if more == needed:
            return needed
        needed = more


def _broken_off(probe: AttemptProbe, error: Exception, words: str) -> Verdict:
    """A recipe's own fault, unless it was misled: a setup's success may lack what the next step takes from it.

    So may an answer that got lost on the way.
    """
    lost = probe.befallen
    if isinstance(error, LookupError | TypeError | AttributeError) and lost is not None:
        return Verdict(Outcome.INCONCLUSIVE, Reason(lost, words))
    if isinstance(error, LookupError | TypeError) and probe.relied_on is not None:
        return Verdict(
            Outcome.INCONCLUSIVE, Reason(ReasonCode.SETUP_FAILED, f"{probe.relied_on} was answered otherwise: {words}")
        )
    return Verdict(Outcome.HARNESS_ERROR, Reason(ReasonCode.RECIPE_ERROR, words))


def _conclude(seen: Result, final: Verdict, lane: Lane) -> Result:
    """Join what was seen and its verdict; on a mock, a record with a lost observation does not conform."""
    result = replace(
        seen,
        outcome=final.outcome,
        reason=final.reason,
        observations=tuple(map(trim_observation, final.observations)),
        findings=(*map(trim_finding, final.findings), *seen.findings),
    )
    lost = None if lane.live else _find_lost_observation(result)
    return replace(result, outcome=Outcome.INCONCLUSIVE, reason=lost) if lost is not None else result


def _find_lost_observation(result: Result) -> Reason | None:
    """Return why a conforming record lacks an observation that its recipe tried to make; None if it lacks none.

    What a target leaves out by its keys, values, costs or revision was not tried. A failed assumption is no loss: the
    request was only guessed. What a later attempt saw is no loss either.
    """
    if result.outcome is not Outcome.CONFORMS:
        return None
    tried = (INCONCLUSIVE.keys() | RESTRICTED.keys()) - {ReasonCode.ANOTHER_REVISION, ReasonCode.ASSUMPTION_FAILED}
    seen = {
        (observation.label, observation.endpoint)
        for observation in result.observations
        if observation.matched or observation.mismatched
    }
    missing = (
        finding
        for finding in result.findings
        if finding.code == FindingCode.NOT_OBSERVED and not _was_seen(finding, seen)
    )
    finding = next((finding for finding in missing if finding.observed in tried), None)
    return Reason(ReasonCode(finding.observed), finding.message) if finding is not None else None


def _was_seen(finding: Finding, seen: set[tuple[str, str]]) -> bool:
    """Whether the finding's label was seen on each endpoint that it names, or on any if it names none."""
    if finding.endpoints:
        return all((finding.label, endpoint) in seen for endpoint in finding.endpoints)
    return any(label == finding.label for label, _ in seen)


def _seen(task: Task, tried: Tried) -> Result:
    """All of a result but its verdict."""
    looks = {**task.recipe.left_out, **tried.unseen}
    endpoints = {**task.recipe.spread.left_out, **tried.unseen_endpoints}
    return Result(
        record=str(task.record.address),
        probed_record=task.record.data,
        outcome=Outcome.INCONCLUSIVE,
        findings=tuple(_not_observed(looks, endpoints)),
        attempts=tuple(tried.attempts),
        observed_at=tried.observed_at,
        lane=task.recipe.lane,
        cost=str(task.recipe.cost),
        trigger=task.recipe.trigger,
        not_drawn=task.recipe.spread.not_drawn,
    )


def _not_observed(looks: Mapping[str, Reason], endpoints: Mapping[str, Reason]) -> Iterator[Finding]:
    """What a record documents besides, by label, or on other endpoints, and nobody looked at, and why."""
    yield from (not_observed(label, reason) for label, reason in looks.items())
    alike: dict[Reason, list[str]] = {}
    for endpoint, reason in endpoints.items():
        alike.setdefault(reason, []).append(endpoint)
    yield from (not_observed("", reason, *those) for reason, those in alike.items())


def place_of(error: Exception, redactor: Redactor) -> str:
    """The error and the line of the recipe it came from, without a traceback."""
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    where = ""
    if traceback is not None:
        code = traceback.tb_frame.f_code
        where = f" at {code.co_filename.rsplit('/', 1)[-1]}:{traceback.tb_lineno}"
    return f"{type(error).__name__}: {redactor.sentence(str(error))}{where}"


def now() -> str:
    """The instant as results have it: UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _ms_since(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 3)
