"""The shards that a run holds by its policy, and those that are missing."""

from __future__ import annotations

from typing import Any

from catalog_probe.catalog.evidence.shards import list_missing_shards, list_shards, merge_shards


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
