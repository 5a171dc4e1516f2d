"""What was sent and what came of it, in stand-ins; what is kept of it is redacted."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.catalog.model.outcome import Reason
    from catalog_probe.catalog.text.json_value import Json


@dataclass(frozen=True, slots=True)
class Request:
    """What was sent, in stand-ins."""

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Json = None


@dataclass(frozen=True, slots=True)
class Cut:
    """What is kept of a body or of event data that was too large, beside its beginning, which stands in its place.

    `size` is in bytes: of the text, or of the JSON without white space. `sha256` is of the same bytes. `values` are the
    values at the JSON pointers that the record's assertions name, each as it was, or the beginning of a long one.
    """

    size: int
    sha256: str
    values: Mapping[str, Json] = field(default_factory=dict)


UNNAMED = "message"
"""What an event is called that has no name (HTML standard, 9.2.6), and a message of a socket that says none."""


@dataclass(frozen=True, slots=True)
class Event:
    """One server-sent event or one WebSocket frame; `at_ms` counts from the start of its exchange."""

    event: str
    data: Json = None
    at_ms: float = 0.0
    sent: bool = False
    cut: Cut | None = None


@dataclass(frozen=True, slots=True)
class Close:
    """How a WebSocket ended. `clean`: a close frame was received and answered."""

    code: int | None
    reason: str = ""
    clean: bool = True


@dataclass(frozen=True, slots=True)
class GrpcStatus:
    """The end of a gRPC call: canonical status number, message and trailers."""

    status: int
    message: str = ""
    trailers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Response:
    """What was seen, in stand-ins.

    `body_type` is `json`, `text`, `binary` (whose body is its size and digest) or `empty`; `ended` says how a stream or
    body stopped: `complete`, or `capped`, `stalled`, `malformed`, `cut`.
    """

    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Json = None
    body_type: str = "empty"
    events: tuple[Event, ...] | None = None
    close: Close | None = None
    grpc: GrpcStatus | None = None
    ended: str = "complete"
    cut: Cut | None = None


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and what came of it: a response, or the reason there is none.

    `label` is the expectation it is judged by (`answer`, `success`, …) or its part in the probe (`control`, `setup`).
    `endpoint` is the address of the endpoint record that it was sent to, where the recipe says so; else it is found by
    method and path. `started_ms` counts from the start of the attempt. `http_version` is as the answer says it
    (`HTTP/1.1`), None where there is none; `proxy` is host and port of the proxy that the request went through.
    """

    label: str
    request: Request
    response: Response | None = None
    failure: Reason | None = None
    started_ms: float = 0.0
    elapsed_ms: float = 0.0
    endpoint: str = ""
    http_version: str | None = None
    proxy: str | None = None


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt to trigger a record's behaviour."""

    started_at: str
    elapsed_ms: float
    exchanges: tuple[Exchange, ...]
