"""Plots and matrix: drawn from the data, with the same story in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog.model import Attempt, Outcome
from reports import plots
from reports.matrix import SQUARES, matrix
from reports.overview import Overview
from tests.unit.reports import sample
from tests.unit.reports.making import exchange, finding, result, run

if TYPE_CHECKING:
    from reports.plots import Plot, Shape

A = "pa/errors/general/a"


def drawn(plot: Plot | None) -> Plot:
    assert plot is not None
    return plot


def rectangles(plot: Plot) -> list[Shape]:
    return [shape for shape in plot.shapes if shape.form == "rect"]


def test_every_record_is_in_the_plot_of_ages() -> None:
    plot = drawn(plots.ages(Overview(*sample.full()).standings))
    assert plot.words == "Records by age of their evidence. today: 366, 1 d: 5, 7 d: 9, never: 38."


def test_what_conforms_does_not_dwarf_what_drifts() -> None:
    plot = drawn(plots.runs(Overview(*sample.full())))
    assert {shape.kind for shape in rectangles(plot)} >= {Outcome.DRIFTED, Outcome.INCONCLUSIVE}
    assert Outcome.CONFORMS not in {shape.kind for shape in rectangles(plot)}
    assert any("357 conforms" in shape.text for shape in rectangles(plot))


def test_every_shape_lies_within_its_drawing() -> None:
    for plot in plots.plots(Overview(*sample.full())):
        for shape in rectangles(plot):
            assert 0 <= shape.x <= shape.x + shape.width <= plot.width + 0.2, (plot.title, shape)
            assert 0 <= shape.y <= shape.y + shape.height <= plot.height, (plot.title, shape)


def test_one_record_among_thousands_still_shows() -> None:
    results = [result(f"pa/errors/general/r{number}") for number in range(5000)]
    results.append(result(A, Outcome.DRIFTED, findings=(finding(),)))
    (drifted,) = rectangles(drawn(plots.runs(Overview(run(), results))))
    assert drifted.height >= 1.5


def test_a_lane_tells_its_median() -> None:
    attempts = tuple(Attempt("", ms, (exchange(elapsed_ms=ms),)) for ms in (10.0, 20.0, 3000.0))
    plot = drawn(plots.latency(Overview(run(), [result(A, attempts=attempts, lane="pa:inference")]).standings))
    assert plot.words == "pa:inference: median 20 ms, nine in ten within 3 s, 3 exchanges."


def test_a_run_that_sent_nothing_has_no_latency() -> None:
    assert plots.latency(Overview(run(), [result(A, Outcome.NOT_PROBED)]).standings) is None
    assert plots.waterfall(Attempt("", 0.0, ())) is None


def test_an_attempt_that_took_no_time_can_be_drawn() -> None:
    attempt = Attempt("", 0.0, (exchange(started_ms=0.0, elapsed_ms=0.0),))
    assert len(rectangles(drawn(plots.waterfall(attempt)))) == 1


def test_the_matrix_has_every_record_once() -> None:
    overview = Overview(*sample.full())
    made = matrix(overview)
    families = [family for _, places in made.rows for place in places for family in place]
    assert sum(len(family.cell.standings) for family in families) == 418
    assert [name for name, _ in made.rows] == ["Endpoints", "Errors", "Rate limits"]
    assert made.squares
    (live,) = (
        each for each in families if (each.cell.provider, each.cell.kind, each.cell.family) == ("pb", "errors", "live")
    )
    assert live.exceptions == "3 inconclusive"


def test_very_many_records_are_bars() -> None:
    made = matrix(Overview(run(), [result(f"pa/errors/general/r{number}") for number in range(SQUARES + 1)]))
    assert not made.squares
    (family,) = made.rows[0][1][0]
    assert [(stretch.start, stretch.width) for stretch in family.bar] == [(0.0, 100.0)]
