"""The evidence that a record carries, cell by cell: each assertion on each endpoint, when last seen, and how.

In the record one endpoint is one line: the day on which every assertion that the line does not list matched, those that
are `mismatched`, and those `not_observed` on that day, each with the day on which it was last observed, or null.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from catalog_probe.catalog.model.assertion import AssertionKey

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Json, Record
    from catalog_probe.catalog.model.assertion import Assertion

DIGEST_LENGTH = 8
"""Of the digest that names the statements which evidence speaks of."""


@dataclass(frozen=True, slots=True)
class Cell:
    """The last observation of one assertion on one endpoint; `mismatch` is the observed class, empty if it matched."""

    on: date | None
    mismatch: str = ""


Cells = Mapping[tuple[str, str], Cell]
"""(endpoint address, assertion key) -> what was last seen there."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """What an assumption turned out to be: the observed class, and the day on which it was first observed."""

    observed: Json
    on: date


def statements_digest(stated: Iterable[Assertion]) -> str:
    """A name for what a record asserts, values included: evidence for other statements is void."""
    told = [[str(each.key), each.documented, list(each.alternatives)] for each in stated]
    text = json.dumps(told, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:DIGEST_LENGTH]


def cells_of(record: Record, stated: Iterable[Assertion]) -> dict[tuple[str, str], Cell]:
    """The evidence for what the record states now; none where its statements were edited since."""
    stated = tuple(stated)
    block = _current(record, stated)
    keys = [str(each.key) for each in stated]
    found: dict[tuple[str, str], Cell] = {}
    for endpoint, line in (block.get("endpoints") or {}).items():
        on = date.fromisoformat(line["on"])
        mismatched, not_observed = line.get("mismatched") or {}, line.get("not_observed") or {}
        for key in keys:
            day = on
            listed = next((each for each in (key, f"{AssertionKey.parse(key).label}/*") if each in not_observed), None)
            if listed is not None:
                last = not_observed[listed]
                found[endpoint, key] = Cell(date.fromisoformat(last) if last else None, mismatched.get(key, ""))
            else:
                found[endpoint, key] = Cell(day, mismatched.get(key, ""))
    return found


def differing_endpoints(record: Record) -> frozenset[str]:
    """The endpoints on which the last observation mismatched, whatever the record states since."""
    return frozenset(endpoint for endpoint, line in _lines(record).items() if line.get("mismatched"))


def last_day(record: Record, endpoint: str, key: str = "") -> str | None:
    """The day on which an assertion was last seen on an endpoint, or on which that was last tried; None for never.

    As the record has it, whatever it states since.
    """
    line = _lines(record).get(endpoint, {})
    not_observed = line.get("not_observed") or {}
    listed = next((each for each in (key, f"{key.partition('/')[0]}/*") if each in not_observed), None)
    return not_observed[listed] if listed is not None else line.get("on")


def was_matched(record: Record, endpoint: str, key: str) -> bool:
    """Whether an assertion was as stated when it was last seen on an endpoint, whatever the record states since."""
    mismatched = _lines(record).get(endpoint, {}).get("mismatched") or {}
    return key not in mismatched and last_day(record, endpoint, key) is not None


def restricted_on(record: Record) -> date | None:
    """The last day on which this account was refused, where it has not got through since."""
    block = record.data.get("evidence")
    day = block.get("restricted_on") if isinstance(block, dict) else None
    return date.fromisoformat(day) if day else None


def resolved_assumptions(record: Record, stated: Iterable[Assertion]) -> dict[str, Resolved]:
    """What became of the record's assumptions, by the key of the assertion."""
    if "evidence" not in record.data:
        return {}
    block = _current(record, tuple(stated))
    return {
        key: Resolved(each["observed"], date.fromisoformat(each["on"]))
        for key, each in (block.get("resolved") or {}).items()
    }


def _lines(record: Record) -> Mapping[str, Mapping[str, Json]]:
    block = record.data.get("evidence")
    return (block.get("endpoints") or {}) if isinstance(block, dict) else {}


def _current(record: Record, stated: tuple[Assertion, ...]) -> Mapping[str, Json]:
    block = record.data.get("evidence")
    if not isinstance(block, dict) or block.get("statements") != statements_digest(stated):
        return {}
    return block
