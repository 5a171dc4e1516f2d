"""What several runs of one target become as one: what each demands, has looked up and rests on, told once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from catalog_probe.catalog.evidence.results import Run
from catalog_probe.catalog.evidence.results_file import EvidenceError
from catalog_probe.catalog.evidence.verdicts.merge import merge_runs

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Json


def run(name: str, **said: Any) -> Run:
    started = f"2026-11-21T00:00:0{len(name)}Z"
    return Run(**{"run": name, "target": "live", "live": True, "started_at": started, "today": "2026-11-21", **said})


def merged(*runs: Run) -> Run:
    described, results = merge_runs([(each, []) for each in runs])
    assert results == []
    assert merge_runs([(each, []) for each in reversed(runs)])[0] == described, "in whatever order they come"
    return described


def test_it_is_named_after_the_first_and_after_how_many_more_there_are() -> None:
    assert merged(run("a")).run == "a"
    assert merged(run("a"), run("bb"), run("ccc")).run == "a+2"
    assert merged(run("a"), run("a")).run == "a"
    assert merged(run("a", today="2026-11-20"), run("bb", today="2026-11-22")).today == "2026-11-22"


@pytest.mark.parametrize(
    ("policies", "policy"),
    [
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
    ],
)
def test_it_demands_what_any_of_them_does_and_is_the_share_that_they_are_together(
    policies: list[dict[str, Json]], policy: dict[str, Json]
) -> None:
    names = ("a", "bb", "ccc")
    assert merged(*(run(name, policy=each) for name, each in zip(names, policies, strict=False))).policy == policy


def test_what_several_looked_up_alike_is_told_once() -> None:
    models, keys = {"provider": "pa", "request": "GET /v1/models"}, {"request": "GET /keys", "provider": "pa"}
    again = dict(reversed(models.items()))
    assert merged(run("a", preflight=(models, keys)), run("bb", preflight=(again,))).preflight == (models, keys)


def ending(records: int, **said: str) -> dict[str, Json]:
    return {"provider": "pa", "what": "model m", "on": "2026-12-01", "mend": "name another", "records": records, **said}


@pytest.mark.parametrize(
    "other", [{"provider": "pb"}, {"what": "model n"}, {"on": "2026-12-02"}, {"mend": "none"}], ids=str
)
def test_of_what_ends_the_records_of_all_shards_are_counted(other: dict[str, str]) -> None:
    first = run("a", expirations=(ending(3), ending(5, **other)))
    second = run("bb", expirations=(ending(2), ending(5, **other)))
    found = {tuple(sorted(each.items())) for each in merged(first, second).expirations}
    assert found == {tuple(sorted(each.items())) for each in (ending(5), ending(5, **other))}


def test_what_ends_first_is_told_first() -> None:
    soon, late = ending(1, on="2026-11-30"), ending(1)
    assert merged(run("a", expirations=(late,)), run("bb", expirations=(soon,))).expirations == (soon, late)


def test_runs_of_different_targets_are_not_one() -> None:
    with pytest.raises(EvidenceError, match=r"^runs of different targets cannot be one: live, mock, other; merge"):
        merge_runs([(run("a"), []), (run("bb", target="other"), []), (run("ccc", target="mock"), [])])
