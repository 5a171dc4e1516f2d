"""Read single fields of a record, and show a record to people as labelled rows."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from catalog_probe.catalog.observed.last_seen import live_messages
from catalog_probe.catalog.reading.error_records import label_action, retry_advice
from catalog_probe.catalog.reading.headers import raw_header_rules

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
            "recommended_action": "what to do",
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
"""Kind of record -> the fields that are shown, in the order of a reader's interest, with their labels."""

_DATED = ("verification", "observed", "retrieved_at", "generated_at", "observed_for_this_key")
_REMARKS = ("note", "pinned_reason")

_UNDOCUMENTED_FIELDS = frozenset(
    """
    status verification observed_live observed live_messages example retrieved_at observed_for_this_key evidence note
    pinned pinned_reason
    """.split()
)
"""Tags, evidence, examples, remarks and pins."""


@dataclass(frozen=True, slots=True)
class DisplayRow:
    """A label and a JSON value, for views to lay out."""

    label: str
    value: Json


def description(record: Record) -> str:
    """Return what an endpoint does, or an empty string."""
    return record.data.get("description") or ""


def meaning(record: Record) -> str:
    """Return the meaning of an error's message, in the documents' words, or an empty string."""
    return record.data.get("message_semantics") or ""


def note(record: Record) -> str:
    """Return the note: what the documents leave open, and what was assumed."""
    return record.data.get("note") or ""


def tags(record: Record) -> tuple[str, ...]:
    """Return the tags in the order of the record."""
    return tuple(record.data.get("status", ()))


def pinned_reason(record: Record) -> str | None:
    """Return why a person forbids write-back, or None."""
    if not record.data.get("pinned"):
        return None
    return record.data.get("pinned_reason") or "no reason given"


def request_line(record: Record) -> tuple[str, str]:
    """Return method and path template of an endpoint record."""
    return str(record.data["method"]), str(record.data["path"])


def occurs_on(record: Record) -> frozenset[str]:
    """Return the addresses of the endpoints on which a record can be observed; a rate-limit record names none."""
    if record.kind == "endpoints":
        return frozenset({str(record.address)})
    return frozenset(record.data.get("endpoints") or ())


def claimed_endpoints(record: Record) -> tuple[str, ...]:
    """Return the addresses of the endpoints that an error record names, in its order; none of any other record."""
    return tuple(record.data.get("endpoints") or ()) if record.kind == "errors" else ()


def documented_fields(record: Record) -> Mapping[str, Json]:
    """Return the documented fields: two records that agree in them are probed alike."""
    return {key: value for key, value in record.data.items() if key not in _UNDOCUMENTED_FIELDS}


def keywords(record: Record) -> frozenset[str]:
    """Return the words that a search finds a record by besides its address: status, type, code, method, tags."""
    values = (record.data.get(field) for field in ("http_status", "type", "code", "method"))
    return record.tags | {str(value) for value in values if value is not None}


def documented_rows(record: Record) -> Iterator[DisplayRow]:
    """Yield the rows of what a record states; a field that is null or absent has none."""
    data = record.data
    if "method" in data:
        yield DisplayRow("request", f"{data['method']} {data['path']}")
    for field, label in _ROWS[record.kind].items():
        if field == "retryable" and field in data:
            yield DisplayRow(label, retry_advice(record).in_words)
        elif field == "recommended_action" and field in data:
            advice = retry_advice(record)
            yield DisplayRow(*label_action(advice.action, advice.action_source))
        elif data.get(field) is not None:
            yield DisplayRow(label, data[field])
    rules = raw_header_rules(data.get("response_headers"))
    if rules:
        yield DisplayRow("headers", {name: _describe_rule(rule) for name, rule in rules.items()})


def observed_rows(record: Record) -> Iterator[DisplayRow]:
    """Yield the rows of what was observed and when, and of people's remarks."""
    for field in _DATED:
        if record.data.get(field):
            yield DisplayRow(field.replace("_", " "), record.data[field])
    if live_messages(record):
        yield DisplayRow("messages seen live", "\n".join(live_messages(record)))
    for field in _REMARKS:
        if record.data.get(field):
            yield DisplayRow(field.replace("_", " "), record.data[field])


def _describe_rule(rule: Mapping[str, Json]) -> str:
    return f"{rule['rule']} {rule.get('value') or rule.get('format') or ''}".strip()
