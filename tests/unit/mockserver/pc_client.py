"""A client that speaks to PC in a mock of this process."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tests.unit.mockserver.mock_client import Client

if TYPE_CHECKING:
    import httpx

RESPONSE: dict[str, Any] = {"model": "mock-small", "input": "Hello"}
COMPLETION: dict[str, Any] = {"model": "mock-small", "messages": [{"role": "user", "content": "Hello"}]}


class PcClient(Client):
    """Sends one request at a time; each in the shared session unless it names another."""

    def ask(
        self,
        method: str,
        path: str,
        *,
        key: str | None = "mock-pc-inference",
        host: str = "pc",
        scenario: str | None = None,
        clock: str | None = None,
        headers: Mapping[str, str] | None = None,
        **kwargs: Any,
    ) -> httpx.Response:
        """A request with a key; None leaves it out."""
        named = {
            "authorization": f"Bearer {key}" if key is not None else None,
            "x-mock-scenario": scenario,
            "x-mock-clock": clock,
        }
        sent = {name: value for name, value in named.items() if value is not None}
        return self.send(method, f"/{host}{path}", headers={**sent, **(headers or {})}, **kwargs)

    def respond(self, changes: Mapping[str, Any] | None = None, **kwargs: Any) -> httpx.Response:
        """A small valid response, changed; a value of `...` removes the field."""
        return self.ask("POST", "/v1/responses", json=_changed(RESPONSE, changes), **kwargs)

    def complete(self, changes: Mapping[str, Any] | None = None, **kwargs: Any) -> httpx.Response:
        """A small valid chat completion, changed; a value of `...` removes the field."""
        return self.ask("POST", "/v1/chat/completions", json=_changed(COMPLETION, changes), **kwargs)


def error_of(response: httpx.Response) -> dict[str, Any]:
    """The error object, which always has its four keys (2:7.1)."""
    error: dict[str, Any] = response.json()["error"]
    assert {"message", "type", "param", "code"} <= error.keys()
    assert response.headers["x-request-id"].startswith("req_")
    return error


def told(response: httpx.Response) -> tuple[int, str | None, str | None]:
    """Status, code and param of a refusal."""
    error = error_of(response)
    return response.status_code, error["code"], error["param"]


def events_of(response: httpx.Response) -> list[tuple[str, dict[str, Any]]]:
    """The events of a stream."""
    blocks = [block.split("\n") for block in response.text.strip().split("\n\n")]
    return [(name.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for name, data in blocks]


def _changed(body: Mapping[str, Any], changes: Mapping[str, Any] | None) -> dict[str, Any]:
    return {name: value for name, value in {**body, **(changes or {})}.items() if value is not ...}
