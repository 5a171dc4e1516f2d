"""Sessions: the private state, budgets and counters behind one value of `X-Mock-Session`."""

from __future__ import annotations

import time
from collections import Counter, OrderedDict
from hashlib import blake2b
from typing import TYPE_CHECKING, TypeVar, cast

from catalog_probe.mockserver.core import leniency
from catalog_probe.mockserver.core.buckets import TokenBucket
from catalog_probe.mockserver.core.waiting import Next

if TYPE_CHECKING:
    from collections.abc import Hashable

UNLIMITED = 1e9
"""How many times its limit a budget is that is not limited: what is left can still be told."""

MAX_SESSIONS = 4096
"""More than any run opens; the least recently used goes first, so that a long-lived mock cannot grow without bound."""

MAX_ENDPOINTS = 5_000
OTHERS = "(others)"

State = TypeVar("State")

_ALPHABET = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_LETTERS = bytes(_ALPHABET[byte % len(_ALPHABET)] for byte in range(256))
"""Which letter each byte becomes."""


class Session:
    """What one client has done so far. Two sessions never see each other."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.requests: Counter[str] = Counter()
        self.scenario_uses: Counter[str] = Counter()
        self.next = Next()
        self._states: dict[type, object] = {}
        self._buckets: dict[Hashable, TokenBucket] = {}
        self._ids: Counter[str] = Counter()
        self._began: float | None = None

    def began(self) -> float:
        """The moment, in seconds since the epoch, at which time stands for requests that let it stand still."""
        if self._began is None:
            self._began = time.time()
        return self._began

    def count(self, counted_as: str) -> None:
        """Count a request; beyond so many endpoints, ids among their paths, the rest are counted together."""
        known = counted_as in self.requests or len(self.requests) < MAX_ENDPOINTS
        self.requests[counted_as if known else OTHERS] += 1

    def uses(self, scenario: str) -> int:
        """Count a request that asks for a scenario, and say the how-manieth it is."""
        self.scenario_uses[scenario] += 1
        if len(self.scenario_uses) > MAX_ENDPOINTS:
            del self.scenario_uses[next(iter(self.scenario_uses))]
        return self.scenario_uses[scenario]

    def state(self, kind: type[State]) -> State:
        """This session's one instance of `kind`, made on first use: how a provider keeps chats, files, batches."""
        found = self._states.get(kind)
        if found is None:
            found = self._states[kind] = kind()
        return cast("State", found)

    def bucket(self, key: Hashable, per_minute: float, burst: float | None = None) -> TokenBucket:
        """This session's budget under `key`, made full on first use; `burst` is its capacity where that is less."""
        found = self._buckets.get(key)
        if found is None:
            times = leniency.current().limits or UNLIMITED
            found = TokenBucket(per_minute * times, None if burst is None else burst * times)
            self._buckets[key] = found
        return found

    def new_id(self, prefix: str, length: int = 24) -> str:
        """An identifier that looks random and is the same in every run of the same session: runs can be compared."""
        self._ids[prefix] += 1
        digest = blake2b(f"{self.name}/{prefix}/{self._ids[prefix]}".encode(), digest_size=32).digest()
        return prefix + digest[:length].translate(_LETTERS).decode("ascii")


class Sessions:
    """All sessions, bounded."""

    def __init__(self, limit: int = MAX_SESSIONS) -> None:
        self._limit = limit
        self._sessions: OrderedDict[str, Session] = OrderedDict()

    def get(self, name: str) -> Session:
        """The session called `name` (the empty name is the shared default), made on first use."""
        session = self._sessions.get(name)
        if session is None:
            session = self._sessions[name] = Session(name)
            if len(self._sessions) > self._limit:
                self._sessions.popitem(last=False)
        else:
            self._sessions.move_to_end(name)
        return session

    def peek(self, name: str) -> Session | None:
        """The session called `name` if it exists: reading a counter makes no session."""
        return self._sessions.get(name)

    def forget(self, name: str | None = None) -> None:
        """Forget one session, or all."""
        if name is None:
            self._sessions.clear()
        else:
            self._sessions.pop(name, None)

    def __len__(self) -> int:
        return len(self._sessions)
