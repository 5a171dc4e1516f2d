"""Real answers that people published, and whether `identify` finds the row that each belongs to."""

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
"""In the column of the type: the location of the outcome in a success."""


def read_captures(path: Path) -> list[Capture]:
    """Return the answers of a file that have a body."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [capture for capture in map(json.loads, lines) if capture["body"] is not None]


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
"""Forms in which a caller may have a body; None if a body cannot have that form."""


def disguise(captures: Iterable[Capture], form: str) -> list[Capture]:
    """Return the answers with their body in this form, if it can have it."""
    pairs = ((capture, DISGUISES[form](capture["body"])) for capture in captures if capture["surface"] != "ws")
    return [{**capture, "body": body} for capture, body in pairs if body is not None]


def identify_capture(capture: Capture) -> Identity:
    if capture["surface"] == "ws":
        close = capture["body"]
        return catalog_probe.identify(capture["provider"], None, close=(close["close_code"], close["close_reason"]))
    return catalog_probe.identify(capture["provider"], capture["http_status"], capture["headers"], capture["body"])


class Grade(StrEnum):
    """How an answer was recognised, compared with the row of its label."""

    NAMED = "named"
    """As the record of the row; as none if it has no row."""
    AMONG_FEW = "among a few"
    """The candidates include a record of the row."""
    LEFT = "left unnamed"
    """As a group or nothing, which is not wrong."""
    WRONG = "wrong"
    """As a record of another row, or with candidates of other rows only."""


def grade(capture: Capture) -> Grade:
    """Identify an answer, and compare the result with its row."""
    identity = identify_capture(capture)
    expect = capture["expect"]
    addresses = (identity.record,) if identity.record is not None else identity.candidates
    if not isinstance(expect, dict):
        if identity.record is not None:
            return Grade.WRONG
        return Grade.AMONG_FEW if addresses else Grade.NAMED
    if not addresses:
        return Grade.LEFT
    if not any(_is_row(catalog_probe.load()[address], expect) for address in addresses):
        return Grade.WRONG
    return Grade.NAMED if identity.record is not None else Grade.AMONG_FEW


def is_right(capture: Capture) -> bool:
    """Whether the record of the row is named, alone or among a few; without a row, whether none is."""
    return grade(capture) in (Grade.NAMED, Grade.AMONG_FEW)


def _is_row(record: CatalogRecord, expect: dict[str, Any]) -> bool:
    sections = {source.partition("#")[0].partition(":")[2] for source in record.sources}
    if expect["section"] not in sections:
        return False
    status = str(expect["http"]).split(" ")[0]
    documented = [str(documented_status) for documented_status in record.statuses]
    if documented and status not in documented and record.record.data["http_status"] != f"{status[0]}xx":
        return False
    codes = {code.strip(" ()").split(" ")[0] for code in str(expect.get("code")).replace("(", ",").split(",")}
    types = {str(expect.get("type")), str(expect.get("status"))}
    if record.code and record.code in codes | {code.removesuffix(")") for code in codes}:
        return True
    if not codes <= {"None", "none", ""} and not types & {record.type}:
        return any(code in record.address.split("/")[-1] for code in codes if code not in ("None", "none", ""))
    return bool(types & ({record.type} | _OUTCOMES)) or "none" in types or record.address.startswith("pb/errors/live")
