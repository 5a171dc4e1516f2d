"""Real answers that people published, and whether recognition tells the row that each belongs to."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import catalog_probe
from catalog_probe import CatalogRecord, Identity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

Capture = dict[str, Any]

_OUTCOMES = frozenset({"status incomplete", "finish_reason", "promptFeedback.blockReason", "candidates[].finishReason"})
"""In place of a type: where in a success the outcome stands."""


def read_captures(path: Path) -> list[Capture]:
    """The answers that have something to recognise: a success whose body was left out has not."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [each for each in map(json.loads, lines) if each["body"] is not None]


def _unwrapped(body: Any) -> Any:
    return body["error"] if isinstance(body, dict) and isinstance(body.get("error"), dict) else None


DISGUISES: dict[str, Callable[[Any], Any]] = {
    "as text": lambda body: None if isinstance(body, str) else json.dumps(body),
    "as bytes, laid out": lambda body: None if isinstance(body, str) else json.dumps(body, indent=1).encode(),
    "in an array": lambda body: [body] if isinstance(body, dict) else None,
    "unwrapped by an SDK": _unwrapped,
    "as Python shows it": lambda body: None if isinstance(body, str) else repr(body),
    "in an event": lambda body: f"event: error\r\ndata: {json.dumps(body)}\r\n\r\n" if isinstance(body, dict) else None,
}
"""What becomes of a body on its way to who asks what it is; None where a body cannot become that."""


def disguise(captures: Iterable[Capture], how: str) -> list[Capture]:
    """The answers whose body can look so, with such a one."""
    found = ((each, DISGUISES[how](each["body"])) for each in captures if each["surface"] != "ws")
    return [{**each, "body": body} for each, body in found if body is not None]


def identify_capture(capture: Capture) -> Identity:
    if capture["surface"] == "ws":
        close = capture["body"]
        return catalog_probe.identify(capture["provider"], None, close=(close["close_code"], close["close_reason"]))
    return catalog_probe.identify(capture["provider"], capture["http_status"], capture["headers"], capture["body"])


class Grade(StrEnum):
    """How an answer was recognised, held against the row that its label names."""

    NAMED = "named"
    """As the one record of the row, or as none where it belongs to none."""
    AMONG_FEW = "among a few"
    """The candidates include a record of the row."""
    LEFT = "left unnamed"
    """Only its group was told, or nothing; never wrong."""
    WRONG_KEY = "wrong"
    """As a record of another row, or only candidates of other rows."""


def grade(capture: Capture) -> Grade:
    """How it was recognised."""
    found = identify_capture(capture)
    expect = capture["expect"]
    named = (found.record,) if found.record is not None else found.candidates
    if not isinstance(expect, dict):
        return Grade.WRONG_KEY if found.record is not None else Grade.AMONG_FEW if named else Grade.NAMED
    if not named:
        return Grade.LEFT
    if not any(_is_row(catalog_probe.load()[address], expect) for address in named):
        return Grade.WRONG_KEY
    return Grade.NAMED if found.record is not None else Grade.AMONG_FEW


def is_right(capture: Capture) -> bool:
    """Whether the record of its row is named, alone or among a few; of an answer without a row, that none is."""
    return grade(capture) in (Grade.NAMED, Grade.AMONG_FEW)


def _is_row(record: CatalogRecord, expect: dict[str, Any]) -> bool:
    sections = {source.partition("#")[0].partition(":")[2] for source in record.sources}
    if expect["section"] not in sections:
        return False
    status = str(expect["http"]).split(" ")[0]
    documented = [str(each) for each in record.statuses]
    if documented and status not in documented and record.record.data["http_status"] != f"{status[0]}xx":
        return False
    codes = {each.strip(" ()").split(" ")[0] for each in str(expect.get("code")).replace("(", ",").split(",")}
    types = {str(expect.get("type")), str(expect.get("status"))}
    if record.code and record.code in codes | {each.removesuffix(")") for each in codes}:
        return True
    if not codes <= {"None", "none", ""} and not types & {record.type}:
        return any(code in record.address.split("/")[-1] for code in codes if code not in ("None", "none", ""))
    return bool(types & ({record.type} | _OUTCOMES)) or "none" in types or record.address.startswith("pb/errors/live")
