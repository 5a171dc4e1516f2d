"""Judges recorded exchanges: a result for each record that the traffic touched, by the rules of every run."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from catalog.evidence.kept import kept_attempt, kept_finding, kept_look
from catalog.evidence.results import RECORDED, Result
from catalog.model import Attempt, Outcome, Reason
from catalog.model.clock import utc_text
from catalog.model.codes import ReasonCode
from catalog.reading.last_seen import instant
from probes.judging.judge import judge
from probes.judging.summed import summed
from probes.traffic.filtered import has_all_headers, without_what_was_filtered
from probes.traffic.matching import Match, Matcher, Unmatched
from probes.traffic.observed import observed, redactor_of
from probes.traffic.together import concluded
from probes.traffic.whose import Hosts

if TYPE_CHECKING:
    from catalog.reading.store import Catalog
    from probes.judging.cells import Place
    from probes.judging.verdict import Verdict
    from probes.target.target import Target
    from probes.traffic.recorded import Recorded, Recording

KEPT = 3
"""Exchanges kept of one cell as evidence, the last of each kind first: a day of traffic has thousands alike."""


@dataclass(frozen=True, slots=True)
class _Judged:
    """One exchange, held against one expectation."""

    match: Match
    at: str
    verdict: Verdict
    ours: bool
    """Whether a probe of ours sent it."""


@dataclass
class Traffic:
    """All recordings of a run, judged when the first result is asked for.

    With `of_target`, only what was exchanged with that target counts, and only what says when.
    """

    recordings: Sequence[Recording]
    catalog: Catalog
    targets: Sequence[Target]
    """Where the providers are; the first is the run's own."""
    of_target: bool
    left_out: Counter[str] = field(default_factory=Counter)
    """How many exchanges are evidence of nothing, by why."""
    _matchers: dict[str, Matcher] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(each.name for each in self.recordings)

    @property
    def exchanges(self) -> int:
        """How many there are in all recordings."""
        return sum(len(each.exchanges) for recording in self.recordings for each in recording.recorded)

    def result(self, address: str) -> Result:
        """The verdict on one record."""
        record, judged = self.catalog[address], self._judged.get(address, ())
        if not judged:
            reason = Reason(ReasonCode.NOT_IN_TRAFFIC, f"of {self.exchanges} recorded exchanges")
            return Result(address, record.data, Outcome.NOT_PROBED, reason)
        cells: dict[Place, list[_Judged]] = defaultdict(list)
        for each in judged:
            cells[each.match.exchange.label, each.match.exchange.endpoint].append(each)
        final = summed({place: _together(own) for place, own in cells.items()})
        kept = sorted((each for own in cells.values() for each in _worth_keeping(own)), key=lambda each: each.at)
        return Result(
            record=address,
            probed=record.data,
            outcome=final.outcome,
            reason=final.reason,
            findings=tuple(map(kept_finding, final.findings)),
            attempts=tuple(_attempt(each) for each in kept),
            observed_at=max(each.at for each in judged),
            elicited=RECORDED,
            looks=tuple(map(kept_look, final.looks)),
        )

    def start(self, addresses: Iterable[str]) -> None:
        """Nothing has to be begun: all was exchanged already."""

    def tripwire(self, address: str) -> None:
        """No lane was asked, so none can have a tripwire; what is judged here a test holds against probing."""

    def summary(self) -> str:
        """What became of the exchanges, in a sentence."""
        judged = len({id(each.match.exchange.request) for own in self._judged.values() for each in own})
        text = f"traffic: {self.exchanges} exchanges, {judged} of them judged"
        others = "; ".join(f"{count} {why}" for why, count in self.left_out.most_common())
        return f"{text}; not judged: {others}" if others else text

    @cached_property
    def _judged(self) -> Mapping[str, Sequence[_Judged]]:
        """Every exchange against what it is evidence of, by record, in the order of the recordings."""
        hosts = Hosts.of(self.targets, self.catalog, strict=self.of_target)
        redactor = redactor_of((each for own in self.recordings for each in own.recorded), self.targets)
        found: dict[str, list[_Judged]] = defaultdict(list)
        for recording in self.recordings:
            self.left_out.update(f"unreadable ({each})" for each in recording.unreadable)
            mine: dict[str, list[Recorded]] = defaultdict(list)
            for recorded in recording.recorded:
                whose = hosts.whose(recorded)
                why = self._of_no_use(recording, recorded) if whose else "to no provider of the target"
                if whose is None or why:
                    self.left_out[why] += len(recorded.exchanges)
                    continue
                name, dialect = whose
                seen = tuple(observed(each, name, dialect, redactor) for each in recorded.exchanges)
                mine[name].append(replace(recorded, exchanges=seen))
            for provider, own in mine.items():
                complete = has_all_headers(provider, [exchange for each in own for exchange in each.exchanges])
                for each in own:
                    said = each.headers_complete
                    for judged in self._held(provider, each, complete=complete if said is None else said):
                        found[judged.match.record].append(judged)
        return found

    def _of_no_use(self, recording: Recording, recorded: Recorded) -> str:
        if not self.of_target:
            return ""
        if recording.of_a_mock:
            return "of a run on a mock"
        return "" if instant(recorded.at) is not None else "without a time"

    def _held(self, provider: str, recorded: Recorded, *, complete: bool) -> Iterator[_Judged]:
        """What an exchange, or an attempt of ours, says in each cell that it is evidence of."""
        matcher = self._matchers.setdefault(provider, Matcher(provider, self.catalog))
        if recorded.record:
            matches = matcher.sent_as(recorded.exchanges, recorded.record)
        else:
            matches = matcher.found(recorded.exchanges[0], complete=complete)
        if isinstance(matches, Unmatched):
            self.left_out[matches.why] += len(recorded.exchanges)
            return
        for together in [matches] if recorded.record else [(each,) for each in matches]:
            cells = _verdicts(together, matcher)
            for match in together:
                verdict = cells[match.exchange.label, match.exchange.endpoint]
                if not complete:
                    verdict = without_what_was_filtered(verdict, match.exchange)
                yield _Judged(match, _time(recorded.at), verdict, bool(recorded.record))


def _verdicts(together: Sequence[Match], matcher: Matcher) -> Mapping[Place, Verdict]:
    """The verdict on each cell of what was exchanged together; answers are compared with each other."""
    stated = {each.expected.label: each.expected for each in together}
    attempt = Attempt("", 0.0, tuple(each.exchange for each in together))
    return judge(tuple(stated.values()), attempt, matcher.known).cells


def _together(own: Sequence[_Judged]) -> Verdict:
    seen = [(each.match.exchange, each.verdict) for each in own]
    return concluded(seen, ours=all(each.ours for each in own))


def _worth_keeping(own: Sequence[_Judged]) -> Iterable[_Judged]:
    """The last exchange of each kind that was seen in a cell, what differs first."""
    kinds = {(each.verdict.outcome, each.verdict.difference): each for each in own}
    return sorted(kinds.values(), key=lambda each: each.verdict.outcome is not Outcome.DRIFTED)[:KEPT]


def _attempt(each: _Judged) -> Attempt:
    exchange = each.match.exchange
    return kept_attempt(Attempt(each.at, exchange.elapsed_ms, (exchange,)), [each.match.expected])


def _time(text: str) -> str:
    """The instant as results have it, or nothing where the recording has none."""
    at = instant(text)
    return utc_text(at) if at is not None else ""
