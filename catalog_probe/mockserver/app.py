"""The ASGI app: finds the provider, opens the request's context, guards its scenario.

For clients that set no headers, that segment may name a session and scenarios: `/pa@SESSION~SCENARIOS/v1/messages`.
There `~` may stand for each `;`, at which some clients cut a path: `/pa~overloaded~times=1/v1/messages`.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from difflib import get_close_matches
from email.utils import formatdate
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse

from catalog_probe.mockserver import control
from catalog_probe.mockserver.as_published.serving import AsPublished
from catalog_probe.mockserver.control import RouteList
from catalog_probe.mockserver.core.arrivals import read_ahead, read_shown_body
from catalog_probe.mockserver.core.leniency import Leniency, apply_leniency
from catalog_probe.mockserver.core.providers import PROVIDER_NAMES, REAL_NAMES, Mount, Provider, merge_settings
from catalog_probe.mockserver.core.scenarios import MockMisuse
from catalog_probe.mockserver.core.world import (
    CLOCK_HEADER,
    COMMON_SCENARIOS,
    SCENARIO_HEADER,
    SESSION_HEADER,
    Context,
    World,
    inject,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from catalog_probe.mockserver.core.arrivals import Arrivals


def create_app(
    *,
    only: Iterable[str] | None = None,
    settings: Mapping[str, Any] | None = None,
    latency_s: float = 0.0,
    leniency: Mapping[str, Any] | None = None,
    as_published: bool = False,
    list_requests: bool = False,
) -> MockApp:
    """Create the mock.

    Args:
        only: the providers to serve; all by default.
        settings: a table for each provider, as in a `--prefixes` file.
        latency_s: seconds that each answer waits.
        leniency: any_key, any_model, models and limits of all providers; their own tables overrule it.
        as_published: answer as published answers do, not as documented.
        list_requests: list at `/__mock__/requests` what clients sent.

    Raises:
        PrefixesError: `settings` or `leniency` is wrong.
        ValueError: there is no such provider.
    """
    providers = load_providers(only)
    tables = dict(settings or {})
    if leniency:
        tables.update({provider.name: {**leniency, **tables.get(provider.name, {})} for provider in providers})
    world = World(latency_s=latency_s, settings=merge_settings(providers, tables))
    for provider in providers:
        world.scenarios.add(provider.name, (*COMMON_SCENARIOS, *provider.scenarios))
        world.scenarios.add_errors(provider.name, provider.faults)
    return MockApp(world, providers, as_published=as_published, list_requests=list_requests)


def load_providers(names: Iterable[str] | None = None) -> tuple[Provider, ...]:
    """Import and return the providers with these names, or all.

    The mock starts sooner with fewer.

    Raises:
        ValueError: no provider has one of the names.
    """
    selected = PROVIDER_NAMES if names is None else tuple(dict.fromkeys(REAL_NAMES.get(name, name) for name in names))
    for name in selected:
        if name not in PROVIDER_NAMES:
            similar = get_close_matches(name, [*PROVIDER_NAMES, *REAL_NAMES], n=1)
            known = ", ".join(f"{provider} ({real_name})" for real_name, provider in REAL_NAMES.items())
            mend = f"did you mean {similar[0]}?" if similar else f"they are {known}"
            raise ValueError(f"no provider is called {name!r}; {mend}")
    providers: list[Provider] = [import_module(f"{__package__}.{name}.provider").PROVIDER for name in selected]
    return tuple(providers)


class MockApp:
    """All providers under their prefixes, and the mock's own pages under `/__mock__`."""

    def __init__(
        self,
        world: World,
        providers: Iterable[Provider],
        *,
        as_published: bool = False,
        list_requests: bool = False,
    ) -> None:
        self.world = world
        self.providers = tuple(providers)
        self._hosts: dict[tuple[str, str], tuple[Provider, ASGIApp]] = {}
        for provider, mount in _list_mounts(self.providers):
            http_app = mount.build(world)
            if as_published:  # it concerns HTTP only: see `as_published/`
                http_app = AsPublished(provider.name, http_app)
            self._hosts["http", mount.prefix] = (provider, http_app)
            if mount.sockets is not None:
                self._hosts["websocket", mount.prefix] = (provider, mount.sockets(world))
        self._leniency = {name: Leniency.from_settings(settings) for name, settings in world.settings.items()}
        patterns = (pattern for provider in self.providers for pattern in provider.beside_http)
        routes = RouteList((mount for _, mount in _list_mounts(self.providers)), patterns)
        self._routes = routes
        world.sessions.lists_arrivals = list_requests
        self._control = control.build(world, routes, list_requests=list_requests)

    def addresses(self, base: str) -> dict[str, dict[str, str]]:
        """Return each provider's addresses on the server at `base`, for the ready line."""
        addresses: dict[str, dict[str, str]] = {provider.name: {} for provider in self.providers}
        for provider, mount in _list_mounts(self.providers):
            addresses[provider.name].update(dict.fromkeys(mount.addresses, f"{base}/{mount.prefix}"))
        return addresses

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request or one WebSocket."""
        address = Address.parse(scope["path"])
        if address.prefix == "__mock__":
            await self._control(scope, receive, send)
            return
        host = self._hosts.get((scope["type"], address.prefix)) or self._hosts.get(("http", address.prefix))
        if host is None:
            await _refuse(f"no {scope['type']} is served under {scope['path']!r}", scope, receive, send, status=404)
        else:
            provider, app = host
            # a client may disconnect in the middle of its body: no error, and nothing to print
            with apply_leniency(self._leniency[provider.name]), suppress(ClientDisconnect):
                await self._open_and_serve(provider, app, address, scope, receive, send)

    async def _open_and_serve(
        self, provider: Provider, app: ASGIApp, address: Address, scope: Scope, receive: Receive, send: Send
    ) -> None:
        counted_as = f"{scope.get('method', 'WS')} {address.plain_path}"
        try:
            context = self.world.open_context(
                provider.name, counted_as, _read_mock_headers(scope, address.mock_headers)
            )
        except MockMisuse as error:
            await _refuse(str(error), scope, receive, send)
            return
        serves_socket = ("websocket", counted_as.split("/")[1]) in self._hosts
        if context.session.arrivals is not None:
            arrivals = context.session.arrivals
            receive = await self._list_arrival(arrivals, provider, counted_as, scope, receive)
        if self.world.latency_s:
            await asyncio.sleep(self.world.latency_s)
        if scope["type"] == "websocket" and not serves_socket:
            scope, receive, send = _as_http(scope, receive, send)
        inner = {**scope, "root_path": f"{scope.get('root_path', '')}/{address.segment}", "mock": context}
        await _serve(app, context, inner, receive, _date_answer(context, send))

    async def _list_arrival(
        self, arrivals: Arrivals, provider: Provider, request: str, scope: Scope, receive: Receive
    ) -> Receive:
        """Add a request to the list of what arrived, and return a `receive` that begins with its body."""
        headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]]
        key_header = self.world.settings[provider.name].get("key_header", "")
        arrival = arrivals.add(request, scope["query_string"].decode("latin-1"), headers, [key_header])
        arrival.served = not self._routes.find_unserved({request: 1})
        if scope["type"] != "http":
            return receive
        body, receive = await read_ahead(receive, arrival.headers.get("content-length", ""))
        arrival.body = read_shown_body(body, arrival.headers.get("content-type", ""))
        return receive


class Address(NamedTuple):
    """A path, split into what the mock reads and what the provider gets.

    The first segment holds the prefix and mock headers; `plain_path` is the path without these headers.
    """

    segment: str
    prefix: str
    mock_headers: Mapping[str, str]
    plain_path: str

    @classmethod
    def parse(cls, path: str) -> Address:
        """Parse `/PREFIX[@SESSION][~SCENARIOS]/...`."""
        segment, slash, rest = path.removeprefix("/").partition("/")
        before, tilde, scenarios = segment.partition("~")
        prefix, at_sign, session = before.partition("@")
        mock_headers = {SCENARIO_HEADER: scenarios.replace("~", ";")} if tilde else {}
        if at_sign:
            mock_headers[SESSION_HEADER] = session
        return cls(segment, prefix, mock_headers, f"/{prefix}{slash}{rest}")


def _as_http(scope: Scope, receive: Receive, send: Send) -> tuple[Scope, Receive, Send]:
    """Turn the handshake of a WebSocket that nothing serves into a GET, which the provider refuses as it does any."""

    async def receive_request() -> Message:
        await receive()
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send_refusal(message: Message) -> None:
        await send({**message, "type": f"websocket.{message['type']}"})

    return {**scope, "type": "http", "method": "GET"}, receive_request, send_refusal


def _date_answer(context: Context, send: Send) -> Send:
    """Give the answer a `date` header, by the mock's clock if the request set it."""

    async def send_dated(message: Message) -> None:
        if message["type"] == "http.response.start":
            moment = context.now if CLOCK_HEADER in context.mock_headers else time.time()
            date = (b"date", formatdate(moment, usegmt=True).encode("ascii"))
            message = {**message, "headers": [date, *message.get("headers", ())]}
        await send(message)

    return send_dated


def _list_mounts(providers: Iterable[Provider]) -> Iterable[tuple[Provider, Mount]]:
    return ((provider, mount) for provider in providers for mount in provider.mounts)


def _read_mock_headers(scope: Scope, in_address: Mapping[str, str]) -> Mapping[str, str]:
    headers = {
        name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"] if name[:7] == b"x-mock-"
    }
    conflicts = sorted(name for name in headers.keys() & in_address.keys() if headers[name] != in_address[name])
    if conflicts:
        raise MockMisuse(f"{conflicts[0]} differs between the header and the address; give it once")
    return {**headers, **in_address}


async def _serve(app: ASGIApp, context: Context, scope: Scope, receive: Receive, send: Send) -> None:
    """Let the scenario's fault answer, or the provider, whose success needs a used scenario."""
    if context.scenario is None:
        await app(scope, receive, send)
    elif not await inject(context, scope, receive, send):
        await app(scope, receive, _guard_scenario(context, scope, receive, send))
        context.session.scenario_queue.give_back(context.scenario)


def _guard_scenario(context: Context, scope: Scope, receive: Receive, send: Send) -> Send:
    refused = False

    async def guard(message: Message) -> None:
        nonlocal refused
        if refused:
            return
        if _is_success(message) and not (context.scenario is not None and context.scenario.deferred):
            ignored = context.release_scenario()
            if ignored is not None:
                refused = True
                reason = f"scenario {ignored!r} has nothing to act on here: {scope.get('method', 'WS')} {scope['path']}"
                await _refuse(reason, scope, receive, send)
                return
        await send(message)

    return guard


def _is_success(message: Message) -> bool:
    """Whether a success begins: an HTTP status below 400, or an accepted WebSocket."""
    if message["type"] == "http.response.start":
        return int(message["status"]) < 400
    return str(message["type"]) == "websocket.accept"


async def _refuse(reason: str, scope: Scope, receive: Receive, send: Send, *, status: int = 400) -> None:
    await JSONResponse({"mock_error": reason}, status)(scope, receive, send)
