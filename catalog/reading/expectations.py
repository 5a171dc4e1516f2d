"""What must be seen: turns a record into the expectations that an exchange of each label is compared with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields

from catalog.envelopes.envelope import WIRE_ASPECTS, Envelope, envelope
from catalog.envelopes.grpc_statuses import AS_HTTP
from catalog.model import Json, Record

LIMITED = "limited"
"""The label of the answer beyond a limit, in rate-limit records: 429."""


BEGUN: Mapping[str, int] = {"sse": 200, "websocket": 101}
"""The HTTP status with which a stream begins, whatever it carries later; gRPC has none that matters."""

Lookup = Callable[[str], Record]


@dataclass(frozen=True, slots=True)
class HeaderRule:
    """What the documents say of one response header (stand-in name)."""

    name: str
    rule: str
    value: str = ""
    format: str = ""
    family: str = ""
    """The limit that the header tells of, with others of the same family; only in rate-limit records."""
    part: str = ""
    """What it tells of that limit: `limit`, `remaining` or `reset`."""
    multiple_of: int = 1
    optional: bool = False
    """Whether it may be absent, as long as its whole family is."""
    source: str = ""
    """The row that states it."""


@dataclass(frozen=True, slots=True)
class StreamRule:
    """What the documents say of an answer that travels as an event, a frame, a close or a gRPC status."""

    protocol: str
    event: str | None = None
    terminal: str | None = None
    """The event that must come last."""
    events: tuple[str, ...] = ()
    """Events that must occur, in this order; others may stand between them."""
    close_code: tuple[int, int] | None = None
    """The documented code, as a range that both ends belong to."""
    close_clean: bool | None = None
    close_reason: bool = False
    """Whether the close must say why."""
    grpc_status: int | None = None
    trailers: tuple[str, ...] = ()

    @property
    def closes(self) -> bool:
        """Whether anything is documented of how the other side closes."""
        return self.close_code is not None or self.close_clean is not None or self.close_reason


@dataclass(frozen=True, slots=True)
class Expected:
    """Everything the documents assert of the exchange with this label."""

    label: str
    address: str
    envelope: Envelope
    status: int | None
    """The status of the HTTP answer itself, or None where the documents give none."""
    told_status: int | None = None
    """The HTTP status that the envelope repeats, where it has a place for it."""
    status_class: int | None = None
    """4 where the documents say only `4xx`."""
    wire: Mapping[str, Json] = field(default_factory=dict)
    message_pattern: str | None = None
    message_source: str = ""
    headers: tuple[HeaderRule, ...] = ()
    fields: Mapping[str, Json] = field(default_factory=dict)
    sums: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Pointer of a total -> pointers of its parts; an absent part counts nothing."""
    stream: StreamRule | None = None
    same_body_as: str | None = None
    failure: str | None = None
    """The reason code that a client-side outcome must have; only on surface `client`."""


def expectations(record: Record, lookup: Lookup) -> tuple[Expected, ...]:
    """The expectations of a record by label; `lookup` finds the error records that an endpoint's rules name.

    Raises:
        KeyError: an address or a surface that the record names does not exist.
    """
    match record.kind:
        case "errors":
            return error_expectations(record)
        case "endpoints":
            return _of_endpoint(record, lookup)
        case _:
            return _of_rate_limits(record)


def statuses(record: Record) -> tuple[int | None, ...]:
    """The HTTP statuses of an error record; a group such as `502/503/504/529` has several."""
    documented = record.data.get("http_status")
    if isinstance(documented, str):
        return tuple(int(part) for part in documented.split("/") if part.isdigit()) or (None,)
    return (documented,)


def error_expectations(record: Record) -> tuple[Expected, ...]:
    """The expectations of an error record, which needs no other: of each member of its group, or of each cause."""
    group = statuses(record)
    if len(group) > 1:
        return tuple(_error(record, str(status), status) for status in group)
    causes = tuple(record.data.get("causes") or {"answer": ""})
    same = causes[0] if record.data.get("same_body") else None
    return tuple(_error(record, label, group[0], same_body_as=same if label != same else None) for label in causes)


def _error(record: Record, label: str, status: int | None, same_body_as: str | None = None) -> Expected:
    data = record.data
    shape = envelope(data["surface"])
    stream = _stream(data.get("stream"))
    return Expected(
        label=label,
        address=str(record.address),
        envelope=shape,
        status=BEGUN.get(stream.protocol) if stream is not None else status,
        told_status=status,
        status_class=_status_class(data.get("http_status")),
        wire={aspect: data.get(aspect) for aspect in WIRE_ASPECTS if aspect in shape.wire and aspect in data},
        message_pattern=(data.get("message_pattern") or {}).get("pattern"),
        message_source=str((data.get("message_pattern") or {}).get("source", "")),
        headers=_headers(data.get("response_headers")),
        fields=data.get("fields") or {},
        stream=stream,
        same_body_as=same_body_as,
        failure=data.get("failure"),
    )


def _status_class(documented: Json) -> int | None:
    return int(documented[0]) if isinstance(documented, str) and documented.endswith("xx") else None


def _of_endpoint(record: Record, lookup: Lookup) -> tuple[Expected, ...]:
    data = record.data
    expected = [_success(record, "success")]
    auth = data.get("auth") or {}
    for label, key in (("missing_credential", "missing"), ("wrong_credential", "wrong")):
        if isinstance(auth, dict) and auth.get(key):
            expected.append(_refused(lookup(auth[key]), label))
    for rule in (data.get("request") or {}).get("rules", ()):
        if rule["answer"] == "success":
            expected.append(_success(record, rule["label"]))
        else:
            expected.append(_refused(lookup(rule["answer"]), rule["label"]))
    if isinstance(data.get("streaming"), dict):
        expected.append(_streamed(record, data["streaming"]))
    return tuple(expected)


def _success(record: Record, label: str) -> Expected:
    response = record.data.get("response") or {}
    return Expected(
        label=label,
        address=str(record.address),
        envelope=envelope(response.get("surface") or record.data["surface"]),
        status=response.get("status"),
        headers=_headers(response.get("headers")),
        fields=response.get("fields") or {},
        sums={total: tuple(parts) for total, parts in (response.get("sums") or {}).items()},
        stream=_stream(response.get("stream")),
    )


def _streamed(record: Record, streaming: Mapping[str, Json]) -> Expected:
    response = record.data.get("response") or {}
    return Expected(
        label="stream",
        address=str(record.address),
        envelope=envelope(streaming.get("surface", "any")),
        status=response.get("status", 200),
        headers=_headers(response.get("headers")),
        fields=streaming.get("fields") or {},
        stream=_stream(streaming),
    )


def _refused(error: Record, label: str) -> Expected:
    return _error(error, label, statuses(error)[0])


def _of_rate_limits(record: Record) -> tuple[Expected, ...]:
    """One expectation for each label that a header is documented for; an ordinary answer is always looked at."""
    rules = named_headers(record.data.get("headers"))
    labels = dict.fromkeys(["answer", *(label for rule in rules.values() for label in rule.get("on", ()))])
    return tuple(
        Expected(
            label,
            str(record.address),
            envelope("any"),
            429 if label == LIMITED else 200,
            headers=_headers(
                {
                    name: {**rule, "optional": label in rule.get("optional", ())}
                    for name, rule in rules.items()
                    if label in rule.get("on", ("answer",))
                }
            ),
        )
        for label in labels
    )


def named_headers(headers: Json) -> Mapping[str, Mapping[str, Json]]:
    """The header rules of a rate-limit record by name; PC's are an array, in which samples need have no rule."""
    if isinstance(headers, list):
        return {header["name"]: header for header in headers if "rule" in header}
    return headers if isinstance(headers, dict) else {}


def _headers(rules: Json) -> tuple[HeaderRule, ...]:
    if not isinstance(rules, dict):
        return ()
    keys = [each.name for each in fields(HeaderRule)]
    return tuple(
        HeaderRule(**{**{key: value for key, value in rule.items() if key in keys}, "name": name})
        for name, rule in rules.items()
    )


def _stream(data: Json) -> StreamRule | None:
    if not isinstance(data, dict) or "protocol" not in data:
        return None
    code = data.get("close_code")
    return StreamRule(
        protocol=data["protocol"],
        event=data.get("event"),
        terminal=data.get("terminal"),
        events=tuple(data.get("events") or data.get("after") or ()),
        close_code=(code, code) if isinstance(code, int) else tuple(code) if code else None,
        close_clean=data.get("close_clean"),
        close_reason=data.get("close_reason", False),
        grpc_status=data.get("grpc_status"),
        trailers=tuple(data.get("trailers") or ()),
    )


def asked_of(expected: Expected) -> int | None:
    """The HTTP status that is asked for, or the one that the gRPC status asked for maps to."""
    stream = expected.stream
    return expected.status if stream is None or stream.grpc_status is None else AS_HTTP.get(stream.grpc_status)
