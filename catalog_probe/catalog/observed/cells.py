"""Read the evidence of a record: the last observation of each assertion on each endpoint.

In the record one endpoint is one line. `on` is the day on which every assertion that the line does not list matched.
`mismatched` lists assertions with their observed class. `not_observed` lists those that were not observed on that day,
each with the day of its last observation, or null.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Json, Record
    from catalog_probe.catalog.model.assertion import Assertion

DIGEST_LENGTH = 8
"""Hexadecimal digits of the digest that names a record's statements."""


@dataclass(frozen=True, slots=True)
class Cell:
    """The last observation of one assertion on one endpoint."""

    on: date | None
    """The day, or None for never."""
    mismatch: str = ""
    """The observed class, or empty if it matched."""


Cells = Mapping[tuple[str, str], Cell]
"""(endpoint address, assertion key) -> the last observation."""


@dataclass(frozen=True, slots=True)
class ResolvedAssumption:
    """A resolved assumption: the observed class, and the day of its first observation."""

    observed: Json
    on: date


def statements_digest(assertions: Iterable[Assertion]) -> str:
    """Return a digest of all statements of a record, values included; evidence with another digest is void."""
    statements = [[str(assertion.key), assertion.documented, list(assertion.alternatives)] for assertion in assertions]
    text = json.dumps(statements, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:DIGEST_LENGTH]


def cells_of(record: Record, assertions: Iterable[Assertion]) -> dict[tuple[str, str], Cell]:
    """Return the cells of a record, given what it asserts now; none if its statements were edited since."""
    assertions = tuple(assertions)
    evidence = _current_evidence(record, assertions)
    keys = [str(assertion.key) for assertion in assertions]
    cells: dict[tuple[str, str], Cell] = {}
    for endpoint, line in (evidence.get("endpoints") or {}).items():
        mismatched = line.get("mismatched") or {}
        for key in keys:
            day = _last_day_in(line, key)
            cells[endpoint, key] = Cell(date.fromisoformat(day) if day else None, mismatched.get(key, ""))
    return cells


def differing_endpoints(record: Record) -> frozenset[str]:
    """List the endpoints whose last observation mismatched, even if the record was edited since."""
    return frozenset(endpoint for endpoint, line in _lines(record).items() if line.get("mismatched"))


def last_day(record: Record, endpoint: str, key: str = "") -> str | None:
    """Return the day on which an assertion was last observed on an endpoint, even if the record was edited since.

    Without a key, it is the day on which the endpoint was last probed. None means never.
    """
    return _last_day_in(_lines(record).get(endpoint, {}), key)


def was_matched(record: Record, endpoint: str, key: str) -> bool:
    """Whether the last observation of an assertion matched, even if the record was edited since."""
    mismatched = _lines(record).get(endpoint, {}).get("mismatched") or {}
    return key not in mismatched and last_day(record, endpoint, key) is not None


def restricted_on(record: Record) -> date | None:
    """Return the last day on which the account was refused, unless it has succeeded since."""
    day = evidence_of(record).get("restricted_on")
    return date.fromisoformat(day) if day else None


def resolved_assumptions(record: Record, assertions: Iterable[Assertion]) -> dict[str, ResolvedAssumption]:
    """Return the resolved assumptions of a record, by assertion key."""
    if "evidence" not in record.data:
        return {}
    evidence = _current_evidence(record, tuple(assertions))
    return {
        key: ResolvedAssumption(entry["observed"], date.fromisoformat(entry["on"]))
        for key, entry in (evidence.get("resolved") or {}).items()
    }


def _last_day_in(line: Mapping[str, Json], key: str) -> str | None:
    not_observed = line.get("not_observed") or {}
    for name in (key, f"{key.partition('/')[0]}/*"):  # `label/*` stands for all assertions of a label
        if name in not_observed:
            day: str | None = not_observed[name]
            return day
    return line.get("on")


def _lines(record: Record) -> Mapping[str, Mapping[str, Json]]:
    return evidence_of(record).get("endpoints") or {}


def _current_evidence(record: Record, assertions: tuple[Assertion, ...]) -> Mapping[str, Json]:
    evidence = evidence_of(record)
    return evidence if evidence.get("statements") == statements_digest(assertions) else {}


def evidence_of(record: Record) -> Mapping[str, Json]:
    """Return the `evidence` object of a record, or an empty one."""
    evidence = record.data.get("evidence")
    return evidence if isinstance(evidence, dict) else {}
