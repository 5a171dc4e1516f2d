"""What benchmarks measure with: a generated home that `catalog check` accepts, and a provider that is as it says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.generated import CONTROL, ENDPOINT, NAME, answers, items, write_home
from benchmarks.limited import ROLES, TOKENS, Asked, write_limited_home
from catalog.check import validate
from catalog.model import homes
from catalog.reading.rate_limits import rate_limits
from catalog.reading.store import Catalog
from mockserver.buckets import TokenBucket
from probes.elicit import book

NUMBER = 101
"""More than one file of records."""


def test_a_generated_home_is_sound_and_each_record_has_a_recipe(tmp_path: Path) -> None:
    try:
        (records,) = homes.use(write_home(tmp_path, NUMBER))
        assert validate.check(records) == []
        assert book.book(NAME).recipes.keys() == {ENDPOINT, *(each.address for each in items(NUMBER))}
    finally:
        homes.use(None)


def test_the_provider_answers_as_the_records_say() -> None:
    told = answers(NUMBER)
    assert told.keys() == {CONTROL.encode(), *(each.path.encode() for each in items(NUMBER))}
    for each in items(NUMBER):
        head, _, body = told[each.path.encode()].partition(b"\r\n\r\n")
        assert head.startswith(f"HTTP/1.1 {each.record['http_status']} ".encode())
        error = json.loads(body)["error"]
        assert (error["type"], error["code"]) == (each.record["type"], each.record["code"])


def test_a_limited_home_is_sound_and_documents_its_limit(tmp_path: Path) -> None:
    try:
        (records,) = homes.use(write_limited_home(tmp_path, NUMBER, 600))
        assert validate.check(records) == []
        recipes = book.book(NAME).recipes.values()
        assert {each.credential for each in recipes} == set(ROLES)
        assert {each.tokens for each in recipes} == {TOKENS}
        (documented,) = Catalog.load(records).select(kind="rate_limits")
        group = rate_limits(documented).group_of("GET", next(items(1)).path)
        assert group is not None
        assert group.per_minute == 600
        assert {each.counts for each in rate_limits(documented).gauges} == {"requests", "tokens"}
    finally:
        homes.use(None)


def test_the_limited_provider_counts_what_it_refuses() -> None:
    asked = Asked(TokenBucket(60, 1), TokenBucket(1_000))
    told = [asked.admit() for _ in range(3)]
    assert told[0] is not None
    assert b"x-ratelimit-remaining-requests: 0" in told[0]
    assert b"x-ratelimit-remaining-tokens: 990" in told[0]
    assert told[1:] == [None, None]
    assert asked.summary.items() >= {"requests": 3, "refused": 2, "most_in_a_second": 3}.items()


@pytest.mark.parametrize("what", ["slug", "code", "address"])
def test_no_two_items_are_alike(what: str) -> None:
    assert len({getattr(each, what) for each in items(NUMBER)}) == NUMBER
