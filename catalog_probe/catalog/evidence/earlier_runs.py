"""Earlier runs, as the first line of a run carries them: one row per run, one outcome per record. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence.results_file import EvidenceError
from catalog_probe.catalog.model import Json, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from catalog_probe.catalog.evidence.results import Run

OUTCOME_LETTERS: Mapping[Outcome, str] = {
    Outcome.CONFORMS: "c",
    Outcome.DRIFTED: "d",
    Outcome.FLAKY: "f",
    Outcome.RESTRICTED: "r",
    Outcome.INCONCLUSIVE: "i",
    Outcome.NOT_PROBED: "n",
    Outcome.HARNESS_ERROR: "h",
}
OUTCOMES_BY_LETTER = {letter: outcome for outcome, letter in OUTCOME_LETTERS.items()}


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """One earlier run, from its line in the history."""

    run: str
    started_at: str
    today: date
    outcomes: Mapping[str, Outcome]
    drifts: Mapping[str, Mapping[str, Json]]
    discovered: frozenset[str]
    live: bool
    statement_digests: Mapping[str, str] = field(default_factory=dict)
    """By address, the digest of the statements that the record made then; empty in rows without digests."""
    causes: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)
    """By cause id: `code` and `summary`; empty in rows without causes."""
    coverage_lost: frozenset[str] = frozenset()
    """The addresses of records with lost coverage that their outcome letter does not show."""


@dataclass(frozen=True, slots=True)
class EarlierOutcome:
    """The outcome of one record in an earlier run, with the summary of its drift."""

    day: date
    outcome: Outcome
    drift: Mapping[str, Json] = field(default_factory=dict)
    """`since`, and what `drift_identity.summarize_drift` returned. A conforming run that did not draw the endpoints of
    an earlier drift keeps its summary."""

    @property
    def drifts(self) -> bool:
        """Whether it drifted, or conformed without looking at the endpoints of an earlier drift."""
        return self.outcome is Outcome.DRIFTED or (self.outcome is Outcome.CONFORMS and bool(self.drift))

    @property
    def since(self) -> date:
        """The first day of the drift; the day of this run if the summary has none."""
        since = self.drift.get("since")
        return date.fromisoformat(since) if since else self.day


def parse_history(run: Run) -> list[HistoryRow]:
    """Return the earlier runs in a run's first line, oldest first.

    Raises:
        EvidenceError: a line is not a history row.
    """
    return list(_rows(run.history, f"run {run.run}: history"))


def parse_history_lines(lines: Sequence[Mapping[str, Json]]) -> list[HistoryRow]:
    """Return the rows of history lines, in their order.

    Raises:
        EvidenceError: a line is not a history row.
    """
    return list(_rows(lines, "history"))


def list_earlier_outcomes(address: str, rows: Sequence[HistoryRow]) -> list[EarlierOutcome]:
    """Return the outcomes of one record, oldest first; runs without the record are left out."""
    return [
        EarlierOutcome(row.today, row.outcomes[address], row.drifts.get(address, {}))
        for row in rows
        if address in row.outcomes
    ]


def find_last_verdict(earlier: Sequence[EarlierOutcome]) -> EarlierOutcome | None:
    """Return the latest conclusive outcome; `earlier` is in order, oldest first."""
    return next((outcome for outcome in reversed(earlier) if outcome.outcome.is_conclusive), None)


def _rows(lines: Sequence[Mapping[str, Json]], source: str) -> Iterator[HistoryRow]:
    # Addresses and digests are long, so only the first line with a set of addresses has them.
    addresses_by_set = {line["address_set"]: line["addresses"] for line in lines if "addresses" in line}
    digests_by_set = {line["address_set"]: line["statement_digests"] for line in lines if "statement_digests" in line}
    for line in lines:
        try:
            addresses = addresses_by_set[line["address_set"]]
            yield HistoryRow(
                run=line["run"],
                started_at=line["started_at"],
                today=date.fromisoformat(line["today"]),
                outcomes={
                    address: OUTCOMES_BY_LETTER[letter]
                    for address, letter in zip(addresses, line["outcomes"], strict=True)
                },
                drifts=line.get("drifts", {}),
                discovered=frozenset(line.get("discovered", ())),
                live=line.get("live", False),
                statement_digests=dict(zip(addresses, digests_by_set.get(line["address_set"], ()), strict=False)),
                causes=line.get("causes", {}),
                coverage_lost=frozenset(line.get("coverage_lost", ())),
            )
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise EvidenceError(f"not a history row ({error!r})", "remove it there", location=source) from error
