"""How long answers took, lane by lane: remembered, and told over the runs."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from catalog.evidence import past
from catalog.model import Attempt, Outcome
from reports import history, latency, plots
from reports.overview import Overview
from tests.unit.reports.making import TODAY, exchange, result, run

if TYPE_CHECKING:
    from catalog.evidence.results import Result, Run

A = "pa/errors/general/a"


def took(*ms: float, lane: str = "pa:inference") -> Result:
    return result(A, lane=lane, attempts=tuple(Attempt("", each, (exchange(elapsed_ms=each),)) for each in ms))


def after(*nights: float | None) -> Run:
    """A run after nights on which the answers took so long; None where nothing was asked."""
    lines = []
    for back, ms in zip(range(len(nights), 0, -1), nights, strict=True):
        day = (TODAY - timedelta(days=back)).isoformat()
        seen = took(ms) if ms is not None else result(A, Outcome.NOT_PROBED)
        lines.append(history.row(run(run=f"r{back}", today=day, started_at=f"{day}T04:00:00Z"), [seen]))
    return run(history=tuple(lines))


def test_a_history_keeps_the_median_of_each_lane() -> None:
    line = history.row(run(), [took(30.04, 10.0, 20.0), took(5.0, lane="pa:admin")])
    assert line["latency"] == {"pa:admin": 5.0, "pa:inference": 20.0}
    (row,) = past.rows(run(history=(line,)))
    assert row.latency == {"pa:admin": 5.0, "pa:inference": 20.0}


def test_a_row_of_an_earlier_version_tells_none() -> None:
    line = history.row(run(), [took(10.0)])
    del line["latency"]
    assert past.rows(run(history=(line,)))[0].latency == {}


def test_a_lane_that_takes_twice_as_long_is_told_first() -> None:
    rows = past.rows(after(40.0, None, 44.0))
    slow, quiet = latency.courses(
        [*rows, *past.rows(run(history=(history.row(run(), [took(9.0, lane="pa:admin")]),)))],
        {"pa:admin": 19.0, "pa:inference": 126.0},
    )
    assert (slow.lane, slow.medians, slow.is_slower) == ("pa:inference", (40.0, None, 44.0, None, 126.0), True)
    assert (quiet.lane, quiet.is_slower) == ("pa:admin", False), "twice next to nothing is nothing"


def test_the_latency_of_a_lane_is_drawn_over_the_runs() -> None:
    plot = plots.latency_over_runs(Overview(after(40.0, None, 44.0), [took(126.0)]))
    assert plot is not None
    told = "pa:inference: median 126 ms, 40 ms to 126 ms in 3 runs, 3.0 times as long as is usual"
    assert plot.words == f"{told}."
    assert [shape.kind for shape in plot.shapes if shape.form == "rect"] == ["slower"]
    assert [shape.kind for shape in plot.shapes if shape.form == "line"] == ["grid", "slower", "slower"]
    assert [shape.text for shape in plot.shapes if shape.kind.startswith("tick")] == ["2026-11-18", "2026-11-21"]
    assert all(0 <= shape.x <= plot.width and 0 <= shape.y <= plot.height for shape in plot.shapes)


def test_one_run_alone_has_no_course() -> None:
    assert plots.latency_over_runs(Overview(run(), [took(10.0)])) is None
    assert plots.latency_over_runs(Overview(after(None), [took(10.0)])) is None
