"""What many exchanges of one cell say together, where each was somebody's own request."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Aspect, Finding, Outcome, Severity
from catalog_probe.catalog.model.codes import FindingCode
from catalog_probe.probes.judging.verdicts.attempts import conclude_step

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from catalog_probe.catalog.model import Exchange
    from catalog_probe.probes.judging.verdicts.verdict import Verdict

TOLD = 3
"""Different messages that are told; the rest are counted."""

Seen = tuple["Exchange", "Verdict"]


@dataclass(frozen=True, slots=True)
class _Asked:
    """What two requests must have in common for their answers to be comparable."""

    method: str
    url: str
    headers: str
    body: str

    @classmethod
    def of(cls, exchange: Exchange) -> _Asked:
        request = exchange.request
        if not request.url:  # a published answer does not say what it was given to
            return cls(request.method, f"unknown {id(exchange)}", "", "")
        return cls(request.method, request.url, repr(sorted(request.headers.items())), repr(request.body))


def conclude_cell(seen: Sequence[Seen], *, ours: bool) -> Verdict:
    """The verdict on one cell.

    Attempts of ours sent one request, so they must agree. Requests of others differ, and so may their answers for that
    reason: where some are as documented, only a request that was answered both ways shows anything; what else differs
    is told.
    """
    if ours:
        return conclude_step([verdict for _, verdict in seen])
    alike: dict[_Asked, list[Verdict]] = defaultdict(list)
    for exchange, verdict in seen:
        alike[_Asked.of(exchange)].append(verdict)
    each = [conclude_step(verdicts) for verdicts in alike.values()]
    unsteady = next((verdict for verdict in each if verdict.outcome is Outcome.FLAKY), None)
    if unsteady is not None:
        return unsteady
    conforming = [verdict for verdict in each if verdict.outcome is Outcome.CONFORMS]
    drifted = [verdict for verdict in each if verdict.outcome is Outcome.DRIFTED]
    if conforming and drifted:
        last = conforming[-1]
        return replace(last, findings=(*last.findings, _told(len(drifted), len(each), drifted)))
    return (conforming or drifted or each)[-1]


def _told(differing: int, asked: int, verdicts: Iterable[Verdict]) -> Finding:
    messages = {finding.message: None for verdict in verdicts for finding in verdict.findings if finding.is_drift}
    return Finding(
        code=FindingCode.NOT_OBSERVED,
        aspect=Aspect.STATE,
        severity=Severity.INFO,
        message=f"{differing} of {asked} requests were answered otherwise, which may be their own doing: "
        + "; ".join(list(messages)[:TOLD])
        + (f"; and {len(messages) - TOLD} more" if len(messages) > TOLD else ""),
    )
