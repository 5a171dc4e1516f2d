"""JSON lines: only what a kill can have cut short is forgiven, and everything else is named by its line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from catalog_probe.catalog.files import json_lines

FILE = Path("some.jsonl")
LINES = b'{"a":1}\n\n{"b":"\xc3\xa9"}\n'


def test_each_value_comes_with_its_line() -> None:
    assert list(json_lines.parse_lines(LINES, FILE)) == [("some.jsonl:1", {"a": 1}), ("some.jsonl:3", {"b": "é"})]


@pytest.mark.parametrize("kept", range(len(LINES) + 1))
def test_wherever_it_was_cut_the_whole_lines_remain(kept: int) -> None:
    found = [value for _, value in json_lines.parse_lines(LINES[:kept], FILE)]
    whole = [json.loads(line) for line in LINES[:kept].split(b"\n")[:-1] if line]
    assert found[: len(whole)] == whole
    assert found[len(whole) :] in ([], [{"a": 1}], [{"b": "é"}])  # a line that lost only its end has lost nothing


@pytest.mark.parametrize("raw", [b'{"a":\n', b'{"a":\n{"b":1}\n', b'{"a":1}\n\xff\n', b"{}\nnothing\n{"])
def test_another_broken_line_is_named(raw: bytes) -> None:
    with pytest.raises(json_lines.BrokenLineError, match=r"^some\.jsonl:[12]: broken JSON .*; remove the line$"):
        list(json_lines.parse_lines(raw, FILE))
