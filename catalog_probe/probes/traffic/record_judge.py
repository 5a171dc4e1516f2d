"""Compare recorded exchanges with their records, and conclude a verdict on each.

An exchange is a *match* for each expectation that it is evidence of, or it is *left out* with the reason (an
`Unmatched`). If such an exchange is a refusal, it is also counted by kind (a `Refusal`), because it may be an error
that no record has: results.jsonl lists these kinds as `unrecognised`.

A step is a label on one endpoint. The verdict on a record is concluded from those on its steps.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence.results import RECORDED, Result
from catalog_probe.catalog.evidence.retention import trim_attempt, trim_finding, trim_observation
from catalog_probe.catalog.model import Aspect, Attempt, Finding, Outcome, Reason, Severity
from catalog_probe.catalog.model.clock import format_utc
from catalog_probe.catalog.model.outcome import FindingCode, ReasonCode
from catalog_probe.catalog.observed import parse_utc_instant
from catalog_probe.catalog.text.json_values import map_strings
from catalog_probe.probes.judging.attempts import conclude_step
from catalog_probe.probes.judging.judge import judge
from catalog_probe.probes.judging.verdict import judge_record
from catalog_probe.probes.traffic.hidden_values import drop_hidden_findings
from catalog_probe.probes.traffic.matching import Match, Matcher, Refusal, Unmatched
from catalog_probe.probes.wire.redaction import redact_attempt, redact_result

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from catalog_probe.catalog.files.store import Catalog
    from catalog_probe.catalog.model import Exchange, Json
    from catalog_probe.probes.judging.verdict import StepKey, Verdict
    from catalog_probe.probes.traffic.recordings import RecordedAttempt
    from catalog_probe.probes.wire.redaction import Redactor


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

    Example: 20 messages conform, and one has a finding. The verdict conforms, with the remark "1 of 21 requests got
    different answers", unless the very request of that one is among the 20: then the step is flaky.
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
    """Return what makes two requests the same: `("GET", "https://h.example/v1/models", "[…]", "None")`."""
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
        remark=f"{len(drifted)} of {total} requests got different answers, perhaps because the requests differ: "
        f"{listed}{more}",
    )


MAX_KEPT = 3
"""Exchanges that are kept as evidence of one step: a day of traffic has thousands that are alike."""

MAX_REFUSAL_KINDS = 500
"""Kinds of refusals that are listed: a provider may send any number of codes."""


@dataclass(frozen=True, slots=True)
class JudgedExchange:
    """One exchange, compared with one expectation."""

    match: Match
    at: str
    verdict: Verdict
    ours: bool
    """Whether a probe of ours sent it, so that its record and label are known."""


@dataclass
class TrafficJudge:
    """Judges exchanges one by one, and collects the verdicts by record."""

    catalog: Catalog
    redactor: Redactor
    """Hides the secrets of all recordings in the evidence."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Reason -> how many exchanges are evidence of no record, and are not judged."""
    exchange_count: int = 0
    judged_count: int = 0
    """Exchanges that were evidence of something."""
    refusals: Counter[Refusal] = field(default_factory=Counter)
    """How often each kind of refusal was left out; at most MAX_REFUSAL_KINDS kinds."""
    _matchers: dict[str, Matcher] = field(default_factory=dict)
    _judged: dict[str, list[JudgedExchange]] = field(default_factory=lambda: defaultdict(list))
    """Address of a record -> its exchanges, in the order of the recordings."""

    def leave_out(self, reason: str, count: int = 1) -> None:
        """Count exchanges that are evidence of no record."""
        self.exchange_count += count
        self.left_out[reason] += count

    def judge(self, provider: str, attempt: RecordedAttempt, *, complete: bool) -> None:
        """Judge an attempt in each step that it is evidence of.

        `complete` says whether the recording has all headers: only then is a missing header a difference.
        """
        matcher = self._matchers.setdefault(provider, Matcher(provider, self.catalog))
        is_ours = bool(attempt.record)
        if is_ours:
            matches = matcher.match_own_probe(attempt.exchanges, attempt.record)
        else:
            matches = matcher.match(attempt.exchanges[0])
        if isinstance(matches, Unmatched):
            self.leave_out(matches.reason, len(attempt.exchanges))
            self._count_refusal(matches.refusal)
            return
        self.exchange_count += len(attempt.exchanges)
        # Several matches of one exchange are copies of it with other labels. They share its request object, and two
        # exchanges never do, so each exchange is counted once.
        self.judged_count += len({id(match.exchange.request) for match in matches})
        # A record may relate the answers of one attempt of ours to each other. An exchange of another client stands
        # alone, so each of its matches is judged by itself.
        groups = [matches] if is_ours else [(match,) for match in matches]
        for group in groups:
            step_verdicts = _judge_together(group, matcher)
            for match in group:
                full_verdict = step_verdicts[match.exchange.label, match.exchange.endpoint]
                verdict = drop_hidden_findings(full_verdict, match.expected, match.exchange, complete=complete)
                self._judged[match.record].append(JudgedExchange(match, _format_time(attempt.at), verdict, is_ours))

    def _count_refusal(self, refusal: Refusal | None) -> None:
        if refusal is not None and (refusal in self.refusals or len(self.refusals) < MAX_REFUSAL_KINDS):
            self.refusals[refusal] += 1

    @property
    def providers(self) -> Collection[str]:
        """The providers whose exchanges were compared with records."""
        return self._matchers.keys()

    @property
    def judged_records(self) -> Collection[str]:
        """The addresses of the records that an exchange was judged by."""
        return self._judged.keys()

    def conclude_result(self, address: str) -> Result:
        """Conclude the verdict on one record from those on its steps; without an exchange it is `not_probed`."""
        record, judged = self.catalog[address], self._judged.get(address)
        if not judged:
            reason = Reason(ReasonCode.NOT_IN_TRAFFIC, f"of {self.exchange_count} recorded exchanges")
            return Result(address, record.data, Outcome.NOT_PROBED, reason)
        steps: dict[StepKey, list[JudgedExchange]] = defaultdict(list)
        for exchange in judged:
            steps[exchange.match.exchange.label, exchange.match.exchange.endpoint].append(exchange)
        verdict = judge_record({step: _conclude_step(exchanges) for step, exchanges in steps.items()})
        evidence = [exchange for exchanges in steps.values() for exchange in _select_evidence(exchanges)]
        evidence.sort(key=lambda exchange: exchange.at)
        result = Result(
            record=address,
            probed_record=record.data,
            outcome=verdict.outcome,
            reason=verdict.reason,
            findings=tuple(map(trim_finding, verdict.findings)),
            attempts=tuple(map(self._make_attempt, evidence)),
            observed_at=max(exchange.at for exchange in judged),  # empty only if no recording has a time
            trigger=RECORDED,
            observations=tuple(map(trim_observation, verdict.observations)),
        )
        return redact_result(result, self.redactor)

    def to_json(self) -> dict[str, Json]:
        """Return how many exchanges were judged, and why others were not, as results.jsonl has it."""
        unrecognised = [
            {**asdict(refusal), "example": self.redactor.redact_sentence(refusal.example), "count": count}
            for refusal, count in self.refusals.most_common()
        ]
        return {
            "exchanges": self.exchange_count,
            "judged": self.judged_count,
            "left_out": {self.redactor.redact_sentence(reason): count for reason, count in self.left_out.most_common()},
            "unrecognised": map_strings(unrecognised, self.redactor.redact_text),
        }

    def _make_attempt(self, judged: JudgedExchange) -> Attempt:
        exchange = judged.match.exchange
        attempt = redact_attempt(Attempt(judged.at, exchange.elapsed_ms, (exchange,)), self.redactor)
        return trim_attempt(attempt, [judged.match.expected])


def _judge_together(matches: Sequence[Match], matcher: Matcher) -> Mapping[StepKey, Verdict]:
    """Return the verdict on each step of exchanges whose answers are compared with each other.

    Example: two pages of one list are judged together, because the second must not repeat an id of the first.
    """
    # Matches with the same label are the same step on other endpoints, and have the same expectation.
    expected_by_label = {match.expected.label: match.expected for match in matches}
    attempt = Attempt("", 0.0, tuple(match.exchange for match in matches))
    return judge(tuple(expected_by_label.values()), attempt, matcher.vocabulary).step_verdicts


def _conclude_step(judged: Sequence[JudgedExchange]) -> Verdict:
    exchanges = [(exchange.match.exchange, exchange.verdict) for exchange in judged]
    # If one request is another client's, ours need not be the same as that one: the lenient rule holds for all of them.
    return conclude_step_of_traffic(exchanges, ours=all(exchange.ours for exchange in judged))


def _select_evidence(judged: Sequence[JudgedExchange]) -> Iterable[JudgedExchange]:
    """Select the last exchange of each kind that a step had, mismatches first."""
    # `judged` is in the order of the recordings, so a later exchange replaces an earlier one of its kind.
    last_of_kind = {(exchange.verdict.outcome, exchange.verdict.drift_keys): exchange for exchange in judged}
    drifted_first = sorted(last_of_kind.values(), key=lambda exchange: exchange.verdict.outcome is not Outcome.DRIFTED)
    return drifted_first[:MAX_KEPT]


def _format_time(text: str) -> str:
    """Return a time as results have it, or an empty string if the recording has none."""
    instant = parse_utc_instant(text)
    return format_utc(instant) if instant is not None else ""
