"""Faults as values: what is done to an answer on its way from the mock to the probes, and to which answers."""

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
"""Into how many parts requests are cut when a share of them is chosen."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as the proxy sees it.

    `protocol` is `http`, `websocket` or `grpc`; `session` is what X-Mock-Session says (`<run>/<address>/<attempt>`,
    behind it `+<part>` where its parts are apart, or `<run>/control`), empty where nobody says it; `number` counts the
    requests of this session and key, from 1.
    """

    protocol: str
    provider: str
    method: str
    path: str
    session: str = ""
    credential: str = ""
    number: int = 1

    @property
    def control(self) -> bool:
        return self.session.endswith("/control")

    @property
    def address(self) -> str:
        """The record that is probed, or empty."""
        return "" if self.control else self.session.partition("/")[2].rpartition("/")[0]

    @property
    def attempt(self) -> int:
        last = self.session.rpartition("/")[2].partition("+")[0]
        return int(last) if last.isdecimal() else 1

    @property
    def lot(self) -> int:
        """What decides by chance: the same for the same request of the same probe, whenever and in whatever run."""
        of_no_run = self.session.partition("/")[2] or self.path
        return crc32(f"{of_no_run} {self.credential} {self.method} {self.number}".encode())


@dataclass(frozen=True, slots=True)
class Where:
    """Which answers a fault falls on; what is left empty picks all.

    `path` and `address` are searched for as regular expressions. `control`: True for controls alone, False for all but
    controls. `statuses` are those of the true answer (a WebSocket that is accepted has 101). `share` picks by the lot
    of a request, so in the same way in whatever order requests come; another `seed` picks others. `first` and `last`
    count, for each credential, the requests that everything else picks: the same requests in every run only where they
    are sent one after another.
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

    def asks(self, asked: Asked) -> bool:
        """Whether it picks a request, as far as the request itself tells."""
        return (
            self.protocol in ("", asked.protocol)
            and self.provider in ("", asked.provider)
            and self.method in ("", asked.method)
            and self.credential in ("", asked.credential)
            and self.control in (None, asked.control)
            and (self.attempts == () or asked.attempt in self.attempts)
            and re.search(self.path, asked.path) is not None
            and re.search(self.address, asked.address) is not None
            and (asked.lot ^ crc32(str(self.seed).encode())) % GRANULARITY < self.share * GRANULARITY
        )

    def answers(self, status: int) -> bool:
        """Whether it picks an answer of this status."""
        return self.statuses == () or status in self.statuses

    def counts(self, number: int) -> bool:
        """Whether it picks the request that is so manieth of those it asks for."""
        return self.first <= number and (self.last is None or number <= self.last)


EVERYWHERE = Where()


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP answer; header names in lower case. `body` is None where a stream or a socket follows."""

    status: int
    headers: Mapping[str, str]
    body: bytes | None

    def but(self, **changes: Any) -> Self:
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
    """What is done, and where. What is not given is left as it is.

    `value` changes any JSON that the server says: a body, the data of an event, a WebSocket message. `answer` changes
    status, headers and body; one that gives a stream or a socket a body puts an answer in its place. `event` turns one
    block of an event stream (its text, and how many came before) into any number of blocks, `frame` does so with
    messages, `ending` changes the close, or leaves it out. `cut_after` breaks the connection after so many events or
    messages, and in the middle of any other body.
    """

    where: Where = EVERYWHERE
    value: Callable[[Any], Any] | None = None
    answer: Callable[[Answer], Answer] | None = None
    event: Callable[[str, int], Iterable[str]] | None = None
    frame: Callable[[Frame, int], Iterable[Frame]] | None = None
    ending: Callable[[Ending], Ending | None] | None = None
    act: Act | None = None
    cut_after: int | None = None

    def only(self, **where: Any) -> Self:
        """This fault in fewer places."""
        return replace(self, where=replace(self.where, **where))


class Picking:
    """Which faults fall on which request: the one thing that remembers requests."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self._faults = tuple(faults)
        self._numbers: Counter[tuple[str, str]] = Counter()
        self._picked: Counter[tuple[int, str]] = Counter()

    def asked(self, protocol: str, method: str, path: str, headers: Mapping[str, str]) -> Asked:
        """A request, with header names in lower case; it is counted."""
        credential = next((headers[name] for name in KEY_HEADERS if name in headers), "")
        session = headers.get("x-mock-session", "")
        credential = credential.removeprefix("Bearer ")
        self._numbers[session, credential] += 1
        provider = "pd" if protocol == "grpc" else path.split("/")[1].partition("-")[0]
        return Asked(protocol, provider, method, path, session, credential, self._numbers[session, credential])

    def of(self, asked: Asked) -> tuple[Fault, ...]:
        """The faults of this request, in the order in which they are done; the status is not looked at yet."""
        found = []
        for place, fault in enumerate(self._faults):
            if fault.where.asks(asked):
                self._picked[place, asked.credential] += 1
                if fault.where.counts(self._picked[place, asked.credential]):
                    found.append(fault)
        return tuple(found)
