"""The shards that a run holds by its policy, and those that are missing."""

from __future__ import annotations

from typing import Any

import pytest

from catalog_probe.catalog.evidence.shards import list_missing_shards, list_shards, merge_shards


@pytest.mark.parametrize(
    ("policy", "present", "missing"),
    [
        ({}, (), ()),
        ({"shard": None}, (), ()),
        ({"shard": "1/1"}, ("1/1",), ()),
        ({"shard": "2/3"}, ("2/3",), ("1/3", "3/3")),
        ({"shard": "1/2 2/2"}, ("1/2", "2/2"), ()),
        ({"shard": "10/10 2/3"}, ("10/10", "2/3"), ("1/3", "3/3", *(f"{number}/10" for number in range(1, 10)))),
    ],
)
def test_shards_of_a_policy(policy: dict[str, Any], present: tuple[str, ...], missing: tuple[str, ...]) -> None:
    assert (list_shards(policy), list_missing_shards(policy)) == (present, missing)


@pytest.mark.parametrize(
    ("shards", "merged"),
    [
        (["1/2", "2/2"], None),
        (["1/2", None], None),
        (["2/3", "1/3", "2/3"], "1/3 2/3"),
        (["1/3 2/3", "3/3"], None),
        (["1/2", "2/3"], "1/2 2/3"),
        (["1/2", "2/2", "1/3"], None),
    ],
)
def test_merged_shards_are_listed_until_they_are_the_whole(shards: list[str | None], merged: str | None) -> None:
    assert merge_shards({"shard": shard} for shard in shards) == merged
