"""Exchanges: a request and what came back, its usual label, and who answered it.

Exchanges name models and other real names by their stand-ins, and are redacted before anything is kept.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.catalog.model.outcome import Reason
    from catalog_probe.catalog.text.json_values import Json


ANSWER = "answer"
"""The answer of an error record, and an ordinary answer of a rate-limit record."""

SUCCESS = "success"
"""The answer of an endpoint record, and of a rule that allows something."""

OWN_LABELS = frozenset({ANSWER, SUCCESS})
"""The answers that a record is about: without one of them it is not probed, whatever else was answered."""

CONTINUE = "continue"
"""The interim answer 100 to a body that was announced: its size is allowed (RFC 9110, 10.1.1)."""

STREAM = "stream"
"""The streamed form of an endpoint."""

MISSING_CREDENTIAL, WRONG_CREDENTIAL = "missing_credential", "wrong_credential"
"""The refusals of a request without a key, and of one with a key that was never issued."""

LIMITED = "limited"
"""The 429 beyond a limit, in rate-limit records."""

CONTROL, SETUP, CLEANUP = "control", "setup", "cleanup"

UNJUDGED_LABELS = frozenset({CONTROL, SETUP, CLEANUP})
"""Exchanges that serve other exchanges; no record judges them."""


NO_SUCH_PATH = frozenset({404, 405})
"""The statuses of an unknown path, or of an unknown method on a path."""


def is_success(status: int | None) -> bool:
    """Whether a status is 2xx. A redirection is no success, nor is an answer without a status."""
    return status is not None and 200 <= status < 300


class AnsweredBy(StrEnum):
    """Who answers. Only answers that come straight from a provider are evidence for the records."""

    PROVIDER = "provider"
    GATEWAY = "gateway"
    """A host in between. It may answer by itself, and its own changes are no drift of the provider."""
    COMPATIBLE = "compatible"
    """A server of somebody else's that answers like the provider. The run judges that server, and all of it."""
    MOCK = "mock"
    RECORDING = "recording"
    """Recorded traffic, which does not say who answered."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request as sent, with stand-ins for real names."""

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Json = None


@dataclass(frozen=True, slots=True)
class Truncation:
    """What is kept of a body or of event data that was too large, beside its beginning, which replaces it.

    `size` is in bytes: of the text, or of the JSON without white space. `sha256` is of the same bytes. `values` are the
    values at the JSON pointers that the record's assertions name; a long value is shortened.
    """

    size: int
    sha256: str
    values: Mapping[str, Json] = field(default_factory=dict)


DEFAULT_EVENT_NAME = "message"
"""The name of an event without one (HTML standard, 9.2.6), and of a WebSocket message without a type."""


@dataclass(frozen=True, slots=True)
class Event:
    """One server-sent event or one WebSocket frame; `at_ms` counts from the start of its exchange."""

    event: str
    data: Json = None
    at_ms: float = 0.0
    sent: bool = False
    cut: Truncation | None = None


@dataclass(frozen=True, slots=True)
class Close:
    """The end of a WebSocket. `clean`: a close frame was received and answered."""

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
    """A response, with stand-ins for real names.

    `body_type` is `json`, `text`, `binary` (then the body is its size and digest) or `empty`. `ended` is how the stream
    or body stopped: `complete`, `capped`, `stalled`, `malformed` or `cut`.
    """

    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Json = None
    body_type: str = "empty"
    events: tuple[Event, ...] | None = None
    close: Close | None = None
    grpc: GrpcStatus | None = None
    ended: str = "complete"
    cut: Truncation | None = None


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request with its response, or with the reason why there is none.

    `label` is the step of the record that judges it (`answer`, `success`, …) or its part in the probe (`control`,
    `setup`). `endpoint` is the address of the endpoint record, if the recipe says it; else it is found by method and
    path. `started_ms` counts from the start of the attempt. `http_version` is that of the response (`HTTP/1.1`), or
    None without one. `proxy` is host and port of the proxy on the way.
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
