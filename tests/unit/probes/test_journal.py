"""The journal of created resources: entries, versions, and damaged files."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from catalog_probe.cli import cleanup
from catalog_probe.probes.running import journal
from catalog_probe.probes.running.journal import Journal, JournalError
from catalog_probe.probes.targets.target import Target
from catalog_probe.probes.wire.redaction import Redactor

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

KEY = "canary-key-of-nobody"


def test_entry_has_the_resource_and_no_request(tmp_path: Path) -> None:
    path = tmp_path / journal.FILE_NAME
    writer = Journal(path, "night", str)
    started = writer.begin("pa/endpoints/files/f", "pa", "https://pa.example", "inference", "POST /v1/files")
    writer.complete(started, "file", "file_1", "inference", KEY)
    (entry,) = journal.read_entries(path)
    assert (entry.removal, entry.resource, entry.mac) == ("file", "file_1", entry.compute_mac(KEY))
    assert KEY not in path.read_text()
    _, line = map(json.loads, path.read_text().splitlines())
    assert line == {
        "id": started.id,
        "state": "made",
        "role": "inference",
        "removal": "file",
        "resource": "file_1",
        "mac": entry.mac,
    }


def test_id_that_contains_a_key_is_hidden(tmp_path: Path) -> None:
    path = tmp_path / journal.FILE_NAME
    writer = Journal(path, "night", Redactor({KEY: "${KEY}"}).redact_text)
    started = writer.begin("pa/endpoints/files/f", "pa", "https://pa.example", "inference", "POST /v1/files")
    writer.complete(started, "file", f"file_{KEY}", "inference", KEY)
    (entry,) = journal.read_entries(path)
    assert entry.resource == "[hidden: contains ${KEY}]"
    assert entry.mac != entry.compute_mac(KEY)


def test_edited_entry_has_another_mac(tmp_path: Path, subtests: pytest.Subtests) -> None:
    write_entries(tmp_path / journal.FILE_NAME, 1)
    (entry,) = journal.read_entries(tmp_path / journal.FILE_NAME)
    assert entry.mac == entry.compute_mac(KEY)
    assert entry.mac != entry.compute_mac("another-key-of-nobody")
    for field in ("target", "provider", "address", "record", "role", "removal", "resource"):
        with subtests.test(field=field):
            edited = replace(entry, **{field: "other"})
            assert entry.mac != edited.compute_mac(KEY)


def test_journal_of_another_version_is_refused(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """Version 1 kept whole requests: a path in it could lead a key to another host."""
    cases: list[str] = ["", '"schema":1,', '"schema":3,', '"schema":"2",', '"schema":null,']
    for schema in cases:
        with subtests.test(schema=schema):
            path = tmp_path / journal.FILE_NAME
            write_entries(path, 1)
            old = '{"id":"0badc0ffee00","state":"making","record":"pa/endpoints/files/get_file","target":"night"}\n'
            removal = '{"method":"DELETE","path":"@other.example/x","service":"base_url","headers":{},"query":[]}'
            old += f'{{"id":"0badc0ffee00","state":"made","role":"inference","removal":{removal}}}\n'
            path.write_text(path.read_text() + old.replace("{", "{" + schema, 1))
            with pytest.raises(JournalError, match=r"another version of this tool: schema .* remove the file"):
                journal.read_open_entries(path)


def write_entries(path: Path, count: int) -> list[str]:
    """Write this many completed entries; return their records."""
    writer = Journal(path, "night", str)
    for number in range(count):
        entry = writer.begin(f"pa/endpoints/files/f{number}", "pa", "https://pa.example", "inference", "POST /v1/files")
        writer.complete(entry, "file", f"file_{number}", "inference", KEY)
    return [f"pa/endpoints/files/f{number}" for number in range(count)]


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "half a line": lambda line: line[: len(line) // 2] + b"\n",
    "NUL bytes": lambda line: b"\0" * 64 + line,
    "not UTF-8": lambda line: b"\xff\xfe" + line,
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_lines_are_named_and_skipped(tmp_path: Path, damage: str) -> None:
    path = tmp_path / journal.FILE_NAME
    records = write_entries(path, 3)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:2], DAMAGES[damage](lines[2]), *lines[3:]]))
    left_out: list[str] = []
    assert [entry.record for entry in journal.read_open_entries(path, left_out)] == [records[0], records[2]]
    assert [line.partition(": ")[0] for line in left_out] == [f"{path}:3"]
    with pytest.raises(JournalError, match="remove the line"):
        journal.read_open_entries(path)


@pytest.mark.parametrize("change", [b"\r\n", b"\n\n"])
def test_other_line_ends_and_byte_order_mark_are_read(tmp_path: Path, change: bytes) -> None:
    path = tmp_path / journal.FILE_NAME
    records = write_entries(path, 2)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", change))
    assert [entry.record for entry in journal.read_open_entries(path)] == records


def test_line_cut_short_leaves_later_lines(tmp_path: Path) -> None:
    path = tmp_path / journal.FILE_NAME
    write_entries(path, 1)
    path.write_bytes(path.read_bytes()[:-9])
    (incomplete,) = journal.read_open_entries(path)
    assert incomplete.removal == ""
    Journal(path, "night", str).end(incomplete, "looked for by hand")
    left_out: list[str] = []
    assert journal.read_open_entries(path, left_out) == []
    assert len(left_out) == 1


def test_damaged_journal_does_not_stop_the_cleanup_of_others(tmp_path: Path) -> None:
    first, second = tmp_path / "1.jsonl", tmp_path / "2.jsonl"
    write_entries(first, 1)
    made_line = '{"schema":2,"id":"a","state":"making"}\n'
    first.write_text('{"id": "x", "state": "made"}\n[1]\n' + made_line + '{"id":"a","state":"made"}\n')
    second.write_text("{\n" + made_line)
    target = Target("night", live=True, allow=frozenset(), providers={})
    lines = [line.line for line in cleanup.clean_up([first, second], target)]
    assert [line.partition(": ")[0] for line in lines] == ["kept", "left out", "by hand"]
    assert f"{first}:4" in lines[0]
    assert f"{second}:1" in lines[1]


def test_link_in_place_of_a_journal_is_not_followed(tmp_path: Path) -> None:
    elsewhere, link = tmp_path / "elsewhere", tmp_path / "run" / journal.FILE_NAME
    (record,) = write_entries(elsewhere, 1)
    link.parent.mkdir()
    link.symlink_to(elsewhere)
    (path,) = cleanup.find_journals([str(link.parent)], tmp_path)
    (result,) = cleanup.clean_up([path], Target("night", live=True, allow=frozenset(), providers={}))
    assert result.line == f"kept: {link}: it is a link, and a link is not followed; name a run's folder"
    with pytest.raises(JournalError, match="it is a link"):
        Journal(link, "night", str).begin(record, "pa", "", "inference", "POST /v1/files")
    assert len(journal.read_entries(elsewhere)) == 1
    elsewhere.unlink()
    with pytest.raises(JournalError, match="it is a link"):
        journal.read_open_entries(link)
