"""Several runs of one target, merged: name, policy, preflight and expirations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from catalog_probe.catalog.evidence.results import Run
from catalog_probe.catalog.evidence.results_file import EvidenceError
from catalog_probe.catalog.evidence.verdicts.merge import merge_runs

if TYPE_CHECKING:
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
