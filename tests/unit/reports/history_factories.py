"""Factories of nights and of the history that they leave."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.evidence import earlier_runs
from catalog_probe.catalog.model import Outcome, Reason
from catalog_probe.reports.history import MAX_SHOWN_RUNS, append_to_history, build_history_line, load_shown_history
from tests.unit.reports.factories import make_finding, make_result, make_run

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from catalog_probe.catalog.evidence.earlier_runs import HistoryRow
    from catalog_probe.catalog.evidence.results import Result

A, B, C = "pa/errors/general/a", "pa/errors/general/b", "pc/errors/general/c"
FIRST = date(2026, 11, 1)


def make_drift(address: str, observed: int | str = 422, **changes: Any) -> Result:
    """Make a drift of the status."""
    drift = make_finding(documented=400, observed=observed, **changes)
    return make_result(address, Outcome.DRIFTED, findings=(drift,))


def make_unobserved(address: str) -> Result:
    """Make a result without verdict."""
    return make_result(address, Outcome.INCONCLUSIVE, reason=Reason("read-timeout", "30 s"))


def build_history_rows(nights: Iterable[Sequence[Result]]) -> list[HistoryRow]:
    """Build the history rows of some nights, each with the rows before it."""
    lines: list[dict[str, Any]] = []
    for number, results in enumerate(nights):
        day = FIRST + timedelta(days=number)
        carried = tuple(lines[-MAX_SHOWN_RUNS:])
        night = make_run(run=f"r{number:02}", started_at=f"{day}T04:00:00Z", today=day.isoformat(), history=carried)
        lines.append(build_history_line(night, results))
    return earlier_runs.parse_history_lines(lines)


def make_result_for_letter(address: str, letter: str) -> Result:
    """Make the result of a letter: c conforms, x and y drift, i is inconclusive."""
    results = {
        "c": make_result(address),
        "x": make_drift(address),
        "y": make_drift(address, 500),
        "i": make_unobserved(address),
    }
    return results[letter]


def append_nights(folder: Path, nights: Iterable[Sequence[Result]]) -> None:
    """Append some nights to the history file, each with the history before it."""
    for number, results in enumerate(nights):
        day = FIRST + timedelta(days=number)
        _, carried = load_shown_history(folder, "live")
        night = make_run(run=f"r{number}", started_at=f"{day}T04:00:00Z", today=day.isoformat(), history=carried)
        append_to_history(folder, night, results)
