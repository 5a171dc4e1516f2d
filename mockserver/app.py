"""The ASGI app: finds the provider by the path's first segment, opens the request's context, guards its scenario.

The first segment may say to the mock what a client that sets no headers cannot: `/pa@SESSION~CAUSES/v1/messages`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse

from mockserver import control, faults, prefixes
from mockserver.providers import Mount, Provider, load
from mockserver.scenarios import MockMisuse
from mockserver.world import SCENARIO_HEADER, SESSION_HEADER, Context, World

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


def create_app(
    *, only: Iterable[str] | None = None, given: Mapping[str, Any] | None = None, latency_s: float = 0.0
) -> MockApp:
    """The mock with the providers called `only` (all by default), speaking the prefixes `given`."""
    providers = load(only)
    world = World(latency_s=latency_s, settings=prefixes.merged(providers, given or {}))
    for provider in providers:
        world.scenarios.add(provider.name, (*faults.EVERYWHERE, *provider.scenarios))
    return MockApp(world, providers)


class MockApp:
    """All providers under their prefixes, and the mock's own pages under `/__mock__`."""

    def __init__(self, world: World, providers: Iterable[Provider]) -> None:
        self.world = world
        self.providers = tuple(providers)
        self._hosts: dict[tuple[str, str], tuple[Provider, ASGIApp]] = {
            (protocol, mount.prefix): (provider, build(world))
            for provider, mount in _mounts(self.providers)
            for protocol, build in (("http", mount.build), ("websocket", mount.sockets))
            if build is not None
        }
        self._control = control.build(world)

    def addresses(self, base: str) -> dict[str, dict[str, str]]:
        """Each provider's addresses on the server at `base`, for the ready line."""
        found: dict[str, dict[str, str]] = {provider.name: {} for provider in self.providers}
        for provider, mount in _mounts(self.providers):
            found[provider.name].update(dict.fromkeys(mount.addresses, f"{base}/{mount.prefix}"))
        return found

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request or one WebSocket."""
        segment = scope["path"].removeprefix("/").partition("/")[0]
        prefix, said = _read_segment(segment)
        if prefix == "__mock__":
            await self._control(scope, receive, send)
            return
        host = self._hosts.get((scope["type"], prefix))
        if host is None:
            await _refuse(f"no {scope['type']} is served under {scope['path']!r}", scope, receive, send, status=404)
            return
        provider, app = host
        try:
            context = self.world.open(provider.name, _counted_as(scope, segment, prefix), _mock_headers(scope, said))
        except MockMisuse as error:
            await _refuse(str(error), scope, receive, send)
            return
        if self.world.latency_s:
            await asyncio.sleep(self.world.latency_s)
        inner = {**scope, "root_path": f"{scope.get('root_path', '')}/{segment}", "mock": context}
        await _serve(app, context, inner, receive, send)


def context_of(scope: Scope) -> Context:
    """The context that the mock opened for this request."""
    context: Context = scope["mock"]
    return context


def _mounts(providers: Iterable[Provider]) -> Iterable[tuple[Provider, Mount]]:
    return ((provider, mount) for provider in providers for mount in provider.mounts)


def _read_segment(segment: str) -> tuple[str, dict[str, str]]:
    """The prefix in `PREFIX[@SESSION][~CAUSES]`, and what is said beside it as the headers would say it."""
    before, causes_said, causes = segment.partition("~")
    prefix, session_said, session = before.partition("@")
    said = {SCENARIO_HEADER: causes} if causes_said else {}
    return prefix, {**said, SESSION_HEADER: session} if session_said else said


def _counted_as(scope: Scope, segment: str, prefix: str) -> str:
    path = scope["path"] if segment == prefix else scope["path"].replace(segment, prefix, 1)
    return f"{scope.get('method', 'WS')} {path}"


def _mock_headers(scope: Scope, said: Mapping[str, str]) -> Mapping[str, str]:
    headers = {
        name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"] if name[:7] == b"x-mock-"
    }
    twice = sorted(headers.keys() & said.keys())
    if twice:
        raise MockMisuse(f"{twice[0]} is said by a header and by the address; say it once")
    return {**headers, **said} if said else headers


async def _serve(app: ASGIApp, context: Context, scope: Scope, receive: Receive, send: Send) -> None:
    """Let a fault have its way, else the provider; a scenario that nobody took must not pass as a success."""
    if context.scenario is None:
        await app(scope, receive, send)
    elif not await faults.inject(context, scope, receive, send):
        await app(scope, receive, _guarded(context, scope, receive, send))
        context.session.next.give_back(context.scenario)


def _guarded(context: Context, scope: Scope, receive: Receive, send: Send) -> Send:
    refused = False

    async def guard(message: Message) -> None:
        nonlocal refused
        if refused:
            return
        if _is_success(message) and not (context.scenario is not None and context.scenario.later):
            ignored = context.ignored
            if ignored is not None:
                refused = True
                reason = f"scenario {ignored!r} has nothing to act on here: {scope.get('method', 'WS')} {scope['path']}"
                await _refuse(reason, scope, receive, send)
                return
        await send(message)

    return guard


def _is_success(message: Message) -> bool:
    """Whether an answer begins that is no refusal; a WebSocket must look at its scenario before it is accepted."""
    if message["type"] == "http.response.start":
        return int(message["status"]) < 400
    return str(message["type"]) == "websocket.accept"


async def _refuse(reason: str, scope: Scope, receive: Receive, send: Send, *, status: int = 400) -> None:
    await JSONResponse({"mock_error": reason}, status)(scope, receive, send)
