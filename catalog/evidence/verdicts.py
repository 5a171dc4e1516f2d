"""The exit status of a run: the highest that applies (DESIGN.md, contract 2). Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from catalog.evidence.results import Result
from catalog.model import Outcome
from catalog.model.exits import Exit, highest

BLIND_SHARE = 0.2
"""A provider of whose allowed probes more than this share is inconclusive was not really looked at."""


def of_results(results: Sequence[Result], expected: Sequence[str], *, stale_ledger: bool = False) -> Exit:
    """The exit status that these results call for; `expected` are the providers that must have a verdict."""
    statuses = {Exit.FINE}
    outcomes = Counter(result.outcome for result in results)
    if not results:
        statuses.add(Exit.NOTHING_SELECTED)
    if outcomes[Outcome.HARNESS_ERROR]:
        statuses.add(Exit.HARNESS_ERROR)
    if outcomes[Outcome.FLAKY] or stale_ledger or any(unaccounted(result) for result in results):
        statuses.add(Exit.DRIFT)
    if blind_providers(results, expected):
        statuses.add(Exit.BLIND)
    return highest(statuses)


def unaccounted(result: Result) -> bool:
    """Whether a drift is not wholly accepted by the ledger, or the ledger's entry is stale."""
    state = (result.ledger or {}).get("state")
    if state == "stale":
        return True
    return result.outcome is Outcome.DRIFTED and state != "accounted"


def blind_providers(results: Sequence[Result], expected: Sequence[str]) -> dict[str, str]:
    """The expected providers that were not looked at, and why, each in one sentence."""
    blind: dict[str, str] = {}
    for provider in expected:
        of_provider = [result for result in results if result.record.startswith(f"{provider}/")]
        if not of_provider:
            continue
        allowed = [result for result in of_provider if result.outcome is not Outcome.NOT_PROBED]
        if not allowed:
            if not any(result.reason and result.reason.code == "planned-only" for result in of_provider):
                blind[provider] = _most_common_reason("nothing was probed", of_provider)
            continue
        unseen = [result for result in allowed if result.outcome is Outcome.INCONCLUSIVE]
        if all(result.outcome in (Outcome.INCONCLUSIVE, Outcome.RESTRICTED) for result in allowed):
            blind[provider] = _most_common_reason("no record has a verdict", allowed)
        elif any(result.reason and result.reason.code == "lane-stopped" for result in unseen):
            blind[provider] = _most_common_reason("a lane stopped", unseen)
        elif len(unseen) > BLIND_SHARE * len(allowed):
            blind[provider] = _most_common_reason(f"{len(unseen)} of {len(allowed)} probes are inconclusive", unseen)
    return blind


def _most_common_reason(what: str, results: Sequence[Result]) -> str:
    reasons = Counter(result.reason.code for result in results if result.reason)
    return f"{what} ({reasons.most_common(1)[0][0]})" if reasons else what
