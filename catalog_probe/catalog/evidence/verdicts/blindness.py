"""Which providers a run did not really observe. Pure."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import AcceptanceState, Outcome
from catalog_probe.catalog.model.codes import ReasonCode

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence, Set

    from catalog_probe.catalog.evidence.results import Result
    from catalog_probe.catalog.model import Reason

BLIND_SHARE = 0.2
"""A provider of whose allowed probes more than this share is inconclusive was observed too little."""

_VERDICTS = frozenset({Outcome.CONFORMS, Outcome.DRIFTED, Outcome.FLAKY, Outcome.HARNESS_ERROR})
"""The outcomes of what was observed; our own fault is told by itself."""


def find_blind_providers(
    results: Sequence[Result], expected: Sequence[str], lost: Set[str] = frozenset(), *, whole: bool = True
) -> dict[str, str]:
    """The providers that were not observed and had to be, and why, each in one sentence.

    Those that are `expected` had to be; and where nothing at all has a verdict, each of which something was tried or
    would have been if it were configured. `lost` are the addresses of lost coverage. A shard is not the `whole`
    of what was asked for: another one may have what it could not configure.
    """
    of_provider: dict[str, list[Result]] = {provider: [] for provider in expected}
    for result in results:
        of_provider.setdefault(result.address.provider, []).append(result)
    nothing_seen = not any(result.outcome in _VERDICTS for result in results)
    found = {
        provider: _why(own, lost)
        for provider, own in of_provider.items()
        if provider in expected or (nothing_seen and any(_was_meant(each, whole=whole) for each in own))
    }
    return {provider: why for provider, why in found.items() if why}


def find_missing_verdicts(results: Sequence[Result]) -> dict[str, str]:
    """For those who expect all: each provider with records that have no verdict, how many, which and why."""
    return _tell("all was expected, and", filter(_is_a_gap, results))


def find_unobserved(results: Sequence[Result]) -> dict[str, str]:
    """For a mock, where nothing is out of reach: each provider with records that were not wholly observed, and why."""
    return _tell("on a mock all is observable, and", filter(_is_unobserved, results))


def is_unconfigured(result: Result) -> bool:
    """Whether it was not asked because the target lacks what the asking needs: an address, a key, a value."""
    return result.reason is not None and result.reason.code in _CONFIGURATION


_CONFIGURATION = frozenset(
    {
        ReasonCode.PROVIDER_NOT_CONFIGURED,
        ReasonCode.CREDENTIAL_MISSING,
        ReasonCode.CREDENTIAL_EMPTY,
        ReasonCode.ADDRESS_MISSING,
        ReasonCode.VALUE_MISSING,
        ReasonCode.VALUE_NOT_FOUND,
    }
)
_EMPTY_KEY = ReasonCode.CREDENTIAL_EMPTY
_NOTHING_PROBED = "nothing was probed"
_NAMED = 3
"""Records without a verdict that a sentence names; the lists beside it name them all."""


def _was_meant(result: Result, *, whole: bool) -> bool:
    """Whether somebody meant it to be asked: it was, or only an address, a key or a value was wanting."""
    return result.outcome is not Outcome.NOT_PROBED or (whole and is_unconfigured(result))


def _is_a_gap(result: Result) -> bool:
    """Whether it has no verdict though there is a way to one; a cost nobody allowed is a choice, and no gap."""
    if result.outcome is Outcome.NOT_PROBED:
        stopped = result.reason is not None and result.reason.code == ReasonCode.STOPPED_EARLY
        return stopped or is_unconfigured(result)
    if result.is_beyond_verifying:
        return False
    return result.outcome in (Outcome.INCONCLUSIVE, Outcome.RESTRICTED)


def _is_unobserved(result: Result) -> bool:
    """Whether a probe that was sent ended without a verdict on something documented, and nobody accepted that."""
    accepted = (result.accepted_difference or {}).get("state") == AcceptanceState.ACCOUNTED
    lacks_verdict = result.outcome in (Outcome.INCONCLUSIVE, Outcome.RESTRICTED)
    return lacks_verdict and not result.is_beyond_verifying and not accepted


def _tell(lead: str, results: Iterable[Result]) -> dict[str, str]:
    """Name by provider the records without a verdict."""
    by_provider: dict[str, list[Result]] = {}
    for result in results:
        by_provider.setdefault(result.address.provider, []).append(result)
    return {provider: f"{lead} {_told(own)}" for provider, own in by_provider.items()}


def _told(gaps: Sequence[Result]) -> str:
    named = [f"{each.record} ({each.reason.code if each.reason else each.outcome})" for each in gaps[:_NAMED]]
    more = f" and {len(gaps) - _NAMED} more" if len(gaps) > _NAMED else ""
    has = "record has" if len(gaps) == 1 else "records have"
    return f"{len(gaps)} {has} no verdict: {', '.join(named)}{more}"


def _why(results: Sequence[Result], lost: Set[str]) -> str:
    """Why a provider with these results was not observed; empty where it was."""
    if not results:
        return "no record has a result"
    allowed = [
        result
        for result in results
        if result.record in lost or not (result.outcome is Outcome.NOT_PROBED or _is_ours(result))
    ]
    if not any(result.outcome is not Outcome.NOT_PROBED for result in allowed):
        return _most_common_reason(_NOTHING_PROBED, results)
    unseen = [result for result in allowed if result.outcome is Outcome.INCONCLUSIVE]
    if all(result.outcome not in _VERDICTS for result in allowed):
        return _most_common_reason("no record has a verdict", allowed)
    if any(result.reason and result.reason.code == ReasonCode.LANE_STOPPED for result in unseen):
        return _most_common_reason("a lane stopped", unseen)
    if lane := _dead_lane(allowed):
        return _most_common_reason(f"no record of the lane {lane} has a verdict", unseen)
    gone = [result for result in allowed if result.record in lost and result.outcome is not Outcome.INCONCLUSIVE]
    if len(unseen) + len(gone) > BLIND_SHARE * len(allowed):
        inconclusive = f"{len(unseen)} of {len(allowed)} probes are inconclusive"
        no_longer = f"{len(gone)}{'' if unseen else f' of {len(allowed)}'} had a verdict before and have none now"
        said = [text for text, members in ((inconclusive, unseen), (no_longer, gone)) if members]
        return _most_common_reason(" and ".join(said), [*unseen, *gone])
    return ""


def find_failed_lanes(results: Sequence[Result]) -> dict[str, list[Result]]:
    """The results of lanes that say nothing to rely on, and nothing of the other lanes: each by the name of its lane.

    Of such a lane no control ever succeeded, be it on one surface alone, or it was stopped.
    """
    withheld = {_named(lane): own for lane, own in _dead_lanes(results).items()}
    for result in results:
        if result.lane and result.reason is not None and result.reason.code == ReasonCode.LANE_STOPPED:
            withheld.setdefault(result.lane, [each for each in results if each.lane == result.lane])
    return withheld


def _dead_lane(results: Sequence[Result]) -> str:
    """A lane with a surface of which no control ever succeeded, so that nothing was looked at there; else empty."""
    return next(map(_named, _dead_lanes(results)), "")


def _named(lane: tuple[str, str]) -> str:
    name, surface = lane
    return f"{name} ({surface})" if surface else name


def _dead_lanes(results: Sequence[Result]) -> dict[tuple[str, str], list[Result]]:
    """The results of each lane and surface of which no control ever succeeded."""
    by_lane: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        by_lane.setdefault((result.lane, result.parsed_record.surface or ""), []).append(result)
    return {lane: own for lane, own in by_lane.items() if lane[0] and all(map(_without_control, own))}


def _without_control(result: Result) -> bool:
    return result.reason is not None and result.reason.code == ReasonCode.CONTROL_FAILED


def _is_ours(result: Result) -> bool:
    """Whether it was not seen because all of it, or of its request, is assumed, or somebody accepted that nobody looks.

    That says nothing about our sight.
    """
    code = result.reason.code if result.reason is not None else ""
    accepted = (result.accepted_difference or {}).get("state") == AcceptanceState.ACCOUNTED
    is_assumed = code == ReasonCode.ASSUMPTION_FAILED or result.is_beyond_verifying
    return is_assumed or (code == ReasonCode.TWIN_NOT_ALLOWED and accepted)


def _most_common_reason(what: str, results: Sequence[Result]) -> str:
    """What was found, with the reason that most of them share; where something is wanting, with what would mend it.

    An empty key leads however few records need it: somebody meant to set it, and nobody meant to set the other keys.
    """
    reasons = Counter((_code(result.reason), _mend(result.reason)) for result in results if result.reason)
    if not reasons:
        return what
    empty_keys = Counter({reason: number for reason, number in reasons.items() if reason[0] == _EMPTY_KEY})
    (code, mend), _ = (empty_keys or reasons).most_common(1)[0]
    if empty_keys and what == _NOTHING_PROBED:
        return f"the API key is missing: {mend}"
    return f"{what} ({code}: {mend})" if mend else f"{what} ({code})"


def _code(reason: Reason) -> str:
    """The code of a reason; of a lane that ended, of what ended it, with which its words begin."""
    first = reason.detail.partition(": ")[0]
    return first if reason.code == ReasonCode.LANE_STOPPED and first in set(ReasonCode) else reason.code


def _mend(reason: Reason) -> str:
    """What to do about it, in words of ours alone: a key or a value to set, or the variables to look at."""
    if reason.code in _CONFIGURATION:
        return reason.detail
    told = _LOOK_AT.search(reason.detail) if reason.code in _OF_A_CONTROL else None
    return told[1] if told else ""


_OF_A_CONTROL = frozenset(
    {ReasonCode.CONTROL_FAILED, ReasonCode.NO_CREDIT, ReasonCode.ACCOUNT_TROUBLE, ReasonCode.LANE_STOPPED}
)
_LOOK_AT = re.compile(r"; (look at (?:the account of )?[A-Z][A-Z0-9_]*(?: and [A-Z][A-Z0-9_]*)*)\Z")
"""How the refusal of a control ends (`catalog_probe.probes.running.controls`)."""
