"""A file of accepted differences follows its schema or is refused in one line."""

from __future__ import annotations

import copy
import json
import sys
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import strategies as st

from catalog_probe.catalog.files.schema_messages import find_complaints
from catalog_probe.catalog.files.schemas import schemas
from catalog_probe.catalog.model.errors import CatalogError
from catalog_probe.catalog.writeback import accepted_differences

if TYPE_CHECKING:
    from pathlib import Path

    from catalog_probe.catalog.model import Json

SCHEMA = schemas()["urn:catalog:accepted_differences"]
ENTRY: dict[str, Json] = {
    "address": "pa/errors/general/rate_limit_error",
    "target": "live",
    "assertions": ["answer/status", "answer/header:retry-after"],
    "reason": "known since May",
    "first_seen": "2026-05-01",
    "review_by": "2026-12-31",
}

ODD_VALUES: tuple[Json, ...] = (
    None,
    True,
    0,
    1.5,
    10**400,
    "",
    "words",
    "status",
    "status\n",
    "header:",
    "header:a\nb",
    "colour:x",
    "*/*",
    "answer/status:",
    "answer/body:/a\n",
    "2026-02-30",
    "20260501",
    "2026-W01-1",
    "2026-05-01\n",
    "٢٠٢٦-05-01",
    "pa/errors/general/x\n",
    "pa/error/general/x",
    [],
    [[]],
    ["status", 3],
    ["answer/status", "x"],
    {},
    {"a": 1},
)
FIELDS = (*ENTRY, "ticket", "adress", "x\ny")


def make_changed_entries(field: str, value: Json, *, remove: bool, in_list: bool) -> list[Json]:
    entry = copy.deepcopy(ENTRY)
    if remove:
        entry.pop(field, None)
    elif in_list and isinstance(entry.get(field), list):
        entry[field][0] = value
    else:
        entry[field] = value
    return [copy.deepcopy(ENTRY), entry]


CHANGES = st.builds(
    lambda field, value, remove, in_list: make_changed_entries(field, value, remove=remove, in_list=in_list),
    st.sampled_from(FIELDS),
    st.sampled_from(ODD_VALUES) | st.text(max_size=12),
    st.booleans(),
    st.booleans(),
)


def find_refusal(tmp_path: Path, content: Json) -> str | None:
    """What a reader says to it, or None if it follows the schema."""
    path = tmp_path / "divergences.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    try:
        accepted_differences.load_entries(path)
    except CatalogError as error:
        return str(error)
    return None


def test_a_changed_entry_is_read_or_refused_in_one_line_with_its_location(tmp_path: Path) -> None:
    wrong = []
    for field, odd in product(FIELDS, ODD_VALUES):
        content = make_changed_entries(field, odd, remove=False, in_list=False)
        refusal = find_refusal(tmp_path, content)
        if refusal is None or "twice" in refusal or "is not JSON" in refusal:
            is_right = find_complaints(content, SCHEMA) == []
        else:
            is_right = "divergences.json:$[1]" in refusal and len(refusal.splitlines()) == 1
        wrong += [] if is_right else [(field, odd, refusal)]
    assert wrong == []


def test_a_value_too_deep_to_print_has_a_complaint() -> None:
    value: list[Json] = []
    for _ in range(sys.getrecursionlimit() * 100):
        value = [value]
    [complaint] = find_complaints(value, {"type": "string"})
    assert complaint.message.startswith(("is nested too deep", "is [[["))  # how deep is too deep, each Python says


def test_a_deep_file_is_refused_in_one_line(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for depth in [50, 300, 900, 5000, 100_000]:
        with subtests.test(repr(depth)):
            path = tmp_path / "divergences.json"
            path.write_text("[" * depth + "]" * depth)
            with pytest.raises(CatalogError) as caught:
                accepted_differences.load_entries(path)
            assert len(str(caught.value).splitlines()) == 1


def test_an_unknown_field_is_refused_with_the_nearest_field(tmp_path: Path) -> None:
    content: list[dict[str, Any]] = [{**ENTRY, "reviewby": "2026-12-31"}]
    refusal = find_refusal(tmp_path, content) or ""
    assert refusal.endswith("divergences.json:$[0]: 'reviewby' is no field here; did you mean review_by?")
