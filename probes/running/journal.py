"""The journal of what probes made on an account, and of how to remove it: it outlives a crash of the run."""

from __future__ import annotations

import base64
import json
import os
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from catalog.model import jsonl
from catalog.model.clock import utc_now_text
from catalog.model.errors import Mendable
from probes.calls.body import NO_BODY, Body, Content, JsonBody
from probes.calls.call import Call

if TYPE_CHECKING:
    from catalog.model import Json

NAME = "made.jsonl"


class JournalError(Mendable):
    """A journal that cannot be read or written: one line saying which, and what to do."""


@dataclass(frozen=True, slots=True)
class Made:
    """One thing that a probe set out to make, as far as the journal knows.

    `removal` is None while it is not known how to remove it: the process ended, or the connection broke, between the
    request and its answer. `ended` says how it left the account, or is empty while it may still be there.
    """

    id: str
    record: str
    target: str
    provider: str
    address: str
    role: str
    request: str
    at: str
    removal: Call | None = None
    ended: str = ""


@dataclass(frozen=True, slots=True)
class Journal:
    """Appends to a run's `made.jsonl`, which processes may share. A line is on the disk before the caller goes on."""

    path: Path
    target: str

    def making(self, record: str, provider: str, address: str, role: str, request: str) -> str:
        """Note, before the request is sent, that something is about to be made; returns its id here."""
        made = secrets.token_hex(6)
        self._append(
            id=made,
            state="making",
            record=record,
            target=self.target,
            provider=provider,
            address=address,
            role=role,
            request=request,
            at=utc_now_text("seconds"),
        )
        return made

    def made(self, made: str, removal: Call, role: str) -> None:
        """Note how it is removed, before the answer that named it is used."""
        self._append(id=made, state="made", role=role, removal=_written(removal))

    def ended(self, made: str, how: str) -> None:
        """Note that it is not, or no longer, on the account."""
        self._append(id=made, state="ended", how=how)

    def _append(self, **line: Json) -> None:
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
            found[made] = replace(found[made], role=str(line["role"]), removal=_read(line["removal"]))
        case {"state": "ended", "id": str(made)} if made in found:
            found[made] = replace(found[made], ended=str(line["how"]))


def left(path: Path, left_out: list[str] | None = None) -> list[Made]:
    """What may still be on the account, of what can be read (see `read`); nothing where there is no journal."""
    return [each for each in read(path, left_out) if not each.ended] if path.exists() else []


_MAKING = ("record", "target", "provider", "address", "role", "request", "at")


def _lines(path: Path, left_out: list[str] | None) -> Iterator[tuple[str, Json]]:
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise JournalError(error.strerror or str(error), "name a run's folder", file=path) from error
    try:
        yield from jsonl.values(raw, path, left_out)
    except jsonl.BrokenLineError as error:
        raise JournalError(error.what, error.mend, place=error.place) from error


def _written(call: Call) -> dict[str, Json]:
    """What of a call is needed to send it again: never a key, only the names of roles and headers."""
    plain: dict[str, Json] = {"method": call.method, "path": call.path, "service": call.service}
    plain["headers"] = dict(call.headers)
    plain["query"] = [list(pair) for pair in call.query]
    match call.body:
        case JsonBody(value):
            plain["json"] = value
        case Content(data):
            plain["content"] = base64.b64encode(data).decode()
    return plain


def _read(plain: Mapping[str, Any]) -> Call:
    return Call(
        method=plain["method"],
        path=plain["path"],
        service=plain["service"],
        headers=plain["headers"],
        query=tuple((key, value) for key, value in plain["query"]),
        body=_body(plain),
    )


def _body(plain: Mapping[str, Any]) -> Body:
    if "content" in plain:
        return Content(base64.b64decode(plain["content"]))
    return JsonBody(plain["json"]) if "json" in plain else NO_BODY
