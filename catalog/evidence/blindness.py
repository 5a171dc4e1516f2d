"""Which providers a run did not really look at. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from catalog.model import Outcome
from catalog.model.codes import ReasonCode

if TYPE_CHECKING:
    from catalog.evidence.results import Result

BLIND_SHARE = 0.2
"""A provider of whose allowed probes more than this share is inconclusive was not really looked at."""

_VERDICTS = frozenset({Outcome.CONFORMS, Outcome.DRIFTED, Outcome.FLAKY, Outcome.HARNESS_ERROR})
"""The outcomes of what was looked at; our own fault is told by itself."""


def blind_providers(results: Sequence[Result], expected: Sequence[str]) -> dict[str, str]:
    """The providers that were not looked at and had to be, and why, each in one sentence.

    Those that are `expected` had to be; and where nothing at all has a verdict, each of which something was tried.
    """
    of_provider: dict[str, list[Result]] = {provider: [] for provider in expected}
    for result in results:
        of_provider.setdefault(result.record.partition("/")[0], []).append(result)
    nothing_seen = not any(result.outcome in _VERDICTS for result in results)
    found = {
        provider: _why(own)
        for provider, own in of_provider.items()
        if provider in expected or (nothing_seen and any(each.outcome is not Outcome.NOT_PROBED for each in own))
    }
    return {provider: why for provider, why in found.items() if why}


def _why(results: Sequence[Result]) -> str:
    """Why a provider with these results was not looked at; empty where it was."""
    if not results:
        return "no record has a result"
    allowed = [result for result in results if result.outcome is not Outcome.NOT_PROBED and not _is_ours(result)]
    if not allowed:
        return _most_common_reason("nothing was probed", results)
    unseen = [result for result in allowed if result.outcome is Outcome.INCONCLUSIVE]
    if all(result.outcome in (Outcome.INCONCLUSIVE, Outcome.RESTRICTED) for result in allowed):
        return _most_common_reason("no record has a verdict", allowed)
    if any(result.reason and result.reason.code == ReasonCode.LANE_STOPPED for result in unseen):
        return _most_common_reason("a lane stopped", unseen)
    if len(unseen) > BLIND_SHARE * len(allowed):
        return _most_common_reason(f"{len(unseen)} of {len(allowed)} probes are inconclusive", unseen)
    return ""


def _is_ours(result: Result) -> bool:
    """Whether it was not seen because of what we assumed of the request: that says nothing about our sight."""
    return result.reason is not None and result.reason.code == ReasonCode.ASSUMPTION_FAILED


def _most_common_reason(what: str, results: Sequence[Result]) -> str:
    reasons = Counter(result.reason.code for result in results if result.reason)
    return f"{what} ({reasons.most_common(1)[0][0]})" if reasons else what
