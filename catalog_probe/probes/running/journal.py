"""The journal of what probes made on an account: it outlives a crash of the run, and names no request to send."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.files import json_lines
from catalog_probe.catalog.model.clock import utc_now_text
from catalog_probe.catalog.model.errors import Mendable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from catalog_probe.catalog.model import Json

NAME = "made.jsonl"
SCHEMA = 2
"""Version of the lines. Version 1 kept whole requests, and is refused: its writer would decide what is sent."""


class JournalError(Mendable):
    """A journal that cannot be read or written: one line saying which, and what to do."""


@dataclass(frozen=True, slots=True)
class Made:
    """One thing that a probe set out to make, as far as the journal knows.

    `removal` is the name under which the provider's recipes declare how it is removed, and `resource` its id. Both are
    empty while that is not known: the process ended, or the connection broke, between the request and its answer.
    `ended` says how it left the account, or is empty while it may still be there.
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

    def mac_under(self, key: str) -> str:
        """Message authentication code of what was made and where, under the key that made it.

        It tells the account without showing the key, and nobody can write a line without having the key.
        """
        stated = (SCHEMA, self.target, self.provider, self.address, self.record, self.role, self.removal, self.resource)
        return hmac.new(key.encode(), json.dumps(stated).encode(), hashlib.sha256).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Journal:
    """Appends to a run's `made.jsonl`, which processes may share. A line is on the disk before the caller goes on."""

    path: Path
    target: str
    redact: Callable[[str], str]
    """Hides secrets in what is written down: an id, which an answer names, may hold one, and then fits no removal."""

    def making(self, record: str, provider: str, address: str, role: str, request: str) -> Made:
        """Note, before the request is sent, that something is about to be made."""
        at = utc_now_text("seconds")
        made = Made(secrets.token_hex(6), record, self.target, provider, address, role, request, at)
        self._append(schema=SCHEMA, state="making", id=made.id, **{key: getattr(made, key) for key in _MAKING})
        return made

    def made(self, made: Made, removal: str, resource: str, role: str, key: str) -> None:
        """Note what was made, before the answer that named it is used; `key` is that of the role which removes it."""
        made = replace(made, removal=removal, resource=resource, role=role)
        self._append(id=made.id, state="made", role=role, removal=removal, resource=resource, mac=made.mac_under(key))

    def ended(self, made: Made, how: str) -> None:
        """Note that it is not, or no longer, on the account."""
        self._append(id=made.id, state="ended", how=how)

    def _append(self, **line: Json) -> None:
        line = {name: self.redact(value) if isinstance(value, str) else value for name, value in line.items()}
        data = (json.dumps(line, separators=(",", ":")) + "\n").encode()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                if _is_cut_short(file):  # by a kill or a full disk: what comes now must not be lost with it
                    data = b"\n" + data
                if os.write(file, data) != len(data):
                    raise OSError(0, "only part of a line was written")
                os.fsync(file)
            finally:
                os.close(file)
        except OSError as error:
            mend = "make room, or name another folder with --out"
            raise JournalError(error.strerror or str(error), mend, file=self.path) from error


def _is_cut_short(file: int) -> bool:
    size = os.fstat(file).st_size
    return size > 0 and os.pread(file, 1, size - 1) != b"\n"


def read(path: Path, left_out: list[str] | None = None) -> list[Made]:
    """Everything that a journal names, in the order it was made; a last line that a kill cut short is left out.

    Other lines that are damaged are noted in `left_out`, where that is given.

    Raises:
        JournalError: it cannot be read.
    """
    found: dict[str, Made] = {}
    for place, line in _lines(path, left_out):
        if isinstance(line, dict) and line.get("state") == "making" and line.get("schema") != SCHEMA:
            what = f"was written by another version of this tool: schema {line.get('schema', 1)!r}, not {SCHEMA}"
            raise JournalError(what, "look on the account yourself, then remove the file", place=place)
        try:
            _note(line, found)
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            what = f"no line of a journal ({type(error).__name__}: {error})"
            raise JournalError(what, "remove the line, and look on the account yourself", place=place) from error
    return list(found.values())


def _note(line: Json, found: dict[str, Made]) -> None:
    """What one line says, beside what those before it said."""
    match line:
        case {"state": "making", "id": str(made)}:
            told: dict[str, Any] = {key: str(line.get(key, "")) for key in _MAKING}
            found[made] = Made(made, **told)
        case {"state": "made", "id": str(made)} if made in found:
            found[made] = replace(found[made], **{key: str(line[key]) for key in _MADE})
        case {"state": "ended", "id": str(made)} if made in found:
            found[made] = replace(found[made], ended=str(line["how"]))


def left(path: Path, left_out: list[str] | None = None) -> list[Made]:
    """What may still be on the account, of what can be read (see `read`); nothing where there is no journal."""
    return [each for each in read(path, left_out) if not each.ended] if path.exists() else []


_MADE = ("role", "removal", "resource", "mac")
_MAKING = ("record", "target", "provider", "address", "role", "request", "at")


def _lines(path: Path, left_out: list[str] | None) -> Iterator[tuple[str, Json]]:
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise JournalError(error.strerror or str(error), "name a run's folder", file=path) from error
    try:
        yield from json_lines.values(raw, path, left_out)
    except json_lines.BrokenLineError as error:
        raise JournalError(error.what, error.mend, place=error.place) from error
