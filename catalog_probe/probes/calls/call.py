"""A call: one request in stand-ins, before a target gives it an address, a key and real names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, Literal, TypedDict, Unpack
from urllib.parse import quote

from catalog_probe.catalog.text.json_pointer import find
from catalog_probe.probes.calls.body import NO_BODY, Body, JsonBody, body_of
from catalog_probe.probes.calls.placeholders import OWN_NAME, filled, placeholders_in
from catalog_probe.probes.calls.script import Hear, Say, Step
from catalog_probe.probes.calls.services import GRPC_HOST

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Json

WS = "WS"
"""The method of a call that opens a WebSocket, as the documents write it (1:2.1)."""

GRPC = "GRPC"
"""The method of a gRPC call, whose path is `/<package>.<service>/<method>`; the body is its message as JSON."""


STILL = "still"
"""What a mock's clock is told so that it stands still; behind it, how much later it is (`still+1m`)."""


class LaneKey(Enum):
    """The credential of a call that names none of its own."""

    LANE_KEY = "the key of the lane that sends the call"


LANE_KEY: Final = LaneKey.LANE_KEY
Role = str | Literal[LaneKey.LANE_KEY] | None
"""A role of the target, the key of whichever lane sends the call, or no key at all."""


@dataclass(frozen=True, slots=True)
class Mock:
    """What goes to a mock only: the cause that befalls the call, and what its clock says (`+25h`, `still+1m`)."""

    scenario: str | None = None
    clock: str | None = None


class InvocationOptions(TypedDict, total=False):
    """What may be said of a gRPC call besides its path and message."""

    headers: Mapping[str, str | None]
    credential: Role
    mock: Mock
    timeout_s: float | None
    fails: bool


class CallOptions(InvocationOptions, total=False):
    """What may be said of any call besides its method, path and body."""

    query: tuple[tuple[str, str], ...]
    key_in: tuple[str, str] | None
    service: str
    stream: bool
    connect_s: float | None
    secrets: tuple[str, ...]
    removal: Removal | None


class CallChanges(CallOptions, total=False):
    """What may be changed of a call: all of it."""

    method: str
    path: str
    body: Body
    script: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """One request in stand-ins, before the target gives it an address, a key and real names.

    A header set to None is left out even where the target sends it by default. `credential` names a role of the
    target; None sends no key. `key_in` is the (header, scheme) that carries the key where it is not the provider's
    usual one. `script` is what is said and heard once a WebSocket is open (method `WS`). `connect_s` and `timeout_s`
    say how long the call waits for a connection, and from then on for its answer. `fails` says that a failed
    transport is what the call is after. `secrets` are JSON pointers into the answer: what lies there is a credential,
    which a later call may send and which is kept out of all evidence. `removal` says, of a
    call that makes something on the account, how that is removed again.
    """

    method: str
    path: str
    body: Body = NO_BODY
    headers: Mapping[str, str | None] = field(default_factory=dict)
    query: tuple[tuple[str, str], ...] = ()
    credential: Role = LANE_KEY
    key_in: tuple[str, str] | None = None
    service: str = "base_url"
    stream: bool = False
    mock: Mock = Mock()
    connect_s: float | None = None
    timeout_s: float | None = None
    script: tuple[Step, ...] = ()
    fails: bool = False
    secrets: tuple[str, ...] = ()
    removal: Removal | None = None

    def but(self, **changes: Unpack[CallChanges]) -> Call:
        """The same call with some fields changed."""
        return replace(self, **changes)

    def with_headers(self, **headers: str | None) -> Call:
        """The same call with headers set, or left out where None; `_` stands for `-` in a name."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return replace(self, headers={**self.headers, **named})

    def with_fields(self, **fields: Json) -> Call:
        """The same call with some fields of its JSON body set otherwise.

        Raises:
            TypeError: its body is no JSON object.
        """
        if not isinstance(self.body, JsonBody) or not isinstance(self.body.value, Mapping):
            raise TypeError(f"{self.method} {self.path} carries no JSON object")
        return replace(self, body=JsonBody({**self.body.value, **fields}))

    def without_fields(self, *names: str) -> Call:
        """The same call without some fields of its JSON body.

        Raises:
            TypeError: its body is no JSON object.
        """
        if not isinstance(self.body, JsonBody) or not isinstance(self.body.value, Mapping):
            raise TypeError(f"{self.method} {self.path} carries no JSON object")
        return replace(self, body=JsonBody({key: each for key, each in self.body.value.items() if key not in names}))

    def befallen(self, scenario: str) -> Call:
        """The same call as it suffers a cause, `NAME[;param=value…]`, that only the provider, or a mock, has."""
        return replace(self, mock=replace(self.mock, scenario=scenario))

    def later(self, clock: str) -> Call:
        """The same call sent so much later (`+25h`) by the clock of a mock; a provider's cannot be moved."""
        return replace(self, mock=replace(self.mock, clock=clock))

    def still(self) -> Call:
        """The same call while time stands still by the clock of a mock, for all of a session that are sent so."""
        clock = (self.mock.clock or "").removeprefix(STILL)
        return replace(self, mock=replace(self.mock, clock=f"{STILL}{clock}"))

    def role_in(self, lane: str) -> str | None:
        """The role whose key authorises the call when the lane of role `lane` sends it; None: no key does."""
        return lane if self.credential is LANE_KEY else self.credential

    @property
    def websocket(self) -> bool:
        """Whether the call opens a WebSocket."""
        return self.method == WS

    @property
    def grpc(self) -> bool:
        """Whether the call goes over gRPC."""
        return self.method == GRPC

    def unheard(self, events: Iterable[str]) -> list[str]:
        """What the script waits for and was not heard."""
        heard = set(events)
        return [step.event for step in self.script if isinstance(step, Hear) and step.event not in heard]

    @property
    def placeholders(self) -> frozenset[str]:
        """The values of the target that the call needs."""
        said = [step.message for step in self.script if isinstance(step, Say)]
        asked = self.body.value if isinstance(self.body, JsonBody) else None
        return frozenset(placeholders_in((self.path, asked, dict(self.headers), self.query, said))) - {OWN_NAME}

    def filled(self, values: Mapping[str, str]) -> Call:
        """The same call with the target's values in its body, query and messages."""
        if not self.script and not self.query and not isinstance(self.body, JsonBody):
            return self  # it has none
        script = tuple(_said(step, values) if isinstance(step, Say) else step for step in self.script)
        body = JsonBody(filled(self.body.value, values)) if isinstance(self.body, JsonBody) else self.body
        return replace(self, body=body, query=filled(self.query, values), script=script)


ASSUMED_ID = r"[A-Za-z0-9][A-Za-z0-9._~-]{0,255}"
"""What an id may look like where the documents show none: one segment of a path, whatever decodes it (assumed)."""


@dataclass(frozen=True, slots=True)
class Removal:
    """How one kind of thing that calls make is removed again.

    `{id}` in the path, query or JSON body of `call` stands for the thing's id. It lies in the answer of the call that
    made it at the JSON pointer `id_at`, and must match the whole of `id_pattern`. The package of the recipes lists each
    removal in `REMOVALS`: the journal of a run keeps its name and the id alone.
    """

    name: str
    call: Call
    id_at: str = "/id"
    id_pattern: str = ASSUMED_ID

    def find_id(self, body: Json) -> str | None:
        """The id that an answer gives what was made, or None where it gives none that can be removed."""
        found = find(body, self.id_at)
        return found if isinstance(found, str) and self.fits(found) else None

    def fits(self, resource_id: str) -> bool:
        return re.fullmatch(self.id_pattern, resource_id) is not None

    def of(self, resource_id: str) -> Call:
        """The call that removes one thing, whose id fits."""
        # A slash is left as it is: it comes through only where the pattern has one.
        path = filled(self.call.path, {"id": quote(resource_id, safe="/")})
        return self.call.filled({"id": resource_id}).but(path=path)


def get(path: str, **options: Unpack[CallOptions]) -> Call:
    return Call("GET", path, **options)


def post(path: str, body: Json | Body = NO_BODY, **options: Unpack[CallOptions]) -> Call:
    """POST a JSON value, or a body of another kind."""
    return Call("POST", path, body_of(body), **options)


def delete(path: str, **options: Unpack[CallOptions]) -> Call:
    return Call("DELETE", path, **options)


def invoke(path: str, message: Json | Body = NO_BODY, **options: Unpack[InvocationOptions]) -> Call:
    """Call a gRPC method; `timeout_s` is the deadline that travels with the call."""
    return Call(GRPC, path, body_of(message), service=GRPC_HOST, **options)


def converse(path: str, *steps: Step, **options: Unpack[CallOptions]) -> Call:
    """Open a WebSocket and follow a script on it."""
    return Call(WS, path, script=steps, **options)


def _said(step: Say, values: Mapping[str, str]) -> Say:
    message: Any = step.message
    if callable(message):
        return Say(lambda heard: filled(message(heard), values))
    return Say(filled(message, values))
