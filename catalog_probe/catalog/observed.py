"""The evidence in a record: cells, confirmations, the tag, and when last seen.

In the record one endpoint is one line. `on` is the day on which every assertion that the line does not list matched.
`mismatched` lists assertions with their observed class. `not_observed` lists those that were not observed on that day,
each with the day of its last observation, or null.

These lines are void once any statement of the record is edited. Two lists outlive an edit, because each statement
has a digest of its own: `confirmed` lists the digests of statements that a live run has confirmed, `unconfirmed` has
the day of the first observation of each other statement.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from types import MappingProxyType
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Tag
from catalog_probe.catalog.model.assertion import Basis
from catalog_probe.catalog.model.exchange import AnsweredBy

if TYPE_CHECKING:
    from collections.abc import Collection

    from catalog_probe.catalog.model import Json, Record
    from catalog_probe.catalog.model.assertion import Assertion


RECORD_DIGEST_LENGTH = 8
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


def record_digest(assertions: Iterable[Assertion]) -> str:
    """Return a digest of all statements of a record, values included; evidence with another digest is void."""
    statements = [[str(assertion.key), assertion.documented, list(assertion.alternatives)] for assertion in assertions]
    text = json.dumps(statements, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:RECORD_DIGEST_LENGTH]


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


def matched_keys(record: Record, assertions: Iterable[Assertion]) -> frozenset[str]:
    """List the keys of the assertions that matched on some endpoint when they were last observed."""
    if "evidence" not in record.data:
        return frozenset()
    cells = cells_of(record, assertions)
    return frozenset(key for (_, key), cell in cells.items() if cell.on is not None and not cell.mismatch)


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
    return evidence if evidence.get("statements") == record_digest(assertions) else {}


def evidence_of(record: Record) -> Mapping[str, Json]:
    """Return the `evidence` object of a record, or an empty one."""
    evidence = record.data.get("evidence")
    return evidence if isinstance(evidence, dict) else {}


STATEMENT_DIGEST_LENGTH = 6
"""Hexadecimal digits of a statement's digest; a record has some dozen statements."""


def statement_digest(assertion: Assertion) -> str:
    """Return a digest of one statement, value and alternatives included."""
    statement = [str(assertion.key), assertion.documented, list(assertion.alternatives)]
    text = json.dumps(statement, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:STATEMENT_DIGEST_LENGTH]


def confirmed_keys(record: Record, assertions: Iterable[Assertion]) -> frozenset[str]:
    """List the keys of the assertions that a live run has confirmed."""
    confirmed = frozenset(evidence_of(record).get("confirmed", "").split())
    if not confirmed:
        return frozenset()
    return frozenset(str(assertion.key) for assertion in assertions if statement_digest(assertion) in confirmed)


def unconfirmed_since(record: Record, assertions: Iterable[Assertion]) -> dict[str, date]:
    """Return the day of the first observation per key, for assertions that no live run has confirmed."""
    unconfirmed = evidence_of(record).get("unconfirmed", {})
    days: dict[str, date] = {}
    for assertion in assertions:
        entry = unconfirmed.get(str(assertion.key))
        if entry is not None and entry["statement"] == statement_digest(assertion):
            days[str(assertion.key)] = date.fromisoformat(entry["since"])
    return days


def confirmation_fields(
    assertions: Iterable[Assertion], confirmed: Collection[str], unconfirmed: Mapping[str, date]
) -> dict[str, Json]:
    """Build the fields `confirmed` and `unconfirmed` of the evidence; each is left out if it is empty."""
    digests: set[str] = set()
    entries: dict[str, Json] = {}
    for assertion in assertions:
        key = str(assertion.key)
        if assertion.basis is not Basis.DOCUMENTED:
            continue
        if key in confirmed:
            digests.add(statement_digest(assertion))
        elif key in unconfirmed:
            entries[key] = {"since": unconfirmed[key].isoformat(), "statement": statement_digest(assertion)}
    fields: dict[str, Json] = {}
    if digests:
        fields["confirmed"] = " ".join(sorted(digests))
    if entries:
        fields["unconfirmed"] = entries
    return fields


def derive_verification_tag(assertions: Iterable[Assertion], cells: Cells, *, expired: bool = False) -> Tag:
    """Return LIVE_VERIFIED if live runs confirmed what the documents state of a record, else UNVERIFIED.

    Confirmed means: no observation contradicts the documents, each documented assertion that a client can reach and
    that is not optional matched on some endpoint, and at least one documented assertion matched. If a client can reach
    none, all documented ones must have matched.

    Example: a documented status and header that matched on two different endpoints -> LIVE_VERIFIED; the status alone
    -> UNVERIFIED.
    """
    assertions = tuple(assertions)
    assertion_by_key = {str(assertion.key): assertion for assertion in assertions}
    documented = [assertion for assertion in assertions if assertion.basis is Basis.DOCUMENTED]
    required = {str(assertion.key) for assertion in reachable(documented) if not assertion.optional}
    matched = {key for (_, key), cell in cells.items() if cell.on is not None and not cell.mismatch}
    is_contradicted = any(
        key in assertion_by_key and contradicts(assertion_by_key[key], cell) for (_, key), cell in cells.items()
    )
    is_confirmed = required <= matched and any(str(assertion.key) in matched for assertion in documented)
    return Tag.LIVE_VERIFIED if is_confirmed and not is_contradicted and not expired else Tag.UNVERIFIED


def reachable(documented: list[Assertion]) -> list[Assertion]:
    """List the documented assertions that a client can reach, or all of them if it can reach none."""
    return [assertion for assertion in documented if not assertion.out_of_reach] or documented


def contradicts(assertion: Assertion, cell: Cell) -> bool:
    """Whether an observation contradicts the documents; a wrong assumption of ours does not."""
    if not cell.mismatch:
        return False
    if assertion.basis is Basis.DOCUMENTED or is_opposite_outcome(assertion, cell.mismatch):
        return True
    return assertion.is_only_location_assumed and cell.mismatch != "absent"


def is_opposite_outcome(assertion: Assertion, observed: str) -> bool:
    """Whether a refusal was observed for a success, or the reverse: that is drift even if the status is assumed."""
    status = assertion.documented
    if assertion.key.local_key != "status" or not isinstance(status, int) or not observed.isdecimal():
        return False
    return (int(observed) < 400) != (status < 400)


EVIDENCE_FIELDS: Mapping[str, str] = MappingProxyType(
    {"endpoints": "verification", "errors": "observed", "rate_limits": "observed_for_this_key"}
)
"""Kind of record -> the field that holds its evidence (1:2.1 to 1:2.3)."""

EXPIRED = "expired"
"""The result of evidence that was not renewed for too long."""

ANOTHER_REVISION_PREFIX = "revision"
"""`revision:` begins the target of an observation under another API revision than the usual one."""

# An error's evidence has no fields for result, target and time (1:2.2), so its note contains them.
_NOTE = re.compile(r"(?P<result>\w+), seen on (?P<target>.+?) in run (?P<run>.+?) at (?P<at>\S+?Z)(?:: (?P<rest>.+))?")


@dataclass(frozen=True, slots=True)
class LastSeen:
    """The last observation of a record."""

    day: date
    at: datetime | None = None
    """The time, or None if the record has only the day."""
    result: str = ""
    """`conforms`, `drifted`, `expired`, or empty if the record does not say."""
    target: str = ""
    differences: str = ""
    """What differed, in words."""


def join_differences(differences: Iterable[str]) -> str:
    """Return differences as one text: the note of an error holds them so, and all others are compared so."""
    return "; ".join(differences)


def last_seen(record: Record) -> LastSeen | None:
    """Return the last observation of a record, or None if there was none."""
    evidence = evidence_block(record)
    day = _parse_day(evidence.get("verified_at"))
    if day is None:
        return None
    if record.kind == "errors":
        return _parse_note(evidence, day)
    return LastSeen(
        day=day,
        at=parse_utc_instant(str(evidence.get("observed_at", ""))),
        result=str(evidence.get("result", "")),
        target=str(evidence.get("target", "")),
        differences=_describe_differences(evidence.get("seen")),
    )


def seen_on(record: Record) -> date | None:
    """Return the day of the last conclusive observation."""
    last = last_seen(record)
    return last.day if last is not None else None


def target_of(record: Record) -> str:
    """Return the target on which the evidence was gathered, or an empty string; it needs no day."""
    evidence = evidence_block(record)
    if record.kind != "errors":
        return str(evidence.get("target", ""))
    match = _NOTE.fullmatch(str(evidence.get("note", "")))
    return match["target"] if match else ""


def is_not_from_provider(target: str) -> bool:
    """Whether observations on this target are no evidence: another server, a mock, a recording, or another revision.

    Such a target begins with that word and a colon.
    """
    others = (answered_by for answered_by in AnsweredBy if answered_by is not AnsweredBy.PROVIDER)
    prefixes = (*others, ANOTHER_REVISION_PREFIX)
    return target == AnsweredBy.MOCK or target.startswith(tuple(f"{prefix}:" for prefix in prefixes))


def is_expired(record: Record) -> bool:
    """Whether write-back marked the evidence as too old."""
    evidence = evidence_block(record)
    text = evidence.get("note") if record.kind == "errors" else evidence.get("result")
    return str(text or "").partition(":")[0] == EXPIRED


def live_messages(record: Record) -> tuple[str, ...]:
    """Return the wordings of the error's message that were observed live."""
    return tuple(record.data.get("live_messages") or ())


def evidence_block(record: Record) -> Mapping[str, Json]:
    """Return the evidence field of the record's kind, or an empty object."""
    evidence = record.data.get(EVIDENCE_FIELDS[record.kind])
    return evidence if isinstance(evidence, dict) else {}


def parse_utc_instant(text: str) -> datetime | None:
    """Parse an ISO 8601 time into UTC, or return None; a time without offset is in UTC."""
    try:
        instant = datetime.fromisoformat(text)
    except ValueError:
        return None
    return instant.astimezone(UTC) if instant.tzinfo else instant.replace(tzinfo=UTC)


def _parse_note(evidence: Mapping[str, Json], day: date) -> LastSeen:
    match = _NOTE.fullmatch(str(evidence.get("note", "")))
    if match is None:
        return LastSeen(day)
    return LastSeen(day, parse_utc_instant(match["at"]), match["result"], match["target"], match["rest"] or "")


def _describe_differences(seen: Json) -> str:
    """Join the differences: write-back makes a list, and people also write an object or a text."""
    if isinstance(seen, dict):
        return join_differences(f"{name}: {value}" for name, value in seen.items())
    return join_differences(map(str, seen)) if isinstance(seen, list) else str(seen or "")


def _parse_day(text: Json) -> date | None:
    try:
        return date.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return None
