"""What was selected and is not reported is told, and no run becomes greener by what it leaves out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.catalog.evidence.completeness import add_missing_results, is_unreported
from catalog_probe.catalog.evidence.results import Result, Run
from catalog_probe.catalog.evidence.results_file import ResultsWriter, read_run
from catalog_probe.catalog.evidence.verdicts import run_verdict
from catalog_probe.catalog.evidence.verdicts.merge import merge_runs
from catalog_probe.catalog.model import Outcome, Reason
from catalog_probe.catalog.model.exits import Exit
from tests.harness.exit_status import find_exit_status

if TYPE_CHECKING:
    from pathlib import Path

ORDER = (Exit.FINE, Exit.NOTHING_SELECTED, Exit.DRIFT, Exit.BLIND, Exit.HARNESS_ERROR, Exit.USAGE)
"""From green to red."""

RUN = Run("r", "live", True, "2026-11-21T04:00:00Z", "2026-11-21")
A, B, C = "pa/errors/general/a", "pa/errors/general/b", "pb/errors/general/c"


def results_of(*outcomes: Outcome) -> list[Result]:
    return [
        Result(f"{'pa' if n % 2 else 'pb'}/errors/general/r{n}", {}, outcome, Reason("x"))
        for n, outcome in enumerate(outcomes)
    ]


def test_what_was_selected_and_has_no_result_is_not_reported() -> None:
    described = replace(RUN, selected=(A, B, C))
    seen = Result(B, {}, Outcome.CONFORMS)
    known = add_missing_results(described, [seen])
    assert [each.record for each in known] == [B, A, C]
    assert [is_unreported(each) for each in known] == [False, True, True]
    assert {each.outcome for each in known[1:]} == {Outcome.INCONCLUSIVE}
    why = Reason("not-reported", "it was selected, and its process ended before it reported")
    assert [each.reason for each in known] == [None, why, why]
    assert add_missing_results(described, known) == known
    assert run_verdict.exit_status(described, [seen]) is Exit.HARNESS_ERROR
    assert run_verdict.exit_status(replace(described, selected=(B,)), [seen]) is Exit.FINE


@given(st.lists(st.sampled_from(Outcome)), st.data(), st.sets(st.sampled_from(["pa", "pb"])))
def test_no_run_becomes_greener_by_leaving_results_out(
    outcomes: list[Outcome], data: st.DataObject, names: set[str]
) -> None:
    results = results_of(*outcomes)
    described = replace(RUN, expected=tuple(sorted(names)), selected=tuple(sorted(each.record for each in results)))
    kept = data.draw(st.lists(st.sampled_from(results), unique_by=lambda each: each.record)) if results else []
    whole, part = run_verdict.exit_status(described, results), run_verdict.exit_status(described, kept)
    assert ORDER.index(part) >= ORDER.index(whole)
    assert len(kept) == len(results) or part is Exit.HARNESS_ERROR


@given(st.lists(st.sampled_from(Outcome), min_size=1), st.data(), st.sets(st.sampled_from(["pa", "pb"]), min_size=1))
def test_nor_does_a_list_of_results_where_all_it_holds_is_expected(
    outcomes: list[Outcome], data: st.DataObject, names: set[str]
) -> None:
    """Without a run's line: an expected provider that is left out whole is blind, it is not passed over."""
    results = results_of(*outcomes)
    left_out = data.draw(st.sampled_from(sorted(names)))
    kept = [each for each in results if not each.record.startswith(left_out)]
    assert find_exit_status(kept, *sorted(names)) in (Exit.BLIND, Exit.HARNESS_ERROR)


def test_whoever_reads_the_file_reads_it_complete(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    with ResultsWriter(path, replace(RUN, selected=(A, B))) as writer:
        writer.append(Result(A, {}, Outcome.CONFORMS).to_json())
    run, results = read_run(path)
    assert run.selected == (A, B)
    assert [(each.record, is_unreported(each)) for each in results] == [(A, False), (B, True)]


def test_a_record_that_a_file_tells_twice_counts_once(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    told = [
        Result(A, {}, Outcome.INCONCLUSIVE, Reason("read-timeout"), observed_at="2026-11-21T04:00:02Z"),
        Result(B, {}, Outcome.CONFORMS, observed_at="2026-11-21T04:00:01Z"),
        Result(A, {}, Outcome.DRIFTED, observed_at="2026-11-21T04:00:01Z"),
        Result(B, {}, Outcome.CONFORMS, observed_at="2026-11-21T04:00:01Z"),
    ]
    with ResultsWriter(path, replace(RUN, selected=(A, B))) as writer:
        for each in told:
            writer.append(each.to_json())
    assert [(each.record, each.outcome) for each in read_run(path)[1]] == [(A, Outcome.DRIFTED), (B, Outcome.CONFORMS)]


def test_a_merge_knows_what_any_of_its_runs_selected() -> None:
    """What one machine lost another has seen; what both lost stays lost."""
    first = replace(RUN, run="1", selected=(A, B)), [Result(A, {}, Outcome.CONFORMS)]
    second = replace(RUN, run="2", selected=(A, C)), [Result(C, {}, Outcome.CONFORMS)]
    third = replace(RUN, run="3", selected=(B,)), [Result(B, {}, Outcome.CONFORMS)]
    shards = [(run, add_missing_results(run, results)) for run, results in (first, second)]
    run, results = merge_runs(shards)
    assert run.selected == (A, B, C)
    assert {each.record for each in results if is_unreported(each)} == {B}
    run, results = merge_runs([*shards, third])
    assert run.selected == (A, B, C)
    assert not any(map(is_unreported, results))


def test_a_merge_knows_under_which_revisions_all_of_its_runs_asked() -> None:
    one, other = (replace(RUN, run=name, revisions={name: "1"}) for name in ("pa", "pc"))
    merged, _ = merge_runs([(one, []), (other, [])])
    assert merged.revisions == {"pa": "1", "pc": "1"}
