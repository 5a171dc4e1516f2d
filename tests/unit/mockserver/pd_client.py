"""A client that speaks to PD in a mock of this process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tests.unit.mockserver.mock_client import Client

if TYPE_CHECKING:
    import httpx

COMPLETION: dict[str, Any] = {"model": "mock-small", "messages": [{"role": "user", "content": "Hello"}]}
RESPONSE: dict[str, Any] = {"model": "mock-small", "input": "Hello"}


class PdClient(Client):
    """Sends one request at a time; each in the shared session unless it names another."""

    def ask(
        self,
        method: str,
        path: str,
        *,
        key: str | None = "mock-pd-inference",
        host: str = "pd",
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

    def complete(self, changes: Mapping[str, Any] | None = None, **kwargs: Any) -> httpx.Response:
        """A small valid chat completion, changed; a value of `...` removes the field."""
        return self.ask("POST", "/v1/chat/completions", json=changed(COMPLETION, changes), **kwargs)

    def respond(self, changes: Mapping[str, Any] | None = None, **kwargs: Any) -> httpx.Response:
        """A small valid response, changed; a value of `...` removes the field."""
        return self.ask("POST", "/v1/responses", json=changed(RESPONSE, changes), **kwargs)


def changed(body: Mapping[str, Any], changes: Mapping[str, Any] | None) -> dict[str, Any]:
    """The body with some fields set, or removed where `...`."""
    return {name: value for name, value in {**body, **(changes or {})}.items() if value is not ...}
