"""Calls: what a recipe can send, in stand-ins: requests, bodies, conversations."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, Literal, TypedDict, Unpack
from urllib.parse import quote
from zlib import crc32

from catalog_probe.catalog.text.json_values import find_value, list_strings, map_strings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from catalog_probe.catalog.model import Json


# The placeholder for a name that no other attempt uses, tonight or later: an account may hold each name only once.
OWN_NAME = "own_name"

PLACEHOLDER = re.compile(r"\{([a-z][a-z0-9_]*)\}")

# Besides letters, digits and `-._~`, what stands for itself in a path (RFC 3986, 3.3). With `%`: ids may be encoded.
_PATH_CHARACTERS = "/%:@!$&'()*+,;="


def placeholders_in(value: Any) -> Iterator[str]:
    """Yield the name of every placeholder in the texts of a value, as often as it occurs."""
    for text in list_strings(value):
        if "{" in text:
            yield from PLACEHOLDER.findall(text)


def own_name(session: str) -> str:
    """Return the name that `{own_name}` stands for in the session of one attempt."""
    return f"catalog probe {crc32(session.encode()):08x}"


def fill_placeholders(value: Any, values: Mapping[str, str]) -> Any:
    """Return the value with every known placeholder replaced; an unknown one stays as it is."""

    def fill(text: str) -> str:
        return PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), text) if "{" in text else text

    return fill(value) if isinstance(value, str) else map_strings(value, fill)


def fill_path(path: str, values: Mapping[str, str]) -> str:
    """Fill the placeholders of a path, with what would end a path percent-encoded."""

    def fill(match: re.Match[str]) -> str:
        return quote(values[match[1]], _PATH_CHARACTERS, errors="replace") if match[1] in values else match[0]

    return PLACEHOLDER.sub(fill, path)


GRPC_HOST = "grpc_host"  # the address at which gRPC is spoken

CLOSED_PORT = "closed_port"  # nobody listens
FULL_PORT = "full_port"  # a listener whose queue is full, so that no connection is ever made
PLAIN_PORT = "plain_port"  # a listener that does not speak TLS, addressed by https

# Served on this machine; a target has no address for them.
LOOPBACK_SERVICES = frozenset({CLOSED_PORT, FULL_PORT, PLAIN_PORT})


@dataclass(frozen=True, slots=True)
class JsonBody:
    """A JSON value, in stand-ins; null is a value too."""

    value: Json


@dataclass(frozen=True, slots=True)
class BytesBody:
    """Bytes, sent unchanged; the call's headers name their type."""

    data: bytes


@dataclass(frozen=True, slots=True)
class DeclaredBody:
    """A body of `length` bytes, generated while it is sent, and only as far as the other side reads it."""

    length: int


@dataclass(frozen=True, slots=True)
class AnnouncedBody:
    """A body of `length` bytes that is announced with `Expect: 100-continue` and never sent.

    The answer is 100 if the server wants the body, else its refusal (RFC 9110, 10.1.1).
    """

    length: int


@dataclass(frozen=True, slots=True)
class NoBody:
    """No body at all."""


Body = JsonBody | BytesBody | DeclaredBody | AnnouncedBody | NoBody
NO_BODY = NoBody()


def to_body(value: Json | Body) -> Body:
    """Return a body unchanged, and any other value as JSON.

    Raises:
        TypeError: bytes, which are no JSON value; use `BytesBody`.
    """
    if isinstance(value, bytes):
        raise TypeError("bytes are no JSON value; use BytesBody(…)")
    return value if isinstance(value, Body) else JsonBody(value)


# The messages received so far: the name of a message -> the data of the last one of that name.
ReceivedMessages = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SendMessage:
    """Send one message: a JSON value, text or bytes, or a function that makes one of the messages received."""

    message: Json | bytes | Callable[[ReceivedMessages], Json]


@dataclass(frozen=True, slots=True)
class AwaitMessage:
    """Wait for the message called `event`, whatever comes before it.

    `failure_event` is the message that shows that `event` will not come. Without one, only silence ends the wait.
    """

    event: str
    failure_event: str = ""


@dataclass(frozen=True, slots=True)
class AwaitClose:
    """Wait until the other side closes, whatever comes before that."""


ScriptStep = SendMessage | AwaitMessage | AwaitClose

AWAIT_CLOSE = AwaitClose()


# The method of a call that opens a WebSocket, as the documents write it (1:2.1).
WS = "WS"

# The method of a gRPC call: its path is `/<package>.<service>/<method>`, its body the message as JSON.
GRPC = "GRPC"

# Value of the mock's clock header that stops its clock; an offset may follow (`still+1m`).
STOPPED_CLOCK = "still"

# An id where the documents show none: one segment of a path, safe however a server decodes it (assumed).
ASSUMED_ID = r"[A-Za-z0-9][A-Za-z0-9._~-]{0,255}"


class LaneKey(Enum):
    """The credential of a call that names none of its own."""

    LANE_KEY = "the key of the lane that sends the call"


LANE_KEY: Final = LaneKey.LANE_KEY
# A role of the target, the key of whichever lane sends the call, or no key at all.
Role = str | Literal[LaneKey.LANE_KEY] | None


@dataclass(frozen=True, slots=True)
class MockControls:
    """What only a mock is told: the scenario of the call, and the offset of its clock (`+25h`, `still+1m`)."""

    scenario: str | None = None
    clock: str | None = None


class InvocationOptions(TypedDict, total=False):
    """Options of a gRPC call."""

    headers: Mapping[str, str | None]
    credential: Role
    mock: MockControls
    timeout_s: float | None
    expects_failure: bool


class CallOptions(InvocationOptions, total=False):
    """Options of any call besides its method, path and body."""

    query: tuple[tuple[str, str], ...]
    key_header: tuple[str, str] | None
    service: str
    stream: bool
    connect_timeout_s: float | None
    secrets: tuple[str, ...]
    removal: Removal | None
    may_not_come: str


class CallChanges(CallOptions, total=False):
    """The fields that `Call.replace` takes."""

    method: str
    path: str
    body: Body
    script: tuple[ScriptStep, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """One request in stand-ins.

    Attributes:
        headers: a header set to None is left out even where the target sends it by default.
        credential: a role of the target; None sends no key.
        key_header: the (header, scheme) that carries the key, where it is not the provider's usual one.
        mock: what only a mock is told.
        connect_timeout_s: how long to wait for a connection.
        timeout_s: how long to wait for the answer once connected.
        script: what to send and to wait for once a WebSocket is open (method `WS`).
        expects_failure: whether a failed transport is what the call is after.
        secrets: JSON pointers into the answer. What lies there is a credential: a later call may send it, and no
            evidence holds it.
        removal: how to remove again what the call makes on the account.
        may_not_come: a text of the answer that shows the behaviour, such as an error code, if the provider need not
            show it. A live success without this text is not judged, and its absence makes no night blind.
    """

    method: str
    path: str
    body: Body = NO_BODY
    headers: Mapping[str, str | None] = field(default_factory=dict)
    query: tuple[tuple[str, str], ...] = ()
    credential: Role = LANE_KEY
    key_header: tuple[str, str] | None = None
    service: str = "base_url"
    stream: bool = False
    mock: MockControls = MockControls()
    connect_timeout_s: float | None = None
    timeout_s: float | None = None
    script: tuple[ScriptStep, ...] = ()
    expects_failure: bool = False
    secrets: tuple[str, ...] = ()
    removal: Removal | None = None
    may_not_come: str = ""

    def replace(self, **changes: Unpack[CallChanges]) -> Call:
        """Return a copy with some fields changed."""
        return dataclasses.replace(self, **changes)

    def with_headers(self, **headers: str | None) -> Call:
        """Return a copy with headers set, or left out where None; `_` stands for `-` in a name."""
        changes = {name.replace("_", "-"): value for name, value in headers.items()}
        return dataclasses.replace(self, headers={**self.headers, **changes})

    def with_fields(self, **fields: Json) -> Call:
        """Return a copy with some fields of its JSON body set.

        Raises:
            TypeError: its body is no JSON object.
        """
        return dataclasses.replace(self, body=JsonBody({**self._json_object(), **fields}))

    def without_fields(self, *names: str) -> Call:
        """Return a copy without some fields of its JSON body.

        Raises:
            TypeError: its body is no JSON object.
        """
        remaining = {name: value for name, value in self._json_object().items() if name not in names}
        return dataclasses.replace(self, body=JsonBody(remaining))

    def _json_object(self) -> Mapping[str, Any]:
        if not isinstance(self.body, JsonBody) or not isinstance(self.body.value, Mapping):
            raise TypeError(f"{self.method} {self.path} carries no JSON object")
        return self.body.value

    def with_scenario(self, scenario: str) -> Call:
        """Return a copy that runs under a mock scenario, `NAME[;param=value…]`."""
        return dataclasses.replace(self, mock=dataclasses.replace(self.mock, scenario=scenario))

    def with_clock(self, offset: str) -> Call:
        """Return a copy that a mock answers as if so much later (`+25h`); a provider's clock cannot be moved."""
        return dataclasses.replace(self, mock=dataclasses.replace(self.mock, clock=offset))

    def with_stopped_clock(self) -> Call:
        """Return a copy for which a mock's clock stands still: the same time for all such calls of a session."""
        offset = (self.mock.clock or "").removeprefix(STOPPED_CLOCK)
        return self.with_clock(f"{STOPPED_CLOCK}{offset}")

    def credential_role(self, lane_role: str) -> str | None:
        """Return the role whose key authorises the call in a lane of this role; None if no key does."""
        return lane_role if self.credential is LANE_KEY else self.credential

    @property
    def is_websocket(self) -> bool:
        """Whether the call opens a WebSocket."""
        return self.method == WS

    @property
    def is_grpc(self) -> bool:
        """Whether the call goes over gRPC."""
        return self.method == GRPC

    def missing_messages(self, received: Iterable[str]) -> list[str]:
        """List the messages that the script waits for and that were not received."""
        received = set(received)
        return [step.event for step in self.script if isinstance(step, AwaitMessage) and step.event not in received]

    @property
    def placeholders(self) -> frozenset[str]:
        """The values of the target that the call needs."""
        messages = [step.message for step in self.script if isinstance(step, SendMessage)]
        body = self.body.value if isinstance(self.body, JsonBody) else None
        return frozenset(placeholders_in((self.path, body, dict(self.headers), self.query, messages))) - {OWN_NAME}

    def with_values(self, values: Mapping[str, str]) -> Call:
        """Return a copy with the target's values in its body, query and messages."""
        if not self.script and not self.query and not isinstance(self.body, JsonBody):
            return self  # nothing in it can hold a placeholder
        script = tuple(_fill_message(step, values) if isinstance(step, SendMessage) else step for step in self.script)
        body = JsonBody(fill_placeholders(self.body.value, values)) if isinstance(self.body, JsonBody) else self.body
        return dataclasses.replace(self, body=body, query=fill_placeholders(self.query, values), script=script)


@dataclass(frozen=True, slots=True)
class Removal:
    """How one kind of resource that calls make is removed again.

    Attributes:
        name: the run's journal keeps only this and the id. The recipes list every removal in `REMOVALS`.
        call: the request that removes; `{id}` in its path, query or JSON body stands for the resource's id.
        id_pointer: JSON pointer to the id in the answer of the call that made the resource.
        id_pattern: the whole id must match it.
    """

    name: str
    call: Call
    id_pointer: str = "/id"
    id_pattern: str = ASSUMED_ID

    def find_id(self, body: Json) -> str | None:
        """Return the id of what was made, or None if the answer holds none that can be removed."""
        resource_id = find_value(body, self.id_pointer)
        return resource_id if isinstance(resource_id, str) and self.is_valid_id(resource_id) else None

    def is_valid_id(self, resource_id: str) -> bool:
        return re.fullmatch(self.id_pattern, resource_id) is not None

    def make_call(self, resource_id: str) -> Call:
        """Return the call that removes one resource; its id must be valid."""
        # A slash stays as it is: only a pattern that has one lets it through.
        path = fill_placeholders(self.call.path, {"id": quote(resource_id, safe="/")})
        return self.call.with_values({"id": resource_id}).replace(path=path)


def get(path: str, **options: Unpack[CallOptions]) -> Call:
    return Call("GET", path, **options)


def post(path: str, body: Json | Body = NO_BODY, **options: Unpack[CallOptions]) -> Call:
    """POST a JSON value, or a body of another kind."""
    return Call("POST", path, to_body(body), **options)


def delete(path: str, **options: Unpack[CallOptions]) -> Call:
    return Call("DELETE", path, **options)


def invoke(path: str, message: Json | Body = NO_BODY, **options: Unpack[InvocationOptions]) -> Call:
    """Call a gRPC method; `timeout_s` is the deadline that travels with the call."""
    return Call(GRPC, path, to_body(message), service=GRPC_HOST, **options)


def converse(path: str, *steps: ScriptStep, **options: Unpack[CallOptions]) -> Call:
    """Open a WebSocket and follow a script on it."""
    return Call(WS, path, script=steps, **options)


def _fill_message(step: SendMessage, values: Mapping[str, str]) -> SendMessage:
    message: Any = step.message
    if callable(message):
        return SendMessage(lambda received: fill_placeholders(message(received), values))
    return SendMessage(fill_placeholders(message, values))
