"""What benchmarks measure with: a generated home that the check accepts, and a provider that is as it says."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from benchmarks.generated import CONTROL, ENDPOINT, NAME, answers, items, write_home
from catalog_probe.catalog.check import validate
from catalog_probe.catalog.files import provider_folders
from catalog_probe.probes.recipes import book

if TYPE_CHECKING:
    from pathlib import Path

NUMBER = 101
"""More than one file of records."""


def test_a_generated_home_is_sound_and_each_record_has_a_recipe(tmp_path: Path) -> None:
    try:
        (records,) = provider_folders.use(write_home(tmp_path, NUMBER))
        assert validate.check(records) == []
        assert book.recipe_book(NAME).recipes.keys() == {ENDPOINT, *(each.address for each in items(NUMBER))}
    finally:
        provider_folders.use(None)


def test_the_provider_answers_as_the_records_say() -> None:
    told = answers(NUMBER)
    assert told.keys() == {CONTROL.encode(), *(each.path.encode() for each in items(NUMBER))}
    for each in items(NUMBER):
        head, _, body = told[each.path.encode()].partition(b"\r\n\r\n")
        assert head.startswith(f"HTTP/1.1 {each.record['http_status']} ".encode())
        error = json.loads(body)["error"]
        assert (error["type"], error["code"]) == (each.record["type"], each.record["code"])


@pytest.mark.parametrize("what", ["slug", "code", "address"])
def test_no_two_items_are_alike(what: str) -> None:
    assert len({getattr(each, what) for each in items(NUMBER)}) == NUMBER
