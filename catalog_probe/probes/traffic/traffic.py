"""Judge recordings instead of probing: a result for each record that the traffic is evidence of."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from catalog_probe.catalog.files.manifest import providers
from catalog_probe.catalog.observed import parse_utc_instant
from catalog_probe.probes.traffic.hidden_values import RECORDER_MARKS, has_all_headers, is_hidden_whole, mark_hidden
from catalog_probe.probes.traffic.hosts import Hosts
from catalog_probe.probes.traffic.normalizing import make_redactor, normalize_exchange
from catalog_probe.probes.traffic.record_judge import TrafficJudge
from catalog_probe.probes.wire.redaction import HIDDEN

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from catalog_probe.catalog.evidence.results import Result
    from catalog_probe.catalog.files.store import Catalog
    from catalog_probe.catalog.model import Json
    from catalog_probe.probes.targets.target import Target
    from catalog_probe.probes.traffic.recordings import RecordedAttempt, Recording


@dataclass
class Traffic:
    """All recordings of a run, judged when the first result is asked for.

    It has the interface of the engine that probes.
    """

    recordings: Sequence[Recording]
    catalog: Catalog
    targets: Sequence[Target]
    """Where the providers are; the first is the run's own target."""
    of_target: bool
    """Whether only exchanges with that target count, and only those with a time."""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(recording.name for recording in self.recordings)

    @property
    def providers(self) -> Collection[str]:
        """The providers with a recorded exchange. If there is none, all of them: each record says that it lacks one."""
        return self._judge.providers or providers()

    def result(self, address: str) -> Result:
        """Return the verdict on one record."""
        return self._judge.conclude_result(address)

    def has_evidence_of(self, address: str) -> bool:
        """Whether an exchange was judged by a record."""
        return address in self._judge.judged_records

    def start(self, addresses: Iterable[str]) -> None:
        """Do nothing: there is nothing to send."""

    def self_test(self, address: str) -> None:
        """Return no result: traffic has no lane that a self-test could prove."""

    def to_json(self) -> dict[str, Json]:
        """Return how many exchanges were judged, and why others were not, as results.jsonl has it."""
        return self._judge.to_json()

    @cached_property
    def _judge(self) -> TrafficJudge:
        """Judge every exchange, in the order of the recordings."""
        hosts = Hosts.from_targets(self.targets, self.catalog, strict=self.of_target)
        recordings = [
            replace(recording, attempts=tuple(map(_mark_hidden, recording.attempts))) for recording in self.recordings
        ]
        redactor = make_redactor((attempt for recording in recordings for attempt in recording.attempts), self.targets)
        judge = TrafficJudge(self.catalog, redactor)
        for recording in recordings:
            judge.left_out.update(f"unreadable ({line})" for line in recording.unreadable)
            for provider, attempts in self._normalize(recording, hosts, judge).items():
                exchanges = [exchange for attempt in attempts for exchange in attempt.exchanges]
                is_complete = has_all_headers(provider, exchanges)
                for attempt in attempts:
                    stated = attempt.headers_complete
                    judge.judge(provider, attempt, complete=is_complete if stated is None else stated)
        return judge

    def _normalize(
        self, recording: Recording, hosts: Hosts, judge: TrafficJudge
    ) -> Mapping[str, list[RecordedAttempt]]:
        """Return the usable attempts of a recording by provider, in stand-ins; count the others as left out."""
        attempts: dict[str, list[RecordedAttempt]] = defaultdict(list)
        for attempt in recording.attempts:
            provider_dialect = hosts.find_provider(attempt)
            reason = self._unusable_reason(recording, attempt) if provider_dialect else "to no provider of the target"
            if provider_dialect is None or reason:
                judge.leave_out(reason, len(attempt.exchanges))
                continue
            provider, dialect = provider_dialect
            exchanges = tuple(normalize_exchange(exchange, provider, dialect) for exchange in attempt.exchanges)
            attempts[provider].append(replace(attempt, exchanges=exchanges))
            for exchange in exchanges:
                if exchange.response is not None:  # so that its account identifiers are hidden everywhere
                    judge.redactor.learn(exchange.response)
        return attempts

    def _unusable_reason(self, recording: Recording, attempt: RecordedAttempt) -> str:
        """Return why an attempt is no evidence, or an empty string."""
        if any(map(is_hidden_whole, attempt.exchanges)):
            return "hidden whole"
        if attempt.unusable_reason or not self.of_target:
            return attempt.unusable_reason
        if recording.is_from_mock:
            return "of a run on a mock"
        return "" if parse_utc_instant(attempt.at) is not None else "without a time"


def _mark_hidden(attempt: RecordedAttempt) -> RecordedAttempt:
    """Replace everything that a recorder, or a run of ours, hid by one mark."""
    is_complete = bool(attempt.record) or attempt.headers_complete
    marks = HIDDEN if attempt.record else RECORDER_MARKS
    exchanges = tuple(mark_hidden(exchange, marks, complete=is_complete) for exchange in attempt.exchanges)
    return replace(attempt, exchanges=exchanges)
