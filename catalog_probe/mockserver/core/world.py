"""The world: everything the providers share, and the context in which one request is served."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core.clock import parse_clock
from catalog_probe.mockserver.core.scenarios import ActiveScenario, MockMisuse, Registry, nth
from catalog_probe.mockserver.core.sessions import Session, Sessions

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from starlette.types import Scope

SCENARIO_HEADER = "x-mock-scenario"
CLOCK_HEADER = "x-mock-clock"
SESSION_HEADER = "x-mock-session"
KNOWN_HEADERS = frozenset({SCENARIO_HEADER, CLOCK_HEADER, SESSION_HEADER})

MAX_SESSION_NAME = 200


@dataclass(slots=True)
class Context:
    """One request: whose it is, when it happens, and which fault it has. ASGI providers find it in `scope["mock"]`."""

    session: Session
    now: float
    scenario: ActiveScenario | None = None
    ahead_s: float = 0.0
    """How far `now` is ahead of the real time, because the request says so."""
    said: Mapping[str, str] = field(default_factory=dict)
    """What was said to the mock: its own headers. A request that comes by the same connection says the same."""

    def take(self, *names: str) -> ActiveScenario | None:
        """The active scenario if it is one of `names`; from then on it counts as applied."""
        if self.scenario is None or self.scenario.name not in names:
            return None
        self.scenario.taken = True
        return self.scenario

    @property
    def ignored(self) -> str | None:
        """The name of a scenario that nobody took, though the request asked for it. One that waits goes on waiting."""
        if self.scenario is None or self.scenario.taken:
            return None
        if self.scenario.waits is not None:
            self.session.next.give_back(self.scenario)
            self.scenario = None
            return None
        return self.scenario.name


@dataclass
class World:
    """What all providers share. Transport-independent: gRPC and WebSocket servers open contexts with it too."""

    latency_s: float = 0.0
    sessions: Sessions = field(default_factory=Sessions)
    scenarios: Registry = field(default_factory=Registry)
    settings: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    total_requests: int = 0
    addresses: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Each provider's addresses, once there is a server."""
    at_the_end: list[Callable[[], Awaitable[None]]] = field(default_factory=list)
    """What closes the listeners other than HTTP, where the process goes on without the mock."""

    async def close(self) -> None:
        """Close them."""
        while self.at_the_end:
            await self.at_the_end.pop()()

    def open(self, provider: str, counted_as: str, mock_headers: Mapping[str, str]) -> Context:
        """The context of a request to `provider`, from its `x-mock-*` headers (lower case); counts the request.

        Raises MockMisuse when a header makes no sense: a scenario is never silently ignored.
        """
        if not mock_headers.keys() <= KNOWN_HEADERS:
            unknown = ", ".join(sorted(mock_headers.keys() - KNOWN_HEADERS))
            raise MockMisuse(f"unknown header {unknown}; the mock knows {', '.join(sorted(KNOWN_HEADERS))}")
        name = mock_headers.get(SESSION_HEADER, "")
        check_session_name(name)
        session = self.sessions.get(name)
        session.count(counted_as)
        self.total_requests += 1
        still, ahead_s = _clock(mock_headers)
        now = session.began() if still else time.time()
        scenario = self._scenario(provider, session, mock_headers.get(SCENARIO_HEADER))
        return Context(session, now + ahead_s, scenario, ahead_s, mock_headers)

    def _scenario(self, provider: str, session: Session, header: str | None) -> ActiveScenario | None:
        if header is None:
            return session.next.strike(provider)
        sequence = self.scenarios.read(provider, header)
        if sequence[0].times is None:
            return sequence[0].active()
        return nth(sequence, session.uses(header))


def check_session_name(name: str) -> None:
    """Refuse a name that no request could be in: MockMisuse says how long one may be."""
    if len(name) > MAX_SESSION_NAME:
        raise MockMisuse(f"a session name has at most {MAX_SESSION_NAME} characters")


def _clock(mock_headers: Mapping[str, str]) -> tuple[bool, float]:
    text = mock_headers.get(CLOCK_HEADER)
    if text is None:
        return False, 0.0
    try:
        return parse_clock(text)
    except ValueError as error:
        raise MockMisuse(f"{CLOCK_HEADER}: {error}") from None


def context_of(scope: Scope) -> Context:
    """The context that the mock opened for this request."""
    context: Context = scope["mock"]
    return context
