"""A client that speaks to a mock in this process, as an inference client of PA unless told otherwise."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import httpx

if TYPE_CHECKING:
    from mockserver.app import MockApp

VERSION = "2023-06-01"
HELLO: dict[str, Any] = {"model": "mock-small", "max_tokens": 16, "messages": [{"role": "user", "content": "Hello"}]}


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
        named = {
            "x-api-key": key,
            "pa-version": version,
            "x-mock-scenario": scenario,
            "x-mock-clock": clock,
            "x-mock-session": session,
        }
        sent = {name: value for name, value in named.items() if value is not None}
        return self.send(method, f"/pa{path}", headers={**sent, **(headers or {})}, **kwargs)

    def hello(self, changes: Mapping[str, Any] | None = None, **kwargs: Any) -> httpx.Response:
        """A small valid message, changed; a value of `...` removes the field."""
        return self.pa("POST", "/v1/messages", json=body(changes), **kwargs)


def body(changes: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The small valid body, changed; a value of `...` removes the field."""
    return {name: value for name, value in {**HELLO, **(changes or {})}.items() if value is not ...}
