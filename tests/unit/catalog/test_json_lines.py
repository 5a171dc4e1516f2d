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


def test_complete_lines_of_a_cut_file_are_read() -> None:
    for size in range(len(LINES) + 1):
        values = [value for _, value in json_lines.parse_lines(LINES[:size], FILE)]
        complete_values = [json.loads(line) for line in LINES[:size].split(b"\n")[:-1] if line]
        assert values[: len(complete_values)] == complete_values, size
        assert values[len(complete_values) :] in (
            [],
            [{"a": 1}],
            [{"b": "é"}],
        ), size  # a line that lost only its end has lost nothing


def test_another_broken_line_is_named(subtests: pytest.Subtests) -> None:
    raws: list[bytes] = [b'{"a":\n', b'{"a":\n{"b":1}\n', b'{"a":1}\n\xff\n', b"{}\nnothing\n{"]
    for raw in raws:
        expected = r"^some\.jsonl:[12]: broken JSON .*; remove the line$"
        with subtests.test(repr(raw)), pytest.raises(json_lines.BrokenLineError, match=expected):
            list(json_lines.parse_lines(raw, FILE))
