"""Several runs of one target are one: what each selected, the better result of a record, the strictest policy."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.catalog.evidence import run_verdict
from catalog_probe.catalog.evidence.completeness import (
    add_missing_results,
    deduplicate_results,
    is_unreported,
    list_missing_shards,
    list_shards,
    merge_shards,
)
from catalog_probe.catalog.evidence.merge import merge_runs
from catalog_probe.catalog.evidence.results import Result, Run
from catalog_probe.catalog.evidence.results_file import EvidenceError, ResultsWriter, read_run
from catalog_probe.catalog.model import Attempt, Outcome, Reason
from catalog_probe.catalog.model.errors import Exit
from tests.harness.exit_status import find_exit_status

if TYPE_CHECKING:
    from pathlib import Path

    from catalog_probe.catalog.model import Json


def run(name: str, **fields: Any) -> Run:
    started = f"2026-11-21T00:00:0{len(name)}Z"
    return Run(**{"run": name, "target": "live", "live": True, "started_at": started, "today": "2026-11-21", **fields})


def merge(*runs: Run) -> Run:
    merged_run, results = merge_runs([(run, []) for run in runs])
    assert results == []
    assert merge_runs([(run, []) for run in reversed(runs)])[0] == merged_run, "the order does not matter"
    return merged_run


def test_its_name_is_that_of_the_first_run_and_the_number_of_others() -> None:
    assert merge(run("a")).run == "a"
    assert merge(run("a"), run("bb"), run("ccc")).run == "a+2"
    assert merge(run("a"), run("a")).run == "a"
    assert merge(run("a", today="2026-11-20"), run("bb", today="2026-11-22")).today == "2026-11-22"


def test_its_policy_has_the_strictest_demands_and_the_merged_shards() -> None:
    cases: list[tuple[list[dict[str, Json]], dict[str, Json]]] = [
        ([{"shard": "1/2", "strict": True}], {"shard": "1/2", "strict": True}),
        ([{"shard": "1/2", "max_cost": "free"}, {"shard": "2/2", "max_cost": "free"}], {"max_cost": "free"}),
        ([{"shard": "2/3"}, {"shard": "1/3"}], {"shard": "1/3 2/3"}),
        ([{"shard": "1/3 2/3"}, {"shard": "3/3"}], {}),
        ([{"shard": "2/2"}, {"shard": "2/2"}], {"shard": "2/2"}),
        ([{"shard": "2/2"}, {"shard": "1/3"}], {"shard": "2/2 1/3"}),
        ([{"shard": "2/2"}, {"shard": "1/3"}, {"shard": "1/2"}], {}),
        ([{"shard": "2/3"}, {}], {}),
        ([{"strict": False}, {"strict": True}], {"strict": True}),
        ([{"depth": "full"}, {"depth": "quick"}], {"depth": "full"}),
        ([{}, {"expect_all": True}], {"expect_all": True}),
        ([{}, {"expect_all": False, "strict": None, "other": 1}], {}),
        (
            [{"stale_accepted_differences": ["b"]}, {}, {"stale_accepted_differences": ["a", "b"]}],
            {"stale_accepted_differences": ["a", "b"]},
        ),
        (
            [{"stale_accepted_addresses": {"pa/errors/general/a": "a"}}, {}, {"stale_accepted_addresses": {"x": "b"}}],
            {"stale_accepted_addresses": {"pa/errors/general/a": "a", "x": "b"}},
        ),
        ([{"stale_accepted_differences": None}, {}], {"stale_accepted_differences": None}),
    ]
    for policies, policy in cases:
        names = ("a", "bb", "ccc")
        assert (
            merge(*(run(name, policy=run_policy) for name, run_policy in zip(names, policies, strict=False))).policy
            == policy
        )


def test_equal_look_ups_of_several_runs_are_kept_once() -> None:
    models, keys = {"provider": "pa", "request": "GET /v1/models"}, {"request": "GET /keys", "provider": "pa"}
    reordered = dict(reversed(models.items()))
    assert merge(run("a", preflight=(models, keys)), run("bb", preflight=(reordered,))).preflight == (models, keys)


def expiration(records: int, **fields: str) -> dict[str, Json]:
    return {
        "provider": "pa",
        "what": "model m",
        "on": "2026-12-01",
        "mend": "name another",
        "records": records,
        **fields,
    }


def test_the_records_of_equal_expirations_are_added_up() -> None:
    cases: list[dict[str, str]] = [{"provider": "pb"}, {"what": "model n"}, {"on": "2026-12-02"}, {"mend": "none"}]
    for difference in cases:
        first = run("a", expirations=(expiration(3), expiration(5, **difference)))
        second = run("bb", expirations=(expiration(2), expiration(5, **difference)))
        expirations = {tuple(sorted(item.items())) for item in merge(first, second).expirations}
        assert expirations == {tuple(sorted(item.items())) for item in (expiration(5), expiration(5, **difference))}


def test_the_earliest_expiration_comes_first() -> None:
    soon, late = expiration(1, on="2026-11-30"), expiration(1)
    assert merge(run("a", expirations=(late,)), run("bb", expirations=(soon,))).expirations == (soon, late)


def test_runs_of_different_targets_cannot_be_merged() -> None:
    with pytest.raises(EvidenceError, match=r"^runs of different targets cannot be one: live, mock, other; merge"):
        merge_runs([(run("a"), []), (run("bb", target="other"), []), (run("ccc", target="mock"), [])])


ORDER = (Exit.FINE, Exit.NOTHING_SELECTED, Exit.DRIFT, Exit.BLIND, Exit.HARNESS_ERROR, Exit.USAGE)
"""From green to red."""

RUN = Run("r", "live", True, "2026-11-21T04:00:00Z", "2026-11-21")
A, B, C = "pa/errors/general/a", "pa/errors/general/b", "pb/errors/general/c"
SELF_TEST = "pa/harness/self_test/inference"
TRIED = (Attempt("", 1.0, ()),)


def results_of(*outcomes: Outcome) -> list[Result]:
    return [
        Result(f"{'pa' if n % 2 else 'pb'}/errors/general/r{n}", {}, outcome, Reason("x"))
        for n, outcome in enumerate(outcomes)
    ]


def test_what_was_selected_and_has_no_result_is_not_reported() -> None:
    described = replace(RUN, selected=(A, B, C))
    reported = Result(B, {}, Outcome.CONFORMS)
    results = add_missing_results(described, [reported])
    assert [result.record for result in results] == [B, A, C]
    assert [is_unreported(result) for result in results] == [False, True, True]
    assert {result.outcome for result in results[1:]} == {Outcome.INCONCLUSIVE}
    reason = Reason("not-reported", "it was selected, and the run ended before it was answered")
    assert [result.reason for result in results] == [None, reason, reason]
    assert add_missing_results(described, results) == results
    assert run_verdict.exit_status(described, [reported]) is Exit.BLIND
    assert run_verdict.exit_status(replace(described, selected=(B,)), [reported]) is Exit.FINE


@given(st.lists(st.sampled_from(Outcome)), st.data(), st.sets(st.sampled_from(["pa", "pb"])))
def test_no_run_becomes_greener_by_leaving_results_out(
    outcomes: list[Outcome], data: st.DataObject, names: set[str]
) -> None:
    results = results_of(*outcomes)
    described = replace(RUN, expected=tuple(sorted(names)), selected=tuple(sorted(result.record for result in results)))
    remaining_results = (
        data.draw(st.lists(st.sampled_from(results), unique_by=lambda result: result.record)) if results else []
    )
    status = run_verdict.exit_status(described, results)
    status_of_part = run_verdict.exit_status(described, remaining_results)
    if len(remaining_results) == len(results):
        assert status_of_part is status
    else:  # the part that was left out may have had our own fault (3); what is left is at least blind
        assert status_of_part in (Exit.BLIND, Exit.HARNESS_ERROR)
        assert status is Exit.HARNESS_ERROR or ORDER.index(status_of_part) >= ORDER.index(status)


@given(st.lists(st.sampled_from(Outcome), min_size=1), st.data(), st.sets(st.sampled_from(["pa", "pb"]), min_size=1))
def test_an_expected_provider_without_any_result_is_blind(
    outcomes: list[Outcome], data: st.DataObject, names: set[str]
) -> None:
    """Also without the selection in a run's first line."""
    results = results_of(*outcomes)
    left_out = data.draw(st.sampled_from(sorted(names)))
    remaining_results = [result for result in results if not result.record.startswith(left_out)]
    assert find_exit_status(remaining_results, *sorted(names)) in (Exit.BLIND, Exit.HARNESS_ERROR)


def test_read_run_adds_missing_results(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    with ResultsWriter(path, replace(RUN, selected=(A, B))) as writer:
        writer.append(Result(A, {}, Outcome.CONFORMS).to_json())
    run, results = read_run(path)
    assert run.selected == (A, B)
    assert [(result.record, is_unreported(result)) for result in results] == [(A, False), (B, True)]


def test_read_run_keeps_one_result_per_record(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    written = [
        Result(A, {}, Outcome.INCONCLUSIVE, Reason("read-timeout"), observed_at="2026-11-21T04:00:02Z"),
        Result(B, {}, Outcome.CONFORMS, observed_at="2026-11-21T04:00:01Z"),
        Result(A, {}, Outcome.DRIFTED, observed_at="2026-11-21T04:00:01Z"),
        Result(B, {}, Outcome.CONFORMS, observed_at="2026-11-21T04:00:01Z"),
    ]
    with ResultsWriter(path, replace(RUN, selected=(A, B))) as writer:
        for result in written:
            writer.append(result.to_json())
    assert [(result.record, result.outcome) for result in read_run(path)[1]] == [
        (B, Outcome.CONFORMS),
        (A, Outcome.DRIFTED),
    ], "the last line of each record, where it is; a line that says the same again is not written"


def test_a_merge_has_the_selections_of_all_its_runs() -> None:
    """A record that one machine lost may be in another's results. One that all lost stays unreported."""
    first = replace(RUN, run="1", selected=(A, B)), [Result(A, {}, Outcome.CONFORMS)]
    second = replace(RUN, run="2", selected=(A, C)), [Result(C, {}, Outcome.CONFORMS)]
    third = replace(RUN, run="3", selected=(B,)), [Result(B, {}, Outcome.CONFORMS)]
    shards = [(run, add_missing_results(run, results)) for run, results in (first, second)]
    run, results = merge_runs(shards)
    assert run.selected == (A, B, C)
    assert {result.record for result in results if is_unreported(result)} == {B}
    run, results = merge_runs([*shards, third])
    assert run.selected == (A, B, C)
    assert not any(map(is_unreported, results))


def test_a_merge_has_the_revisions_of_all_its_runs() -> None:
    first, second = (replace(RUN, run=name, revisions={name: "1"}) for name in ("pa", "pc"))
    merged, _ = merge_runs([(first, []), (second, [])])
    assert merged.revisions == {"pa": "1", "pc": "1"}


def make_result(outcome: Outcome, at: str = "", record: str = A, *, tried: bool = False, detail: str = "") -> Result:
    reason = Reason("budget", detail) if detail else None
    return Result(record, {}, outcome, reason, attempts=TRIED if tried else (), observed_at=at)


def test_of_two_results_the_better_is_kept_in_any_order() -> None:
    pairs: list[tuple[Result, Result]] = [
        (make_result(Outcome.CONFORMS, "1"), make_result(Outcome.INCONCLUSIVE, "2", tried=True)),
        (make_result(Outcome.DRIFTED, "1"), make_result(Outcome.HARNESS_ERROR, "2")),
        (make_result(Outcome.INCONCLUSIVE, "1", tried=True), make_result(Outcome.INCONCLUSIVE, "2")),
        (make_result(Outcome.DRIFTED, "2", tried=True), make_result(Outcome.CONFORMS, "1", tried=True)),
        (make_result(Outcome.NOT_PROBED, detail="b"), make_result(Outcome.NOT_PROBED, detail="a")),
        (make_result(Outcome.HARNESS_ERROR, "1", SELF_TEST), make_result(Outcome.DRIFTED, "2", SELF_TEST, tried=True)),
        (make_result(Outcome.DRIFTED, "2", SELF_TEST), make_result(Outcome.CONFORMS, "1", SELF_TEST)),
    ]
    for better_and_worse in pairs:
        for order in permutations(better_and_worse):
            assert deduplicate_results(order) == [better_and_worse[0]]


def test_a_result_takes_the_place_of_the_first_of_its_record() -> None:
    records = [f"pa/errors/general/{slug}" for slug in "cab"]
    results = [make_result(Outcome.CONFORMS, at, record) for at in "12" for record in records]
    assert deduplicate_results(results) == results[3:]


def test_shards_of_a_policy() -> None:
    cases: list[tuple[dict[str, Any], tuple[str, ...], tuple[str, ...]]] = [
        ({}, (), ()),
        ({"shard": None}, (), ()),
        ({"shard": "1/1"}, ("1/1",), ()),
        ({"shard": "2/3"}, ("2/3",), ("1/3", "3/3")),
        ({"shard": "1/2 2/2"}, ("1/2", "2/2"), ()),
        ({"shard": "10/10 2/3"}, ("10/10", "2/3"), ("1/3", "3/3", *(f"{number}/10" for number in range(1, 10)))),
    ]
    for policy, present, missing in cases:
        assert (list_shards(policy), list_missing_shards(policy)) == (present, missing)


def test_merged_shards_are_listed_until_they_are_the_whole() -> None:
    cases: list[tuple[list[str | None], str | None]] = [
        (["1/2", "2/2"], None),
        (["1/2", None], None),
        (["2/3", "1/3", "2/3"], "1/3 2/3"),
        (["1/3 2/3", "3/3"], None),
        (["1/2", "2/3"], "1/2 2/3"),
        (["1/2", "2/2", "1/3"], None),
    ]
    for shards, merged in cases:
        assert merge_shards({"shard": shard} for shard in shards) == merged
