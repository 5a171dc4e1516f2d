"""A call: one request in stand-ins, before a target gives it an address, a key and real names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from probes.calls.script import Hear, Say, Step

if TYPE_CHECKING:
    from catalog.model import Json

PLACEHOLDER = re.compile(r"\{([a-z][a-z0-9_]*)\}")
"""`{small_model}` in a path, header or body stands for a value of the target."""

WS = "WS"
"""The method of a call that opens a WebSocket, as the documents write it (1:2.1)."""

GRPC = "GRPC"
"""The method of a gRPC call, whose path is `/<package>.<service>/<method>`; the body is its message as JSON."""


class _NoBody:
    def __repr__(self) -> str:
        return "NO_BODY"


NO_BODY: Any = _NoBody()
"""No request body at all; None would be the JSON value null."""


@dataclass(frozen=True, slots=True)
class Call:
    """One request in stand-ins, before the target gives it an address, a key and real names.

    A header set to None is left out even where the target sends it by default. `credential` names a role of the
    target; None sends no key. `key_in` is the (header, scheme) that carries the key where it is not the provider's
    usual one. `declared_bytes` sends a body of that many bytes, generated while sending. `script` is what is said and
    heard once a WebSocket is open (method `WS`). `fails` says that a failed transport is what the call is after.
    `scenario` and `clock` go to a mock only. `secrets` are JSON pointers into the answer: what lies there is a
    credential, kept out of all evidence; the placeholder that stands for it can be sent in a later call. `removal`
    says, of a call that makes something on the account, which call undoes it: a function of the answer's body.
    """

    method: str
    path: str
    json: Json = NO_BODY
    content: bytes | None = None
    headers: Mapping[str, str | None] = field(default_factory=dict)
    query: tuple[tuple[str, str], ...] = ()
    credential: str | None = "default"
    key_in: tuple[str, str] | None = None
    service: str = "base_url"
    stream: bool = False
    declared_bytes: int | None = None
    scenario: str | None = None
    clock: str | None = None
    timeout_s: float | None = None
    script: tuple[Step, ...] = ()
    fails: bool = False
    secrets: tuple[str, ...] = ()
    removal: Callable[[Json], Call] | None = None

    def but(self, **changes: Any) -> Call:
        """The same call with some fields changed."""
        return replace(self, **changes)

    def with_headers(self, **headers: str | None) -> Call:
        """The same call with headers set, or left out where None; `_` stands for `-` in a name."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return replace(self, headers={**self.headers, **named})

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
        said = [step.message for step in self.script if isinstance(step, Say)]
        return frozenset(_placeholders((self.path, self.json, dict(self.headers), self.query, said)))

    def filled(self, values: Mapping[str, str]) -> Call:
        """The same call with the target's values in its body, query and messages."""
        script = tuple(_said(step, values) if isinstance(step, Say) else step for step in self.script)
        return replace(self, json=filled(self.json, values), query=filled(self.query, values), script=script)


def get(path: str, **options: Any) -> Call:
    return Call("GET", path, **options)


def post(path: str, json: Json = NO_BODY, **options: Any) -> Call:
    return Call("POST", path, json, **options)


def delete(path: str, **options: Any) -> Call:
    return Call("DELETE", path, **options)


def invoke(path: str, json: Json = NO_BODY, **options: Any) -> Call:
    """Call a gRPC method; `timeout_s` is the deadline that travels with the call."""
    return Call(GRPC, path, json, service="grpc_host", **options)


def converse(path: str, *steps: Step, **options: Any) -> Call:
    """Open a WebSocket and follow a script on it."""
    return Call(WS, path, script=steps, **options)


def _placeholders(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield from PLACEHOLDER.findall(value)
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _placeholders(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _placeholders(item)


def _said(step: Say, values: Mapping[str, str]) -> Say:
    message = step.message
    if callable(message):
        return Say(lambda heard: filled(message(heard), values))
    return Say(filled(message, values))


def filled(value: Any, values: Mapping[str, str]) -> Any:
    """The value with every placeholder of a known name replaced by the target's value for it."""
    if isinstance(value, str):
        return PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), value)
    if isinstance(value, Mapping):
        return {key: filled(item, values) for key, item in value.items()}
    if isinstance(value, tuple):
        return tuple(filled(item, values) for item in value)
    if isinstance(value, list):
        return [filled(item, values) for item in value]
    return value
