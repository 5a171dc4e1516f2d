"""Exchanges held against the records that they are evidence of, one by one, and the verdict on each record."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence.results import RECORDED, Result
from catalog_probe.catalog.evidence.retention import trim_attempt, trim_finding, trim_observation
from catalog_probe.catalog.evidence.traffic_summary import format_traffic_summary
from catalog_probe.catalog.model import Attempt, Outcome, Reason
from catalog_probe.catalog.model.clock import format_utc
from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.catalog.observed.last_seen import parse_utc_instant
from catalog_probe.catalog.text.json_tree import map_strings
from catalog_probe.probes.judging.judge import judge
from catalog_probe.probes.judging.verdicts.record_verdict import judge_record
from catalog_probe.probes.traffic.conclusion import conclude_cell
from catalog_probe.probes.traffic.hidden_values import drop_hidden_findings
from catalog_probe.probes.traffic.matching import Match, Matcher, Refusal, Unmatched
from catalog_probe.probes.wire.redaction.evidence import redact_attempt, redact_result

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from catalog_probe.catalog.files.store import Catalog
    from catalog_probe.catalog.model import Json
    from catalog_probe.probes.judging.verdicts.verdict import StepKey, Verdict
    from catalog_probe.probes.traffic.recording import RecordedExchange
    from catalog_probe.probes.wire.redaction.redactor import Redactor

KEPT = 3
"""Exchanges kept of one cell as evidence, the last of each kind first: a day of traffic has thousands alike."""

KINDS = 500
"""Kinds of refusals that are listed: whoever answers may choose any code."""


@dataclass(frozen=True, slots=True)
class JudgedExchange:
    """One exchange, held against one expectation."""

    match: Match
    at: str
    verdict: Verdict
    ours: bool
    """Whether a probe of ours sent it."""


@dataclass
class TrafficJudge:
    """What was held against the records so far."""

    catalog: Catalog
    redactor: Redactor
    """Hides the secrets of all recordings, in what is kept of them."""
    left_out: Counter[str] = field(default_factory=Counter)
    """How many exchanges are evidence of nothing, by why."""
    exchanges: int = 0
    """How many there were, whatever became of them."""
    judged: int = 0
    """How many of them were evidence of something."""
    refusals: Counter[Refusal] = field(default_factory=Counter)
    """How often each kind of refusal was met that is evidence for no record; of many kinds only the first."""
    _matchers: dict[str, Matcher] = field(default_factory=dict)
    _judged: dict[str, list[JudgedExchange]] = field(default_factory=lambda: defaultdict(list))
    """What was held against each record, by its address, in the order in which it came."""

    def leave_out(self, why: str, count: int = 1) -> None:
        """Count exchanges that are evidence of nothing."""
        self.exchanges += count
        self.left_out[why] += count

    def hold(self, provider: str, recorded: RecordedExchange, *, complete: bool) -> None:
        """Judge an exchange, or an attempt of ours, in each cell that it is evidence of.

        `complete` says whether the recording has all headers.
        """
        matcher = self._matchers.setdefault(provider, Matcher(provider, self.catalog))
        self.exchanges += len(recorded.exchanges)
        if recorded.record:
            matches = matcher.sent_as(recorded.exchanges, recorded.record)
        else:
            matches = matcher.found(recorded.exchanges[0])
        if isinstance(matches, Unmatched):
            self.left_out[matches.why] += len(recorded.exchanges)
            refusal = matches.refusal
            if refusal is not None and (refusal in self.refusals or len(self.refusals) < KINDS):
                self.refusals[refusal] += 1
            return
        self.judged += len({id(each.exchange.request) for each in matches})
        for together in [matches] if recorded.record else [(each,) for each in matches]:
            cells = _verdicts(together, matcher)
            for match in together:
                verdict = cells[match.exchange.label, match.exchange.endpoint]
                verdict = drop_hidden_findings(verdict, match.expected, match.exchange, complete=complete)
                self._judged[match.record].append(
                    JudgedExchange(match, _time(recorded.at), verdict, bool(recorded.record))
                )

    def result(self, address: str) -> Result:
        """The verdict on one record."""
        record, judged = self.catalog[address], self._judged.get(address)
        if not judged:
            reason = Reason(ReasonCode.NOT_IN_TRAFFIC, f"of {self.exchanges} recorded exchanges")
            return Result(address, record.data, Outcome.NOT_PROBED, reason)
        cells: dict[StepKey, list[JudgedExchange]] = defaultdict(list)
        for each in judged:
            cells[each.match.exchange.label, each.match.exchange.endpoint].append(each)
        final = judge_record({place: _together(own) for place, own in cells.items()})
        kept = sorted((each for own in cells.values() for each in _worth_keeping(own)), key=lambda each: each.at)
        result = Result(
            record=address,
            probed_record=record.data,
            outcome=final.outcome,
            reason=final.reason,
            findings=tuple(map(trim_finding, final.findings)),
            attempts=tuple(self._attempt(each) for each in kept),
            observed_at=max(each.at for each in judged),
            trigger=RECORDED,
            observations=tuple(map(trim_observation, final.observations)),
        )
        return redact_result(result, self.redactor)

    def summary(self) -> str:
        """What became of the exchanges, in a sentence."""
        return format_traffic_summary(self.to_json())

    def to_json(self) -> dict[str, Json]:
        """What became of the exchanges, as the line of a run has it."""
        unrecognised = [{**asdict(refusal), "count": count} for refusal, count in self.refusals.most_common()]
        return {
            "exchanges": self.exchanges,
            "judged": self.judged,
            "left_out": {self.redactor.redact_sentence(why): count for why, count in self.left_out.most_common()},
            "unrecognised": map_strings(unrecognised, self.redactor.redact_text),
        }

    def _attempt(self, each: JudgedExchange) -> Attempt:
        exchange = each.match.exchange
        attempt = redact_attempt(Attempt(each.at, exchange.elapsed_ms, (exchange,)), self.redactor)
        return trim_attempt(attempt, [each.match.expected])


def _verdicts(together: Sequence[Match], matcher: Matcher) -> Mapping[StepKey, Verdict]:
    """The verdict on each cell of what was exchanged together; answers are compared with each other."""
    stated = {each.expected.label: each.expected for each in together}
    attempt = Attempt("", 0.0, tuple(each.exchange for each in together))
    return judge(tuple(stated.values()), attempt, matcher.known).step_verdicts


def _together(own: Sequence[JudgedExchange]) -> Verdict:
    seen = [(each.match.exchange, each.verdict) for each in own]
    return conclude_cell(seen, ours=all(each.ours for each in own))


def _worth_keeping(own: Sequence[JudgedExchange]) -> Iterable[JudgedExchange]:
    """The last exchange of each kind that was seen in a cell, what differs first."""
    kinds = {(each.verdict.outcome, each.verdict.drift_keys): each for each in own}
    return sorted(kinds.values(), key=lambda each: each.verdict.outcome is not Outcome.DRIFTED)[:KEPT]


def _time(text: str) -> str:
    """The instant as results have it, or nothing where the recording has none."""
    at = parse_utc_instant(text)
    return format_utc(at) if at is not None else ""
