"""The ASGI app: finds the provider by the path's first segment, opens the request's context, guards its scenario."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse

from mockserver import control, faults, prefixes
from mockserver.providers import Mount, Provider, load
from mockserver.scenarios import MockMisuse
from mockserver.world import Context, World

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


def create_app(
    *, only: Iterable[str] | None = None, given: Mapping[str, Any] | None = None, latency_s: float = 0.0
) -> MockApp:
    """The mock with the providers called `only` (all by default), speaking the prefixes `given`."""
    providers = load(only)
    world = World(latency_s=latency_s, settings=prefixes.merged(providers, given or {}))
    for provider in providers:
        world.scenarios.add(provider.name, (*faults.SCENARIOS, *provider.scenarios))
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
        prefix = scope["path"].removeprefix("/").partition("/")[0]
        if prefix == "__mock__":
            await self._control(scope, receive, send)
            return
        host = self._hosts.get((scope["type"], prefix))
        if host is None:
            await _refuse(f"no {scope['type']} is served under {scope['path']!r}", scope, receive, send, status=404)
            return
        provider, app = host
        try:
            context = self.world.open(provider.name, _counted_as(scope), _mock_headers(scope))
        except MockMisuse as error:
            await _refuse(str(error), scope, receive, send)
            return
        if self.world.latency_s:
            await asyncio.sleep(self.world.latency_s)
        inner = {**scope, "root_path": f"{scope.get('root_path', '')}/{prefix}", "mock": context}
        await _serve(app, context, inner, receive, send)


def context_of(scope: Scope) -> Context:
    """The context that the mock opened for this request."""
    context: Context = scope["mock"]
    return context


def _mounts(providers: Iterable[Provider]) -> Iterable[tuple[Provider, Mount]]:
    return ((provider, mount) for provider in providers for mount in provider.mounts)


def _counted_as(scope: Scope) -> str:
    return f"{scope.get('method', 'WS')} {scope['path']}"


def _mock_headers(scope: Scope) -> dict[str, str]:
    return {
        name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"] if name[:7] == b"x-mock-"
    }


async def _serve(app: ASGIApp, context: Context, scope: Scope, receive: Receive, send: Send) -> None:
    """Let a fault have its way, else the provider; a scenario that nobody took must not pass as a success."""
    if context.scenario is None:
        await app(scope, receive, send)
    elif not await faults.inject(context, scope, receive, send):
        await app(scope, receive, _guarded(context, scope, receive, send))


def _guarded(context: Context, scope: Scope, receive: Receive, send: Send) -> Send:
    refused = False

    async def guard(message: Message) -> None:
        nonlocal refused
        if refused:
            return
        ignored = context.scenario is not None and not context.scenario.taken
        if ignored and _is_success(message):
            refused = True
            name = context.scenario.name if context.scenario else ""
            await _refuse(f"scenario {name!r} has nothing to act on here: {_counted_as(scope)}", scope, receive, send)
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
