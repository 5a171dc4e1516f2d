"""Clients that speak to a mock in this process: one of PA, and one for whoever has responses and chat completions."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, ClassVar

import httpx

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.mockserver.app import MockApp

VERSION = "2023-06-01"
HELLO: dict[str, Any] = {"model": "mock-small", "max_tokens": 16, "messages": [{"role": "user", "content": "Hello"}]}
RESPONSE: dict[str, Any] = {"model": "mock-small", "input": "Hello"}
COMPLETION: dict[str, Any] = {"model": "mock-small", "messages": [{"role": "user", "content": "Hello"}]}


class Client:
    """Sends one request at a time to a mock in this process."""

    def __init__(self, app: MockApp) -> None:
        self.app = app

    def send(self, method: str, path: str, **kwargs: Any) -> httpx.Response:
        """A bare request, with only the headers given."""

        async def exchange() -> httpx.Response:
            transport = httpx.ASGITransport(app=self.app)
            async with httpx.AsyncClient(transport=transport, base_url="http://mock") as client:
                return await client.request(method, path, **kwargs)

        return asyncio.run(exchange())

    def pa(
        self,
        method: str,
        path: str,
        *,
        key: str | None = "mock-pa-inference",
        version: str | None = VERSION,
        scenario: str | None = None,
        clock: str | None = None,
        session: str | None = None,
        headers: Mapping[str, str] | None = None,
        **kwargs: Any,
    ) -> httpx.Response:
        """A request to PA with key and version; None leaves a header out."""
        sent = {"x-api-key": key, "pa-version": version, **mocked(scenario, clock, session), **(headers or {})}
        return self.send(method, f"/pa{path}", headers=without_none(sent), **kwargs)

    def hello(self, changes: Mapping[str, Any] | None = None, **kwargs: Any) -> httpx.Response:
        """A small valid message, changed; a value of `...` removes the field."""
        return self.pa("POST", "/v1/messages", json=body(changes), **kwargs)


class ChatClient(Client):
    """Asks a provider that has responses and chat completions, with its inference key as a bearer token."""

    provider: ClassVar[str]

    def ask(
        self,
        method: str,
        path: str,
        *,
        key: str | None = "",
        host: str = "",
        scenario: str | None = None,
        clock: str | None = None,
        headers: Mapping[str, str] | None = None,
        **kwargs: Any,
    ) -> httpx.Response:
        """A request with a key; None leaves it out."""
        bearer = None if key is None else f"Bearer {key or f'mock-{self.provider}-inference'}"
        sent = {"authorization": bearer, **mocked(scenario, clock), **(headers or {})}
        return self.send(method, f"/{host or self.provider}{path}", headers=without_none(sent), **kwargs)

    def respond(self, changes: Mapping[str, Any] | None = None, **kwargs: Any) -> httpx.Response:
        """A small valid response, changed; a value of `...` removes the field."""
        return self.ask("POST", "/v1/responses", json=changed(RESPONSE, changes), **kwargs)

    def complete(self, changes: Mapping[str, Any] | None = None, **kwargs: Any) -> httpx.Response:
        """A small valid chat completion, changed; a value of `...` removes the field."""
        return self.ask("POST", "/v1/chat/completions", json=changed(COMPLETION, changes), **kwargs)


def mocked(scenario: str | None, clock: str | None, session: str | None = None) -> dict[str, str | None]:
    """What is said to the mock itself."""
    return {"x-mock-scenario": scenario, "x-mock-clock": clock, "x-mock-session": session}


def without_none(headers: Mapping[str, str | None]) -> dict[str, str]:
    """The headers that are sent."""
    return {name: value for name, value in headers.items() if value is not None}


def body(changes: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The small valid message of PA, changed."""
    return changed(HELLO, changes)


def changed(body: Mapping[str, Any], changes: Mapping[str, Any] | None) -> dict[str, Any]:
    """The body with some fields set, or removed where `...`."""
    return {name: value for name, value in {**body, **(changes or {})}.items() if value is not ...}
