"""The benchmarks' generated provider folder passes the check, and its provider answers as documented."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from benchmarks.generated import CONTROL, ENDPOINT, NAME, answers, items, write_home
from catalog_probe.catalog.check import validate
from catalog_probe.catalog.files import provider_folders
from catalog_probe.probes.recipes import book

if TYPE_CHECKING:
    from pathlib import Path

# More than one file of records.
NUMBER = 101


def test_generated_folder_passes_the_check_and_has_all_recipes(tmp_path: Path) -> None:
    try:
        (records,) = provider_folders.use(write_home(tmp_path, NUMBER))
        assert validate.check_catalog(records) == []
        assert book.recipe_book(NAME).recipes.keys() == {ENDPOINT, *(item.address for item in items(NUMBER))}
    finally:
        provider_folders.use(None)


def test_provider_answers_as_documented() -> None:
    answer_by_path = answers(NUMBER)
    assert answer_by_path.keys() == {CONTROL.encode(), *(item.path.encode() for item in items(NUMBER))}
    for item in items(NUMBER):
        head, _, body = answer_by_path[item.path.encode()].partition(b"\r\n\r\n")
        assert head.startswith(f"HTTP/1.1 {item.record['http_status']} ".encode())
        error = json.loads(body)["error"]
        assert (error["type"], error["code"]) == (item.record["type"], item.record["code"])


def test_items_differ() -> None:
    for field in ["slug", "code", "address"]:
        assert len({getattr(item, field) for item in items(NUMBER)}) == NUMBER
