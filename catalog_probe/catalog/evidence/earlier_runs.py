"""What a run remembers of the runs before it: a row a run, an outcome a record. Its first line carries them. Pure."""

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
    """One earlier run, as its history line tells it."""

    run: str
    started_at: str
    today: date
    outcomes: Mapping[str, Outcome]
    drifts: Mapping[str, Mapping[str, Json]]
    discovered: frozenset[str]
    live: bool
    statement_digests: Mapping[str, str] = field(default_factory=dict)
    """By address, the digest of the statements that the record made then; empty where the row has none."""
    causes: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)
    """By the id of a cause: `code` and `summary`; empty where the row has none."""
    coverage_lost: frozenset[str] = frozenset()
    """The addresses of lost coverage, as far as their letters do not tell."""


@dataclass(frozen=True, slots=True)
class EarlierOutcome:
    """What an earlier run remembers of one record: its outcome, and of a drift what the history kept."""

    day: date
    outcome: Outcome
    kept: Mapping[str, Json] = field(default_factory=dict)
    """Of a drift: `since`, and what `drift_identity.summarize_drift` returned. A conforming run that did not draw the
    endpoints of an earlier drift keeps that drift."""

    @property
    def drifts(self) -> bool:
        """Whether it drifted, or its drift was not observed since."""
        return self.outcome is Outcome.DRIFTED or (self.outcome is Outcome.CONFORMS and bool(self.kept))

    @property
    def since(self) -> date:
        """The first day of its drift; its own where it kept none."""
        since = self.kept.get("since")
        return date.fromisoformat(since) if since else self.day


def parse_history(run: Run) -> list[HistoryRow]:
    """The earlier runs that a run carries with it, oldest first.

    Raises:
        EvidenceError: one of them is no row of a history.
    """
    return list(_rows(run.history, f"run {run.run}: history"))


def parse_history_lines(lines: Sequence[Mapping[str, Json]]) -> list[HistoryRow]:
    """The rows of lines that a run is about to carry.

    Raises:
        EvidenceError: one of them is no row of a history.
    """
    return list(_rows(lines, "history"))


def list_earlier_outcomes(address: str, rows: Sequence[HistoryRow]) -> list[EarlierOutcome]:
    """What earlier runs remember of one record, oldest first; those that did not have it are left out."""
    return [
        EarlierOutcome(row.today, row.outcomes[address], row.drifts.get(address, {}))
        for row in rows
        if address in row.outcomes
    ]


def find_last_verdict(earlier: Sequence[EarlierOutcome]) -> EarlierOutcome | None:
    """The last of the earlier runs, oldest first, in which the record was observed and judged."""
    return next((each for each in reversed(earlier) if each.outcome.is_conclusive), None)


def _rows(lines: Sequence[Mapping[str, Json]], where: str) -> Iterator[HistoryRow]:
    addresses = {line["address_set"]: line["addresses"] for line in lines if "addresses" in line}
    digests = {line["address_set"]: line["statement_digests"] for line in lines if "statement_digests" in line}
    for line in lines:
        try:
            yield HistoryRow(
                run=line["run"],
                started_at=line["started_at"],
                today=date.fromisoformat(line["today"]),
                outcomes={
                    address: OUTCOMES_BY_LETTER[letter]
                    for address, letter in zip(addresses[line["address_set"]], line["outcomes"], strict=True)
                },
                drifts=line.get("drifts", {}),
                discovered=frozenset(line.get("discovered", ())),
                live=line.get("live", False),
                statement_digests=dict(
                    zip(addresses[line["address_set"]], digests.get(line["address_set"], ()), strict=False)
                ),
                causes=line.get("causes", {}),
                coverage_lost=frozenset(line.get("coverage_lost", ())),
            )
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise EvidenceError(f"not a history row ({error!r})", "remove it there", location=where) from error
