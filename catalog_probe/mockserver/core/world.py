"""The world that all providers share, the context of one request, and its faults."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from starlette.responses import HTMLResponse

from catalog_probe.mockserver.core.clock import parse_clock
from catalog_probe.mockserver.core.faults import Fault
from catalog_probe.mockserver.core.scenarios import (
    ActiveScenario,
    MockMisuse,
    Scenario,
    ScenarioRegistry,
    find_scenario_for_use,
    whole_number,
)
from catalog_probe.mockserver.core.sessions import Session, Sessions

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from catalog_probe.mockserver.core.errors import ErrorRow, Refusal


SCENARIO_HEADER = "x-mock-scenario"
CLOCK_HEADER = "x-mock-clock"
SESSION_HEADER = "x-mock-session"
KNOWN_HEADERS = frozenset({SCENARIO_HEADER, CLOCK_HEADER, SESSION_HEADER})

MAX_SESSION_NAME = 200  # characters


@dataclass(slots=True)
class Context:
    """One request: its session, time and scenario. ASGI apps find it in `scope["mock"]`.

    Args:
        now: seconds since the epoch, as the request's clock says.
        ahead_s: how far `now` is ahead of the real time.
        mock_headers: the request's `x-mock-*` headers; they hold for all that comes over the same WebSocket.
    """

    session: Session
    now: float
    scenario: ActiveScenario | None = None
    ahead_s: float = 0.0
    mock_headers: Mapping[str, str] = field(default_factory=dict)

    def take(self, *names: str) -> ActiveScenario | None:
        """Return the scenario if it is one of `names`, and note that it is acted on."""
        if self.scenario is None or self.scenario.name not in names:
            return None
        self.scenario.taken = True
        return self.scenario

    def raise_failure(self, scenarios: Iterable[Scenario]) -> None:
        """Raise the refusal of the scenario if it is one of these and has a row.

        Call it after authentication: a provider knows the caller before it fails.
        """
        rows = {scenario.name: scenario.row for scenario in scenarios if scenario.row is not None}
        taken = self.take(*rows)
        if taken is not None:
            raise rows[taken.name](**taken.params)

    def take_fault(
        self, at: str, path: str = "", can_answer: Callable[[ErrorRow], bool] | None = None
    ) -> Refusal | None:
        """Return the armed error if it is to be answered here, and note that it is acted on.

        Args:
            at: ENDPOINT or STREAM.
            path: the path of the request.
            can_answer: whether the host has an answer for an error of this row; any row by default.
        """
        scenario = self.scenario
        if scenario is None or not isinstance(scenario.declared, Fault) or scenario.params["at"] != at:
            return None
        fault = scenario.declared
        if fault.within not in path or (can_answer is not None and not can_answer(fault.refusal.row)):
            return None
        scenario.taken = True
        return fault.make_refusal(scenario.params)

    def release_scenario(self) -> str | None:
        """Return the name of a requested scenario that nothing acted on.

        A queued one goes back to its queue instead.
        """
        if self.scenario is None or self.scenario.taken:
            return None
        if self.scenario.queued is not None:
            self.session.scenario_queue.give_back(self.scenario)
            self.scenario = None
            return None
        return self.scenario.name


@dataclass
class World:
    """All that the providers share, over HTTP, WebSocket and gRPC.

    Args:
        latency_s: seconds that each answer waits.
        settings: the checked settings of each provider.
        addresses: each provider's addresses, as soon as a server listens.
        cleanups: what closes the listeners other than HTTP, in a process that goes on without the mock.
    """

    latency_s: float = 0.0
    sessions: Sessions = field(default_factory=Sessions)
    scenarios: ScenarioRegistry = field(default_factory=ScenarioRegistry)
    settings: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    total_requests: int = 0
    addresses: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    cleanups: list[Callable[[], Awaitable[None]]] = field(default_factory=list)

    async def close(self) -> None:
        """Close the listeners other than HTTP."""
        while self.cleanups:
            await self.cleanups.pop()()

    def open_context(self, provider: str, counted_as: str, mock_headers: Mapping[str, str]) -> Context:
        """Count a request to `provider`, and make its context from its `x-mock-*` headers.

        Raises:
            MockMisuse: a header is unknown or wrong.
        """
        if not mock_headers.keys() <= KNOWN_HEADERS:
            unknown = ", ".join(sorted(mock_headers.keys() - KNOWN_HEADERS))
            raise MockMisuse(f"unknown header {unknown}; the mock knows {', '.join(sorted(KNOWN_HEADERS))}")
        name = mock_headers.get(SESSION_HEADER, "")
        check_session_name(name)
        session = self.sessions.get(name)
        session.count_request(counted_as)
        self.total_requests += 1
        is_frozen, ahead_s = _read_clock(mock_headers)
        now = session.frozen_time() if is_frozen else time.time()
        scenario = self._find_scenario(provider, session, mock_headers.get(SCENARIO_HEADER))
        return Context(session, now + ahead_s, scenario, ahead_s, mock_headers)

    def _find_scenario(self, provider: str, session: Session, header: str | None) -> ActiveScenario | None:
        if header is None:
            return session.scenario_queue.take_for(provider)
        sequence = self.scenarios.read(provider, header)
        if sequence[0].times is None:
            return sequence[0].activate()
        return find_scenario_for_use(sequence, session.count_scenario_use(header))


def check_session_name(name: str) -> None:
    """Refuse a session name that is too long.

    Raises:
        MockMisuse: it is.
    """
    if len(name) > MAX_SESSION_NAME:
        raise MockMisuse(f"a session name has at most {MAX_SESSION_NAME} characters")


def _read_clock(mock_headers: Mapping[str, str]) -> tuple[bool, float]:
    text = mock_headers.get(CLOCK_HEADER)
    if text is None:
        return False, 0.0
    try:
        return parse_clock(text)
    except ValueError as error:
        raise MockMisuse(f"{CLOCK_HEADER}: {error}") from None


def context_of(scope: Scope) -> Context:
    """Return the context that the mock opened for this request."""
    context: Context = scope["mock"]
    return context


CLOSE_EXTENSION = "mock.close"
"""The ASGI extension in which `server.py` puts a function that closes the connection."""

SCENARIOS = (
    Scenario("hang", "The server accepts the request and never answers."),
    Scenario("close_without_answer", "The server reads the request and closes the connection without an answer."),
    Scenario("gateway_page", "A gateway in front of the provider answers 502 with an HTML page of its own."),
    Scenario("latency", "The answer takes longer; otherwise as usual.", (whole_number("ms", "Milliseconds added."),)),
)

# each provider answers it as it answers a limit that the caller reached itself
RATE_LIMITED = Scenario(
    "rate_limited",
    "Somebody else of the same organization has used up the rate limit; any authenticated call.",
    (whole_number("retry_after", "Seconds until there is budget again; told where the provider tells it.", default=1),),
)

COMMON_SCENARIOS = (*SCENARIOS, RATE_LIMITED)

_PAGE = "<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1><hr>edge</body></html>"


async def inject(context: Context, scope: Scope, receive: Receive, send: Send) -> bool:
    """Inject the scenario's fault, if any; return whether the request is answered."""
    fault = context.take(*(scenario.name for scenario in SCENARIOS))
    if fault is None:
        return False
    match fault.name:
        case "latency":
            await asyncio.sleep(fault.params["ms"] / 1000)
            return False
        case "gateway_page":
            await HTMLResponse(_PAGE, 502)(scope, receive, send)
        case "hang":
            await _wait_for_disconnect(receive)
        case "close_without_answer":
            await _close(scope, receive)
    return True


async def _close(scope: Scope, receive: Receive) -> None:
    while (await receive()).get("more_body"):
        pass  # unread bytes would turn the close into a reset
    scope["extensions"][CLOSE_EXTENSION]["close"]()
    await _wait_for_disconnect(receive)


async def _wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] not in ("http.disconnect", "websocket.disconnect"):
        pass
