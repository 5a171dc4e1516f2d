"""Judges recordings: a result for each record that the traffic touched, by the rules of every run."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from catalog_probe.catalog.observed.last_seen import parse_utc_instant
from catalog_probe.probes.traffic.hidden_values import RECORDER_MARKS, has_all_headers, is_hidden_whole, mark_hidden
from catalog_probe.probes.traffic.hosts import Hosts
from catalog_probe.probes.traffic.normalizing import make_redactor, normalize_exchange
from catalog_probe.probes.traffic.record_judge import TrafficJudge
from catalog_probe.probes.wire.redaction.redactor import HIDDEN

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from catalog_probe.catalog.evidence.results import Result
    from catalog_probe.catalog.files.store import Catalog
    from catalog_probe.catalog.model import Json
    from catalog_probe.probes.targets.target import Target
    from catalog_probe.probes.traffic.recording import RecordedExchange, Recording


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

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(each.name for each in self.recordings)

    @property
    def left_out(self) -> Counter[str]:
        """How many exchanges are evidence of nothing, by why."""
        return self._held.left_out

    def result(self, address: str) -> Result:
        """The verdict on one record."""
        return self._held.result(address)

    def start(self, addresses: Iterable[str]) -> None:
        """Nothing has to be begun: all was exchanged already."""

    def self_test(self, address: str) -> None:
        """No lane was asked, so none can have a self-test; what is judged here a test holds against probing."""

    def to_json(self) -> dict[str, Json]:
        """What became of the exchanges, as the line of a run has it."""
        return self._held.to_json()

    def summary(self) -> str:
        """What became of the exchanges, in a sentence."""
        return self._held.summary()

    @cached_property
    def _held(self) -> TrafficJudge:
        """Every exchange against what it is evidence of, in the order of the recordings."""
        hosts = Hosts.of(self.targets, self.catalog, strict=self.of_target)
        recordings = [
            replace(each, recorded=tuple(map(_with_hidden_marked, each.recorded))) for each in self.recordings
        ]
        redactor = make_redactor((each for own in recordings for each in own.recorded), self.targets)
        held = TrafficJudge(self.catalog, redactor)
        for recording in recordings:
            held.left_out.update(f"unreadable ({each})" for each in recording.unreadable)
            mine: dict[str, list[RecordedExchange]] = defaultdict(list)
            for recorded in recording.recorded:
                whose = hosts.whose(recorded)
                why = self._of_no_use(recording, recorded) if whose else "to no provider of the target"
                if whose is None or why:
                    held.leave_out(why, len(recorded.exchanges))
                    continue
                name, dialect = whose
                seen = tuple(normalize_exchange(each, name, dialect) for each in recorded.exchanges)
                mine[name].append(replace(recorded, exchanges=seen))
                for response in (each.response for each in seen if each.response is not None):
                    redactor.learn(response)
            for provider, own in mine.items():
                complete = has_all_headers(provider, [exchange for each in own for exchange in each.exchanges])
                for each in own:
                    said = each.headers_complete
                    held.hold(provider, each, complete=complete if said is None else said)
        return held

    def _of_no_use(self, recording: Recording, recorded: RecordedExchange) -> str:
        if any(is_hidden_whole(each) for each in recorded.exchanges):
            return "hidden whole"
        if recorded.of_no_use or not self.of_target:
            return recorded.of_no_use
        if recording.of_a_mock:
            return "of a run on a mock"
        return "" if parse_utc_instant(recorded.at) is not None else "without a time"


def _with_hidden_marked(recorded: RecordedExchange) -> RecordedExchange:
    """The exchanges with one mark for whatever a recorder hid, or a run of ours."""
    complete = bool(recorded.record) or recorded.headers_complete
    marks = HIDDEN if recorded.record else RECORDER_MARKS
    marked = tuple(mark_hidden(exchange, marks, complete=complete) for exchange in recorded.exchanges)
    return replace(recorded, exchanges=marked)
