"""Plots and matrix: drawn from the data, with the same story in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog.model import Attempt, Outcome
from catalog.model.look import Look
from catalog.reading.assertions import assertions
from reports import history, plots
from reports.matrix import matrix
from reports.overview import Overview
from reports.sight import sight
from tests.harness.engines import catalog as shipped
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


def test_an_attempt_that_sent_nothing_is_not_drawn() -> None:
    assert plots.waterfall(Attempt("", 0.0, ())) is None


def test_an_attempt_that_took_no_time_can_be_drawn() -> None:
    attempt = Attempt("", 0.0, (exchange(started_ms=0.0, elapsed_ms=0.0),))
    assert len(rectangles(drawn(plots.waterfall(attempt)))) == 1


def test_the_matrix_has_every_record_once_and_folds_what_conforms() -> None:
    made = matrix(Overview(*sample.full()))
    notable = [family for column in made for _, families in column.notable for family in families]
    calm = [family for column in made for family in column.calm]
    assert sum(len(family.cell.standings) for family in (*notable, *calm)) == 418
    assert [column.provider for column in made] == ["pa", "pb", "pc", "pd"]
    assert [(column.provider, name) for column in made for name, _ in column.notable] == [
        *(("pa", "Errors"), ("pb", "Errors"), ("pc", "Errors"), ("pd", "Endpoints"), ("pd", "Errors")),
    ]
    (live,) = (each for each in notable if (each.cell.provider, each.cell.family) == ("pb", "live"))
    assert live.exceptions == ((3, "inconclusive"),)
    assert not any(family.exceptions for family in calm)


def test_the_share_of_assertions_that_were_looked_at() -> None:
    catalog = shipped()
    address = "pd/endpoints/models/list_models"
    own = [result(str(each.address), probed=each.data) for each in catalog.select("pd")]
    within_reach = [each for record in catalog.select("pd") for each in assertions(record, catalog.__getitem__)]
    look = Look(address, "success", ("status",), {"body": "malformed"}, {"body:/data": "no-body"})
    results = [
        result(address, probed=catalog[address].data, looks=(look,)) if each.record == address else each for each in own
    ]
    seen = sight(Overview(run(), [*results, result("pb/errors/http/b")]).standings)
    assert seen.keys() == {"pd"}, "where nothing was looked at there is no share to tell"
    assert seen["pd"].looked_at == 2
    assert seen["pd"].stated == sum(not each.out_of_reach for each in within_reach)
    assert seen["pd"].percent == 200 // seen["pd"].stated


def test_a_second_run_on_a_day_has_a_name_of_its_own() -> None:
    line = history.row(run(run="r-1", today="2026-11-21"), [result(A)])
    assert Overview(run(history=(line,)), [result(A)]).run_names == ("2026-11-21", "2026-11-21.2")
