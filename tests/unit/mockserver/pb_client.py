"""A client of PB in this process, and its smallest valid bodies."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.app import create_app
from tests.unit.mockserver.mock_client import Client, mocked, without_none

if TYPE_CHECKING:
    from collections.abc import Mapping

    import httpx

Json = Any

HELLO: list[dict[str, Any]] = [{"role": "user", "parts": [{"text": "Hello"}]}]


class PbClient(Client):
    """Sends requests to PB, as an inference client with a key unless told otherwise."""

    def __init__(self) -> None:
        super().__init__(create_app(only=["pb"]))

    def pb(
        self,
        method: str,
        path: str,
        *,
        key: str | None = "mock-pb-inference",
        scenario: str | None = None,
        clock: str | None = None,
        session: str | None = None,
        headers: Mapping[str, str] | None = None,
        **kwargs: Any,
    ) -> httpx.Response:
        """A request with the key in its header; None leaves a header out."""
        sent = {"x-pb-api-key": key, **mocked(scenario, clock, session), **(headers or {})}
        return self.send(method, f"/pb{path}", headers=without_none(sent), **kwargs)

    def generate(
        self,
        model: str = "mock-lite",
        *,
        version: str = "v1beta",
        config: Mapping[str, Any] | None = None,
        fields: Mapping[str, Any] | None = None,
        operation: str = "generateContent",
        **kwargs: Any,
    ) -> httpx.Response:
        """A small generation, with some fields set otherwise."""
        body = {"contents": HELLO, **({"generationConfig": config} if config else {}), **(fields or {})}
        return self.pb("POST", f"/{version}/models/{model}:{operation}", json=body, **kwargs)

    def interact(self, fields: Mapping[str, Any] | None = None, **kwargs: Any) -> httpx.Response:
        """A small interaction, with some fields set otherwise."""
        body = {"model": "mock-lite", "input": "Hello", **(fields or {})}
        return self.pb("POST", "/v1beta/interactions", json=body, **kwargs)

    def chat(self, fields: Mapping[str, Any] | None = None, **kwargs: Any) -> httpx.Response:
        """A small chat completion of the compatibility layer, with the key as bearer."""
        body = {"model": "mock-lite", "messages": [{"role": "user", "content": "Hello"}], **(fields or {})}
        key = kwargs.pop("bearer", "mock-pb-inference")
        headers = {"authorization": f"Bearer {key}"} if key else {}
        return self.pb("POST", "/v1beta/openai/chat/completions", json=body, key=None, headers=headers, **kwargs)


def status_of(response: httpx.Response) -> tuple[int, str]:
    """The HTTP status and the RPC status of a refusal, whose envelope must be whole."""
    error = response.json()["error"]
    assert error["code"] == response.status_code
    assert isinstance(error["message"], str)
    assert isinstance(error["details"], list)
    return response.status_code, error["status"]


def code_of(response: httpx.Response) -> tuple[int, str]:
    """The HTTP status and the code of a refusal on the interactions endpoints."""
    assert response.json()["error"].keys() == {"code", "message"}
    return response.status_code, response.json()["error"]["code"]


def events_of(response: httpx.Response) -> list[Json]:
    """The data of each event of a stream."""
    assert response.headers["content-type"].startswith("text/event-stream")
    lines = response.text.splitlines()
    return [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: {")]
