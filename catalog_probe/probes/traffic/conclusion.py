"""Conclude one verdict from many exchanges of one step, where each was another client's own request."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Aspect, Finding, Outcome, Severity
from catalog_probe.catalog.model.outcome import FindingCode
from catalog_probe.probes.judging.verdicts.attempts import conclude_step

if TYPE_CHECKING:
    from collections.abc import Sequence

    from catalog_probe.catalog.model import Exchange
    from catalog_probe.probes.judging.verdicts.verdict import Verdict

MAX_MESSAGES = 3
"""Different messages that a finding lists; the others are counted."""

RequestKey = tuple[str, ...]
"""What two requests must have in common for their answers to be comparable."""


def conclude_step_of_traffic(exchanges: Sequence[tuple[Exchange, Verdict]], *, ours: bool) -> Verdict:
    """Conclude the verdict on one step.

    Attempts of ours sent the same request, so they must agree. Other clients sent different requests, which may explain
    different answers. So if some answers conform, only a request that was answered in both ways is flaky; the other
    mismatches become one remark. This prevents that a faulty client causes drift; it can hide drift that only some
    requests meet.
    """
    if ours:
        return conclude_step([verdict for _, verdict in exchanges])
    verdicts_by_request: dict[RequestKey, list[Verdict]] = defaultdict(list)
    for exchange, verdict in exchanges:
        verdicts_by_request[_request_key(exchange)].append(verdict)
    verdicts = [conclude_step(same_request) for same_request in verdicts_by_request.values()]
    flaky = next((verdict for verdict in verdicts if verdict.outcome is Outcome.FLAKY), None)
    if flaky is not None:
        return flaky
    conforming = [verdict for verdict in verdicts if verdict.outcome is Outcome.CONFORMS]
    drifted = [verdict for verdict in verdicts if verdict.outcome is Outcome.DRIFTED]
    if conforming and drifted:
        last = conforming[-1]
        return replace(last, findings=(*last.findings, _remark(drifted, len(verdicts))))
    return (conforming or drifted or verdicts)[-1]


def _request_key(exchange: Exchange) -> RequestKey:
    request = exchange.request
    if not request.url:  # a published answer without its request is comparable with no other
        return (request.method, f"unknown {id(exchange)}")
    return (request.method, request.url, repr(sorted(request.headers.items())), repr(request.body))


def _remark(drifted: Sequence[Verdict], total: int) -> Finding:
    messages = list(
        dict.fromkeys(finding.message for verdict in drifted for finding in verdict.findings if finding.is_drift)
    )
    listed = "; ".join(messages[:MAX_MESSAGES])
    more = f"; and {len(messages) - MAX_MESSAGES} more" if len(messages) > MAX_MESSAGES else ""
    return Finding(
        code=FindingCode.NOT_OBSERVED,
        aspect=Aspect.STATE,
        severity=Severity.INFO,
        message=f"{len(drifted)} of {total} requests got different answers, perhaps because the requests differ: "
        f"{listed}{more}",
    )
