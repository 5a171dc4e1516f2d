"""The journal of what probes made on an account.

It survives a crash of the run, and contains no request to send.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.files import file_formats
from catalog_probe.catalog.model.clock import format_utc_now
from catalog_probe.catalog.model.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from catalog_probe.catalog.model import Json

FILE_NAME = "made.jsonl"

# Version of the lines. Version 1 kept whole requests and is refused: whoever writes it would decide what is sent.
SCHEMA = 2


class JournalError(UserError):
    """A journal cannot be read or written: one line saying which, and what to do."""


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """One thing that a probe set out to make.

    `removal` is the name under which the provider's recipes declare its removal, and `resource` its id. Both are empty
    if they are not known: the process ended, or the connection broke, between the request and its answer. `ended` says
    how it left the account, and is empty while it may still be there.
    """

    id: str
    record: str
    target: str
    provider: str
    address: str
    role: str
    request: str
    at: str
    removal: str = ""
    resource: str = ""
    mac: str = ""
    ended: str = ""

    def compute_mac(self, key: str) -> str:
        """Return the authentication code of the thing, under the key that made it.

        It identifies the account without revealing the key, and only a holder of the key can write a valid line.
        """
        fields = (SCHEMA, self.target, self.provider, self.address, self.record, self.role, self.removal, self.resource)
        return hmac.new(key.encode(), json.dumps(fields).encode(), hashlib.sha256).hexdigest()[:32]


_BEGIN_FIELDS = ("record", "target", "provider", "address", "role", "request", "at")
_COMPLETE_FIELDS = ("role", "removal", "resource", "mac")


@dataclass(frozen=True, slots=True)
class Journal:
    """Appends to a run's `made.jsonl`, which processes may share.

    Each line is on the disk before a method returns.
    """

    path: Path
    target: str
    redact: Callable[[str], str]
    """Hides secrets in each value. An id comes from an answer and may hold one; redacted, it fits no removal."""

    def begin(self, record: str, provider: str, address: str, role: str, request: str) -> JournalEntry:
        """Note, before the request is sent, that something is about to be made."""
        at = format_utc_now("seconds")
        entry = JournalEntry(secrets.token_hex(6), record, self.target, provider, address, role, request, at)
        fields = {name: getattr(entry, name) for name in _BEGIN_FIELDS}
        self._append(schema=SCHEMA, state="making", id=entry.id, **fields)
        return entry

    def complete(self, entry: JournalEntry, removal: str, resource: str, role: str, key: str) -> None:
        """Note what was made, before its answer is used.

        `key` is that of the role which removes it.
        """
        entry = replace(entry, removal=removal, resource=resource, role=role)
        mac = entry.compute_mac(key)
        self._append(id=entry.id, state="made", role=role, removal=removal, resource=resource, mac=mac)

    def end(self, entry: JournalEntry, how: str) -> None:
        """Note that the thing is not, or no longer, on the account."""
        self._append(id=entry.id, state="ended", how=how)

    def _append(self, **line: Json) -> None:
        line = {name: self.redact(value) if isinstance(value, str) else value for name, value in line.items()}
        data = (json.dumps(line, separators=(",", ":")) + "\n").encode()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            file = file_formats.open_without_link(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                if file_formats.is_cut_short(file):  # the new line must not be lost with the old one
                    data = b"\n" + data
                if os.write(file, data) != len(data):
                    raise OSError(0, "only part of a line was written")
                os.fsync(file)
            finally:
                os.close(file)
        except OSError as error:
            mend = "make room, or name another folder with --out"
            raise JournalError(error.strerror or str(error), mend, file=self.path) from error


def read_entries(path: Path, left_out: list[str] | None = None) -> list[JournalEntry]:
    """Return all entries of a journal; a last line that is cut short is skipped.

    Other damaged lines are described in `left_out`, if it is given.

    Raises:
        JournalError: it cannot be read.
    """
    entries: dict[str, JournalEntry] = {}
    for place, line in _read_lines(path, left_out):
        if isinstance(line, dict) and line.get("state") == "making" and line.get("schema") != SCHEMA:
            what = f"was written by another version of this tool: schema {line.get('schema', 1)!r}, not {SCHEMA}"
            raise JournalError(what, "look on the account yourself, then remove the file", location=place)
        try:
            _apply_line(line, entries)
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            what = f"not a line of a journal ({type(error).__name__}: {error})"
            raise JournalError(what, "remove the line, and look on the account yourself", location=place) from error
    return list(entries.values())


def read_open_entries(path: Path, left_out: list[str] | None = None) -> list[JournalEntry]:
    """Return what may still be on the account; nothing without a journal."""
    if not os.path.lexists(path):
        return []
    return [entry for entry in read_entries(path, left_out) if not entry.ended]


def _apply_line(line: Json, entries: dict[str, JournalEntry]) -> None:
    match line:
        case {"state": "making", "id": str(entry_id)}:
            fields: dict[str, Any] = {name: str(line.get(name, "")) for name in _BEGIN_FIELDS}
            entries[entry_id] = JournalEntry(entry_id, **fields)
        case {"state": "made", "id": str(entry_id)} if entry_id in entries:
            fields = {name: str(line[name]) for name in _COMPLETE_FIELDS}
            entries[entry_id] = replace(entries[entry_id], **fields)
        case {"state": "ended", "id": str(entry_id)} if entry_id in entries:
            entries[entry_id] = replace(entries[entry_id], ended=str(line["how"]))


def _read_lines(path: Path, left_out: list[str] | None) -> Iterator[tuple[str, Json]]:
    try:
        raw = file_formats.read_without_link(path)
    except OSError as error:
        raise JournalError(error.strerror or str(error), "name a run's folder", file=path) from error
    try:
        yield from file_formats.parse_lines(raw, path, left_out)
    except file_formats.BrokenLineError as error:
        raise JournalError(error.what, error.mend, location=error.location) from error
