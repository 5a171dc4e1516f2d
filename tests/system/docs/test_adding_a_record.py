"""The page on adding a record shows what is really there."""

from __future__ import annotations

import json
import re
from pathlib import Path

from catalog_probe.catalog.files.store import Catalog

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "adding-a-record.md").read_text(encoding="utf-8")


def test_the_record_shown_is_an_excerpt_of_the_shipped_one() -> None:
    [block] = re.findall(r"^```json\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    [(slug, shown)] = json.loads(block).items()
    record = Catalog.load()[f"pa/errors/general/{slug}"].data
    headers = shown.pop("response_headers")
    assert shown == {key: record[key] for key in shown}
    assert headers == {key: record["response_headers"][key] for key in headers}
    assert [key for key in record if key in shown] == list(shown), "in the canonical order"


def test_the_recipes_shown_are_in_modules_of_recipes() -> None:
    modules = [path.read_text(encoding="utf-8") for path in (ROOT / "probes" / "recipes").rglob("*.py")]
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 4
    assert [block for block in blocks if not any(block.strip() in module for module in modules)] == []


def test_the_rows_of_the_example_are_in_the_facts() -> None:
    facts = (ROOT / "catalog" / "facts" / "pa.tsv").read_text(encoding="utf-8")
    assert "\t402 payment problem\tA payment problem gives 402\t" in facts
