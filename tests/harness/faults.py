"""Faults: edits of the mock's answers on their way to the probes, and the scope of each."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any, Self
from zlib import crc32

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping

KEY_HEADERS = ("x-api-key", "x-pb-api-key", "authorization")
GRANULARITY = 10_000
"""Steps in which a share of requests can be chosen."""


@dataclass(frozen=True, slots=True)
class ProxiedRequest:
    """One request as the proxy sees it.

    `protocol` is `http`, `websocket` or `grpc`. `session` is the header X-Mock-Session: `<run>/<address>/<attempt>`,
    with `+<part>` at its end for isolated calls, or `<run>/control`; it may be empty. `number` counts the requests of
    this session and key, from 1.
    """

    protocol: str
    provider: str
    method: str
    path: str
    session: str = ""
    credential: str = ""
    number: int = 1

    @property
    def is_control(self) -> bool:
        return self.session.endswith("/control")

    @property
    def address(self) -> str:
        """The record that is probed, or empty."""
        return "" if self.is_control else self.session.partition("/")[2].rpartition("/")[0]

    @property
    def attempt(self) -> int:
        last = self.session.rpartition("/")[2].partition("+")[0]
        return int(last) if last.isdecimal() else 1

    @property
    def sampling_hash(self) -> int:
        """A hash to sample by: the same in every run for the same request of the same probe."""
        session_without_run = self.session.partition("/")[2] or self.path
        return crc32(f"{session_without_run} {self.credential} {self.method} {self.number}".encode())


@dataclass(frozen=True, slots=True)
class FaultScope:
    """The answers that a fault changes; an empty field matches all.

    `path` and `address` are regular expressions, searched for. `control` is True for controls only, False for all
    others. `statuses` are those of the original answer; an accepted WebSocket has 101. `share` picks by the hash of a
    request, so the order of requests does not matter; another `seed` picks others. `first` and `last` count the
    requests that match everything else, for each credential; the choice is stable only for requests in sequence.
    """

    protocol: str = ""
    provider: str = ""
    method: str = ""
    path: str = ""
    credential: str = ""
    address: str = ""
    control: bool | None = None
    attempts: Container[int] = ()
    statuses: Container[int] = ()
    share: float = 1.0
    seed: int = 0
    first: int = 1
    last: int | None = None

    def matches_request(self, request: ProxiedRequest) -> bool:
        """Whether the request is in scope, as far as that can be known before its answer."""
        return (
            self.protocol in ("", request.protocol)
            and self.provider in ("", request.provider)
            and self.method in ("", request.method)
            and self.credential in ("", request.credential)
            and self.control in (None, request.is_control)
            and (self.attempts == () or request.attempt in self.attempts)
            and re.search(self.path, request.path) is not None
            and re.search(self.address, request.address) is not None
            and (request.sampling_hash ^ crc32(str(self.seed).encode())) % GRANULARITY < self.share * GRANULARITY
        )

    def matches_status(self, status: int) -> bool:
        return self.statuses == () or status in self.statuses

    def matches_number(self, number: int) -> bool:
        """Whether the request with this number among the matching ones is in scope, from 1."""
        return self.first <= number and (self.last is None or number <= self.last)


ALL_ANSWERS = FaultScope()


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP answer with header names in lower case. `body` is None if a stream or a WebSocket follows."""

    status: int
    headers: Mapping[str, str]
    body: bytes | None

    def with_changes(self, **changes: Any) -> Self:
        return replace(self, **changes)


@dataclass(frozen=True, slots=True)
class Ending:
    """How a WebSocket is closed (`status` is the close code, `message` its reason), or a gRPC call ends."""

    status: int
    message: str = ""
    trailers: tuple[tuple[str, str | bytes], ...] = ()


class Act(Enum):
    """What happens to a connection instead of an answer; the mock has had the request by then."""

    RESET = "reset"
    CLOSE = "close"
    HANG = "hang"


Frame = str | bytes
"""One message of a WebSocket, or the bytes of one of a gRPC call."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Edits of answers, and their scope.

    `value` edits any JSON value of the server: a body, the data of an event, a WebSocket message. `answer` edits
    status, headers and body; if it gives a body to a stream or a WebSocket, that answer replaces it. `event` turns one
    block of an event stream (its text, and the number of blocks before it) into any number of blocks; `frame` does the
    same with messages. `ending` edits the close, or drops it with None. `cut_after` breaks the connection after so many
    events or messages, and in the middle of any other body.
    """

    scope: FaultScope = ALL_ANSWERS
    value: Callable[[Any], Any] | None = None
    answer: Callable[[Answer], Answer] | None = None
    event: Callable[[str, int], Iterable[str]] | None = None
    frame: Callable[[Frame, int], Iterable[Frame]] | None = None
    ending: Callable[[Ending], Ending | None] | None = None
    act: Act | None = None
    cut_after: int | None = None

    def only(self, **scope: Any) -> Self:
        """Return this fault with a narrower scope."""
        return replace(self, scope=replace(self.scope, **scope))


class FaultSelector:
    """Chooses the faults of each request; it counts the requests for that."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self._faults = tuple(faults)
        self._numbers: Counter[tuple[str, str]] = Counter()
        self._matches: Counter[tuple[int, str]] = Counter()

    def receive(self, protocol: str, method: str, path: str, headers: Mapping[str, str]) -> ProxiedRequest:
        """Count a request, given with header names in lower case, and return it."""
        credential = next((headers[name] for name in KEY_HEADERS if name in headers), "").removeprefix("Bearer ")
        session = headers.get("x-mock-session", "")
        self._numbers[session, credential] += 1
        provider = "pd" if protocol == "grpc" else path.split("/")[1].partition("-")[0]
        number = self._numbers[session, credential]
        return ProxiedRequest(protocol, provider, method, path, session, credential, number)

    def select_faults(self, request: ProxiedRequest) -> tuple[Fault, ...]:
        """Return the faults of a request in the order of their edits; the status of its answer is not checked yet."""
        selected = []
        for index, fault in enumerate(self._faults):
            if fault.scope.matches_request(request):
                self._matches[index, request.credential] += 1
                if fault.scope.matches_number(self._matches[index, request.credential]):
                    selected.append(fault)
        return tuple(selected)
