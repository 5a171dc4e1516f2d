"""Clients of a mock in this process: of PA, and of providers with responses and chat completions."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, ClassVar

import httpx

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.mockserver.app import MockApp

VERSION = "2023-06-01"
MESSAGE: dict[str, Any] = {"model": "mock-small", "max_tokens": 16, "messages": [{"role": "user", "content": "Hello"}]}
RESPONSE: dict[str, Any] = {"model": "mock-small", "input": "Hello"}
COMPLETION: dict[str, Any] = {"model": "mock-small", "messages": [{"role": "user", "content": "Hello"}]}


class Client:
    """Sends one request at a time to a mock in this process."""

    def __init__(self, app: MockApp) -> None:
        self.app = app

    def send(self, method: str, path: str, **kwargs: Any) -> httpx.Response:
        """Send a request with only the given headers."""

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
        """Send a request to PA with key and version; None leaves a header out."""
        sent = {
            "x-api-key": key,
            "pa-version": version,
            **make_mock_headers(scenario, clock, session),
            **(headers or {}),
        }
        return self.send(method, f"/pa{path}", headers=drop_none(sent), **kwargs)

    def hello(self, changes: Mapping[str, Any] | None = None, **kwargs: Any) -> httpx.Response:
        """Send a small valid message with some fields changed; a value of `...` removes the field."""
        return self.pa("POST", "/v1/messages", json=make_message(changes), **kwargs)


class ChatClient(Client):
    """Client of a provider with responses and chat completions; sends its inference key as bearer token."""

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
        """Send a request with a key; None leaves it out."""
        bearer = None if key is None else f"Bearer {key or f'mock-{self.provider}-inference'}"
        sent = {"authorization": bearer, **make_mock_headers(scenario, clock), **(headers or {})}
        return self.send(method, f"/{host or self.provider}{path}", headers=drop_none(sent), **kwargs)

    def respond(self, changes: Mapping[str, Any] | None = None, **kwargs: Any) -> httpx.Response:
        """Ask for a small valid response with some fields changed; a value of `...` removes the field."""
        return self.ask("POST", "/v1/responses", json=change_fields(RESPONSE, changes), **kwargs)

    def complete(self, changes: Mapping[str, Any] | None = None, **kwargs: Any) -> httpx.Response:
        """Ask for a small valid chat completion, changed in the same way."""
        return self.ask("POST", "/v1/chat/completions", json=change_fields(COMPLETION, changes), **kwargs)


def make_mock_headers(scenario: str | None, clock: str | None, session: str | None = None) -> dict[str, str | None]:
    """Make the headers that control the mock."""
    return {"x-mock-scenario": scenario, "x-mock-clock": clock, "x-mock-session": session}


def drop_none(headers: Mapping[str, str | None]) -> dict[str, str]:
    """Remove the headers that are None."""
    return {name: value for name, value in headers.items() if value is not None}


def make_message(changes: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Make a small valid message of PA with some fields changed."""
    return change_fields(MESSAGE, changes)


def change_fields(body: Mapping[str, Any], changes: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return a body with some fields set, or removed if their value is `...`."""
    return {name: value for name, value in {**body, **(changes or {})}.items() if value is not ...}
