"""The journal of what probes made: lines that an earlier version wrote are read as they were meant."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from probes.calls.body import NO_BODY, Body, Content, JsonBody
from probes.calls.call import LANE_KEY, delete, post
from probes.commands import cleanup
from probes.running import journal
from probes.running.journal import Journal, JournalError
from probes.target.target import Target

EARLIER = (
    '{"id":"0badc0ffee00","state":"making","record":"pa/endpoints/files/get_file","target":"night","provider":"pa",'
    '"address":"https://pa.example","role":"inference","request":"POST /v1/files","at":"2026-11-01T02:00:00Z"}\n'
    '{"id":"0badc0ffee00","state":"made","role":"inference","removal":{"method":"DELETE","path":"/v1/files/file_1",'
    '"service":"base_url","headers":{"pa-beta":"files"},"query":[["force","true"]]%s}}\n'
)


@pytest.mark.parametrize(
    "written, body",
    [
        ("", NO_BODY),
        (',"json":{"a":[1]}', JsonBody({"a": [1]})),
        (',"json":null', JsonBody(None)),
        (',"content":"AP8="', Content(b"\x00\xff")),
    ],
    ids=["none", "object", "null", "bytes"],
)
def test_what_an_earlier_run_wrote_can_still_be_removed(tmp_path: Path, written: str, body: Body) -> None:
    path = tmp_path / journal.NAME
    path.write_text(EARLIER % written)
    (made,) = journal.left(path)
    how = delete("/v1/files/file_1", headers={"pa-beta": "files"}, query=(("force", "true"),)).but(body=body)
    assert (made.removal, made.role) == (how, "inference")
    assert made.removal is not None
    assert made.removal.credential is LANE_KEY


@pytest.mark.parametrize(
    "body, written",
    [(NO_BODY, {}), ({"a": 1}, {"json": {"a": 1}}), (Content(b"\x00\xff"), {"content": "AP8="})],
    ids=["none", "object", "bytes"],
)
def test_lines_are_written_as_earlier_versions_wrote_them(
    tmp_path: Path, body: object, written: dict[str, object]
) -> None:
    path = tmp_path / journal.NAME
    Journal(path, "night").made("0badc0ffee00", post("/v1/x/archive", body, credential="admin"), "admin")
    line = {"method": "POST", "path": "/v1/x/archive", "service": "base_url", "headers": {}, "query": [], **written}
    assert json.loads(path.read_text()) == {"id": "0badc0ffee00", "state": "made", "role": "admin", "removal": line}


def noted(path: Path, count: int) -> list[str]:
    """Note so many things; their records."""
    written = Journal(path, "night")
    for number in range(count):
        made = written.making(
            f"pa/endpoints/files/f{number}", "pa", "https://pa.example", "inference", "POST /v1/files"
        )
        written.made(made, delete(f"/v1/files/file_{number}"), "inference")
    return [f"pa/endpoints/files/f{number}" for number in range(count)]


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "half a line": lambda line: line[: len(line) // 2] + b"\n",
    "NUL bytes": lambda line: b"\0" * 64 + line,
    "not UTF-8": lambda line: b"\xff\xfe" + line,
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_is_readable_of_a_damaged_journal_is_used_and_the_rest_named(tmp_path: Path, damage: str) -> None:
    path = tmp_path / journal.NAME
    records = noted(path, 3)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:2], DAMAGES[damage](lines[2]), *lines[3:]]))
    left_out: list[str] = []
    assert [each.record for each in journal.left(path, left_out)] == [records[0], records[2]]
    assert [each.partition(": ")[0] for each in left_out] == [f"{path}:3"]
    with pytest.raises(JournalError, match="remove the line"):
        journal.left(path)


@pytest.mark.parametrize("change", [b"\r\n", b"\n\n"])
def test_other_ends_of_lines_and_a_mark_before_them_do_no_harm(tmp_path: Path, change: bytes) -> None:
    path = tmp_path / journal.NAME
    records = noted(path, 2)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", change))
    assert [each.record for each in journal.left(path)] == records


def test_a_line_that_was_cut_short_takes_none_with_it_that_comes_later(tmp_path: Path) -> None:
    path = tmp_path / journal.NAME
    noted(path, 1)
    path.write_bytes(path.read_bytes()[:-9])
    (half,) = journal.left(path)
    assert half.removal is None
    Journal(path, "night").ended(half.id, "looked for by hand")
    left_out: list[str] = []
    assert journal.left(path, left_out) == []
    assert len(left_out) == 1


def test_a_damaged_journal_keeps_no_other_from_being_cleaned(tmp_path: Path) -> None:
    first, second = tmp_path / "1.jsonl", tmp_path / "2.jsonl"
    noted(first, 1)
    first.write_text('{"id": "x", "state": "made"}\n[1]\n{"id": "a", "state": "making"}\n{"id":"a","state":"made"}\n')
    second.write_bytes(b"{\n" + EARLIER.encode().splitlines(keepends=True)[0])
    target = Target("night", live=True, allow=frozenset(), providers={})
    told = [each.line for each in cleanup.clean([first, second], target)]
    assert [each.partition(": ")[0] for each in told] == ["kept", "left out", "by hand"]
    assert f"{first}:4" in told[0]
    assert f"{second}:1" in told[1]
