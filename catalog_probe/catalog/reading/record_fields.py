"""A record for people: what it states and what was seen of it, as labelled rows, and the words it is found by."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from catalog_probe.catalog.observed.last_seen import live_messages
from catalog_probe.catalog.reading.headers import raw_header_rules
from catalog_probe.catalog.reading.retry import retry_advice

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from catalog_probe.catalog.model import Json, Record

_ROWS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "errors": {
            "http_status": "HTTP status",
            "type": "type",
            "code": "code",
            "param": "param",
            "category": "category",
            "message_semantics": "meaning",
            "retryable": "retryable",
            "backoff": "backoff",
            "recommended_action": "what a client does",
        },
        "endpoints": {
            "name": "name",
            "description": "description",
            "auth": "authentication",
            "beta_header": "beta header",
            "streaming": "streaming",
            "pagination": "pagination",
            "idempotency": "idempotency",
        },
        "rate_limits": {"documented": "limits", "concepts": "concepts", "error_semantics_429": "at the limit"},
    }
)
"""The fields that are told of each kind, in the order in which a reader asks for them, and their labels."""

_DATED = ("verification", "observed", "retrieved_at", "generated_at", "observed_for_this_key")
_REMARKS = ("note", "pinned_reason")


@dataclass(frozen=True, slots=True)
class DisplayRow:
    """One row: a label, and a value of JSON; how it is laid out is up to the one who shows it."""

    label: str
    value: Json


def documented_rows(record: Record) -> tuple[DisplayRow, ...]:
    """What a record states; a field that is null or not there has no row."""
    return tuple(_stated(record))


def observed_rows(record: Record) -> tuple[DisplayRow, ...]:
    """What was seen of a record and when, and what people remark on it."""
    return tuple(_seen(record))


def description(record: Record) -> str:
    """What an endpoint does, or nothing."""
    return record.data.get("description") or ""


def meaning(record: Record) -> str:
    """What the message of an error says, in the documents' words; or nothing."""
    return record.data.get("message_semantics") or ""


def note(record: Record) -> str:
    """What the documents leave open, and what was assumed; or nothing."""
    return record.data.get("note") or ""


def tags(record: Record) -> tuple[str, ...]:
    """The status tags in the order of the record."""
    return tuple(record.data.get("status", ()))


def pinned_reason(record: Record) -> str | None:
    """Why a person forbids write-back, or None where nobody does."""
    if not record.data.get("pinned"):
        return None
    return record.data.get("pinned_reason") or "no reason given"


def request_line(record: Record) -> tuple[str, str]:
    """Method and path template of an endpoint record."""
    return str(record.data["method"]), str(record.data["path"])


def occurs_on(record: Record) -> frozenset[str]:
    """The addresses of the endpoints on which it can be looked at; a rate-limit record names none."""
    if record.kind == "endpoints":
        return frozenset({str(record.address)})
    return frozenset(record.data.get("endpoints") or ())


def claimed_endpoints(record: Record) -> tuple[str, ...]:
    """The addresses of the endpoints that an error record names, in its order; none of any other record."""
    return tuple(record.data.get("endpoints") or ()) if record.kind == "errors" else ()


def keywords(record: Record) -> frozenset[str]:
    """What a person may look for a record by, beside its address: status, type, code, method, tags."""
    values = (record.data.get(field) for field in ("http_status", "type", "code", "method"))
    return record.tags | {str(value) for value in values if value is not None}


def _stated(record: Record) -> Iterator[DisplayRow]:
    data = record.data
    if "method" in data:
        yield DisplayRow("request", f"{data['method']} {data['path']}")
    for field, label in _ROWS[record.kind].items():
        if field == "retryable" and field in data:
            yield DisplayRow(label, retry_advice(record).in_words)
        elif data.get(field) is not None:
            yield DisplayRow(label, data[field])
    rules = raw_header_rules(data.get("response_headers"))
    if rules:
        yield DisplayRow("headers", {name: _in_words(rule) for name, rule in rules.items()})


def _seen(record: Record) -> Iterator[DisplayRow]:
    for field in _DATED:
        if record.data.get(field):
            yield DisplayRow(field.replace("_", " "), record.data[field])
    if live_messages(record):
        yield DisplayRow("messages seen live", "\n".join(live_messages(record)))
    for field in _REMARKS:
        if record.data.get(field):
            yield DisplayRow(field.replace("_", " "), record.data[field])


def _in_words(rule: Mapping[str, Json]) -> str:
    return f"{rule['rule']} {rule.get('value') or rule.get('format') or ''}".strip()
