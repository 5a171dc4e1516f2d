"""Which shares a run holds and which are missing, as its policy says; together they may be the whole."""

from __future__ import annotations

from typing import Any

import pytest

from catalog_probe.catalog.evidence.shards import list_missing_shards, list_shards, merge_shards


@pytest.mark.parametrize(
    ("policy", "there", "gone"),
    [
        ({}, (), ()),
        ({"shard": None}, (), ()),
        ({"shard": "1/1"}, ("1/1",), ()),
        ({"shard": "2/3"}, ("2/3",), ("1/3", "3/3")),
        ({"shard": "1/2 2/2"}, ("1/2", "2/2"), ()),
        ({"shard": "10/10 2/3"}, ("10/10", "2/3"), ("1/3", "3/3", *(f"{each}/10" for each in range(1, 10)))),
    ],
)
def test_a_run_says_which_shares_it_holds(
    policy: dict[str, Any], there: tuple[str, ...], gone: tuple[str, ...]
) -> None:
    assert (list_shards(policy), list_missing_shards(policy)) == (there, gone)


@pytest.mark.parametrize(
    ("shares", "said"),
    [
        (["1/2", "2/2"], None),
        (["1/2", None], None),
        (["2/3", "1/3", "2/3"], "1/3 2/3"),
        (["1/3 2/3", "3/3"], None),
        (["1/2", "2/3"], "1/2 2/3"),
        (["1/2", "2/2", "1/3"], None),
    ],
)
def test_runs_together_hold_the_shares_of_each_until_they_are_the_whole(
    shares: list[str | None], said: str | None
) -> None:
    assert merge_shards({"shard": each} for each in shares) == said
