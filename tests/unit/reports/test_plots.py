"""Plots and matrix: drawn from the data, with a text alternative."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Outcome
from catalog_probe.catalog.model.assertion import Observation
from catalog_probe.catalog.reading.assertions import assertions
from catalog_probe.reports.content.overview import Overview
from catalog_probe.reports.history import build_history_line
from catalog_probe.reports.page import charts
from catalog_probe.reports.page.charts import build_matrix, count_observed_shares
from tests.harness.engines import catalog as shipped
from tests.unit.reports import sample
from tests.unit.reports.factories import make_finding, make_result, make_run

if TYPE_CHECKING:
    from catalog_probe.reports.page.charts import Plot

A = "pa/errors/general/a"


def draw_plot(overview: Overview) -> Plot:
    plot = charts.plot_runs(overview)
    assert plot is not None
    return plot


def test_many_conforming_records_do_not_hide_the_drifts() -> None:
    plot = draw_plot(Overview(*sample.make_full_run()))
    assert {bar.outcome for bar in plot.bars} >= {Outcome.DRIFTED, Outcome.INCONCLUSIVE}
    assert Outcome.CONFORMS not in {bar.outcome for bar in plot.bars}
    assert any("357 conforms" in bar.words for bar in plot.bars)


def test_every_bar_is_inside_its_drawing() -> None:
    for bar in draw_plot(Overview(*sample.make_full_run())).bars:
        assert 0 <= bar.x <= bar.x + bar.width <= charts.WIDTH + 0.2, bar
        assert 0 <= bar.y <= bar.y + bar.height <= charts.HEIGHT, bar


def test_one_record_among_thousands_still_shows() -> None:
    results = [make_result(f"pa/errors/general/r{number}") for number in range(5000)]
    results.append(make_result(A, Outcome.DRIFTED, findings=(make_finding(),)))
    (drifted,) = draw_plot(Overview(make_run(), results)).bars
    assert drifted.height >= 1.5


def test_the_number_of_this_run_leads_to_its_records() -> None:
    plot = draw_plot(
        Overview(make_run(), [make_result(A, Outcome.DRIFTED, findings=(make_finding(),)), make_result(f"{A}2")])
    )
    assert (plot.number, plot.query) == (1, "outcome:drifted")
    assert draw_plot(Overview(make_run(), [make_result(A)])).query == ""


def test_the_matrix_has_every_record_once_and_folds_conforming_ones() -> None:
    columns = build_matrix(Overview(*sample.make_full_run()))
    notable = [family for column in columns for _, families in column.notable for family in families]
    calm = [family for column in columns for family in column.conforming]
    assert sum(len(family.cell.records) for family in (*notable, *calm)) == 418
    assert [column.provider for column in columns] == ["pa", "pb", "pc", "pd"]
    assert [(column.provider, name) for column in columns for name, _ in column.notable] == [
        *(("pa", "Errors"), ("pb", "Errors"), ("pc", "Errors"), ("pd", "Endpoints"), ("pd", "Errors")),
    ]
    (live,) = (mark for mark in notable if (mark.cell.provider, mark.cell.family) == ("pb", "live"))
    assert live.exceptions == ((3, "inconclusive"),)
    assert not any(family.exceptions for family in calm)


def test_the_share_of_observed_assertions() -> None:
    catalog = shipped()
    address = "pd/endpoints/models/list_models"
    unobserved = [make_result(str(record.address), probed_record=record.data) for record in catalog.select("pd")]
    all_assertions = [
        assertion for record in catalog.select("pd") for assertion in assertions(record, catalog.__getitem__)
    ]
    observation = Observation(address, "success", ("status",), {"body": "malformed"}, {"body:/data": "no-body"})
    results = [
        make_result(address, probed_record=catalog[address].data, observations=(observation,))
        if result.record == address
        else result
        for result in unobserved
    ]
    shares = count_observed_shares(Overview(make_run(), [*results, make_result("pb/errors/http/b")]).records)
    assert shares.keys() == {"pd"}, "where nothing was looked at there is no share to tell"
    assert shares["pd"].observed == 2
    assert shares["pd"].within_reach == sum(not assertion.out_of_reach for assertion in all_assertions)
    assert shares["pd"].percent == 200 // shares["pd"].within_reach


def test_a_second_run_on_a_day_has_a_name_of_its_own() -> None:
    line = build_history_line(make_run(run="r-1", today="2026-11-21"), [make_result(A)])
    assert Overview(make_run(history=(line,)), [make_result(A)]).run_names == ("2026-11-21", "2026-11-21.2")
