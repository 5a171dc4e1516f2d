"""JSON lines: a line cut by a kill is skipped, and any other mistake is named by its line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from catalog_probe.catalog.files import json_lines

FILE = Path("some.jsonl")
LINES = b'{"a":1}\n\n{"b":"\xc3\xa9"}\n'


def test_each_value_comes_with_its_line() -> None:
    assert list(json_lines.parse_lines(LINES, FILE)) == [("some.jsonl:1", {"a": 1}), ("some.jsonl:3", {"b": "é"})]


@pytest.mark.parametrize("size", range(len(LINES) + 1))
def test_complete_lines_of_a_cut_file_are_read(size: int) -> None:
    values = [value for _, value in json_lines.parse_lines(LINES[:size], FILE)]
    complete_values = [json.loads(line) for line in LINES[:size].split(b"\n")[:-1] if line]
    assert values[: len(complete_values)] == complete_values
    assert values[len(complete_values) :] in (
        [],
        [{"a": 1}],
        [{"b": "é"}],
    )  # a line that lost only its end has lost nothing


@pytest.mark.parametrize("raw", [b'{"a":\n', b'{"a":\n{"b":1}\n', b'{"a":1}\n\xff\n', b"{}\nnothing\n{"])
def test_another_broken_line_is_named(raw: bytes) -> None:
    with pytest.raises(json_lines.BrokenLineError, match=r"^some\.jsonl:[12]: broken JSON .*; remove the line$"):
        list(json_lines.parse_lines(raw, FILE))
