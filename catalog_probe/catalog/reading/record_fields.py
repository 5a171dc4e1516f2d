"""Read single fields of a record, and show a record as labelled rows."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from catalog_probe.catalog.observed import live_messages
from catalog_probe.catalog.reading.response_headers import raw_header_rules

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from catalog_probe.catalog.model import Json, Record


STREAM_START_STATUS: Mapping[str, int] = MappingProxyType({"sse": 200, "websocket": 101})
"""Protocol -> the HTTP status with which a stream begins, even if an error follows; gRPC has none that matters."""


@dataclass(frozen=True, slots=True)
class DocumentedStatus:
    """The parsed `http_status` (1:2.2): one status, a group (`502/503/504/529`), a class (`4xx`), or none."""

    members: tuple[int, ...] = ()
    """One status, or those of a group."""
    hundreds: int | None = None
    """4 if the documents say only `4xx`."""


def documented_status(record: Record) -> DocumentedStatus:
    """Parse the status of an error record; of a streamed error it is the status that the body repeats, if any.

    Example: `429` -> one member, `"502/503"` -> two, `"4xx"` -> no member and hundreds 4.
    """
    status: Json = record.data.get("http_status")
    if isinstance(status, int):
        return DocumentedStatus((status,))
    if not isinstance(status, str):
        return DocumentedStatus()
    if status.endswith("xx"):
        return DocumentedStatus(hundreds=int(status[0]))
    return DocumentedStatus(tuple(int(part) for part in status.split("/")))


@dataclass(frozen=True, slots=True)
class Classification:
    """The names of an error (1:2.2), even if its surface does not carry them; empty if the documents give none."""

    type: str = ""
    code: str = ""
    category: str = ""

    @property
    def is_permission(self) -> bool:
        """Whether the account may not do what it asked for."""
        return self.category == "permission"

    @property
    def is_of_the_key(self) -> bool:
        """Whether the key is not valid."""
        return self.category == "authentication"


def classification(record: Record) -> Classification:
    """Return the names of an error record."""
    return Classification(*(record.data.get(field) or "" for field in ("type", "code", "category")))


def own_row(record: Record) -> str:
    """Return the row that an error record was transcribed from: the first that it cites.

    Two records with the same row describe the same fault. Example: `"2:7.3#400; 1:6#errors"` -> `2:7.3#400`.
    """
    return str(record.data.get("source") or record.address).partition("; ")[0]


@dataclass(frozen=True, slots=True)
class RetryAdvice:
    """The advice on whether and when to send the request again (1:2.2).

    It is documented, but for an action without a source, which is ours.
    """

    helps: bool | None = None
    """Whether a retry can help; None if the documents do not say, or if it depends."""
    depends: str = ""
    """What it depends on, in the documents' words: `conditional`, `poll`, `n/a`."""
    backoff: str = ""
    """How long to wait, in words."""
    action: str = ""
    """What a client should do."""
    action_source: str = ""
    """The rows that give the action, e.g. `2:7.2#chat_not_found`; empty if the action is our own advice."""
    until: str = ""
    """How long the error lasts: `seconds`, `minute`, `day`, `month`, `paid` or `never`; empty if no row says so."""
    recover: tuple[str, ...] = ()
    """What ends the error: `wait`, `change the request`, `shrink`, `rotate the key`, `another model`, `a person`."""
    replay_safe: bool | None = None
    """Whether the whole request may be sent again after output was delivered; None if no row says so."""
    until_source: str = ""
    """The rows that state `until`, e.g. `2:8.2#spend-cap 429 resumes`."""
    recover_source: str = ""
    replay_safe_source: str = ""

    @property
    def sources(self) -> tuple[str, ...]:
        """Every row that gives some of the advice."""
        sources = (self.action_source, self.until_source, self.recover_source, self.replay_safe_source)
        return tuple(row for source in sources if source for row in source.split("; "))

    @property
    def in_words(self) -> str:
        """Whether a retry helps, for a person."""
        return self.depends or {True: "yes", False: "no", None: "not said"}[self.helps]


def retry_advice(record: Record) -> RetryAdvice:
    """Return the advice of an error record."""
    helps = record.data.get("retryable")
    stated = record.data.get("advice") or {}
    until, recover, replay_safe = (stated.get(name) or {} for name in ("until", "recover", "replay_safe"))
    return RetryAdvice(
        helps=helps if isinstance(helps, bool) else None,
        depends=helps if isinstance(helps, str) else "",
        backoff=record.data.get("backoff") or "",
        action=record.data.get("recommended_action") or "",
        action_source=record.data.get("action_source") or "",
        until=until.get("value", ""),
        recover=tuple(recover.get("value", ())),
        replay_safe=replay_safe.get("value"),
        until_source=until.get("source", ""),
        recover_source=recover.get("source", ""),
        replay_safe_source=replay_safe.get("source", ""),
    )


def label_action(action: str, source: str) -> tuple[str, str]:
    """Return a label and a text for an action: documented with its rows, or our own advice without any.

    >>> label_action("Poll.", "2:7.6#202 deferred result not ready")
    ('what to do', 'Poll. (2:7.6#202 deferred result not ready)')
    >>> label_action("Use another key.", "")
    ('our advice', 'Use another key.')
    """
    return ("what to do", f"{action} ({source})") if source else ("our advice", action)


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
            "advice": "advice",
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

_DATED_FIELDS = ("verification", "observed", "retrieved_at", "generated_at", "observed_for_this_key")
_REMARK_FIELDS = ("note", "pinned_reason")

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


def documented_limits(record: Record) -> Json:
    """Return the limits of a rate-limit record, in the form of its provider."""
    return record.data["documented"]


def at_the_limit(record: Record) -> Json:
    """Return what a rate-limit record says of the answer at a limit, or None."""
    return record.data.get("error_semantics_429")


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
        elif field == "advice" and field in data:
            yield DisplayRow(label, {name: _describe_stated(stated) for name, stated in data[field].items()})
        elif data.get(field) is not None:
            yield DisplayRow(label, data[field])
    rules = raw_header_rules(data.get("response_headers"))
    if rules:
        yield DisplayRow("headers", {name: _describe_rule(rule) for name, rule in rules.items()})


def observed_rows(record: Record) -> Iterator[DisplayRow]:
    """Yield the rows of what was observed and when, and of people's remarks."""
    for field in _DATED_FIELDS:
        if record.data.get(field):
            yield DisplayRow(field.replace("_", " "), record.data[field])
    if live_messages(record):
        yield DisplayRow("messages seen live", "\n".join(live_messages(record)))
    for field in _REMARK_FIELDS:
        if record.data.get(field):
            yield DisplayRow(field.replace("_", " "), record.data[field])


def _describe_stated(stated: Mapping[str, Json]) -> str:
    value = stated["value"]
    text = " or ".join(value) if isinstance(value, list) else {False: "no", True: "yes"}.get(value, value)
    return f"{text} ({stated['source']})"


def _describe_rule(rule: Mapping[str, Json]) -> str:
    return f"{rule['rule']} {rule.get('value') or rule.get('format') or ''}".strip()
