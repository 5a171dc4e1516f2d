"""Which providers a run did not really look at. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from catalog.evidence.results import Result
from catalog.model import Outcome
from catalog.model.codes import ReasonCode

BLIND_SHARE = 0.2
"""A provider of whose allowed probes more than this share is inconclusive was not really looked at."""


def blind_providers(results: Sequence[Result], expected: Sequence[str]) -> dict[str, str]:
    """The expected providers that were not looked at, and why, each in one sentence."""
    blind: dict[str, str] = {}
    for provider in expected:
        of_provider = [result for result in results if result.record.startswith(f"{provider}/")]
        if not of_provider:
            continue
        allowed = [
            result for result in of_provider if result.outcome is not Outcome.NOT_PROBED and not _is_ours(result)
        ]
        if not allowed:
            if not any(result.reason and result.reason.code == ReasonCode.PLANNED_ONLY for result in of_provider):
                blind[provider] = _most_common_reason("nothing was probed", of_provider)
            continue
        unseen = [result for result in allowed if result.outcome is Outcome.INCONCLUSIVE]
        if all(result.outcome in (Outcome.INCONCLUSIVE, Outcome.RESTRICTED) for result in allowed):
            blind[provider] = _most_common_reason("no record has a verdict", allowed)
        elif any(result.reason and result.reason.code == ReasonCode.LANE_STOPPED for result in unseen):
            blind[provider] = _most_common_reason("a lane stopped", unseen)
        elif len(unseen) > BLIND_SHARE * len(allowed):
            blind[provider] = _most_common_reason(f"{len(unseen)} of {len(allowed)} probes are inconclusive", unseen)
    return blind


def _is_ours(result: Result) -> bool:
    """Whether it was not seen because of what we assumed of the request: that says nothing about our sight."""
    return result.reason is not None and result.reason.code == ReasonCode.ASSUMPTION_FAILED


def _most_common_reason(what: str, results: Sequence[Result]) -> str:
    reasons = Counter(result.reason.code for result in results if result.reason)
    return f"{what} ({reasons.most_common(1)[0][0]})" if reasons else what
