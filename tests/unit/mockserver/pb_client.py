"""A client of PB in this process, and its smallest valid bodies."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.app import create_app
from tests.unit.mockserver.mock_client import Client, drop_none, make_mock_headers

if TYPE_CHECKING:
    from collections.abc import Mapping

    import httpx

Json = Any

CONTENTS: list[dict[str, Any]] = [{"role": "user", "parts": [{"text": "Hello"}]}]


class PbClient(Client):
    """Client of PB; sends an inference key by default."""

    def __init__(self) -> None:
        super().__init__(create_app(only=["pb"]))

    def ask(
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
        """Send a request with the key in its header; None leaves a header out."""
        sent = {"x-pb-api-key": key, **make_mock_headers(scenario, clock, session), **(headers or {})}
        return self.send(method, f"/pb{path}", headers=drop_none(sent), **kwargs)

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
        """Ask for a small generation with some fields changed."""
        body = {"contents": CONTENTS, **({"generationConfig": config} if config else {}), **(fields or {})}
        return self.ask("POST", f"/{version}/models/{model}:{operation}", json=body, **kwargs)

    def interact(self, fields: Mapping[str, Any] | None = None, **kwargs: Any) -> httpx.Response:
        """Ask for a small interaction with some fields changed."""
        body = {"model": "mock-lite", "input": "Hello", **(fields or {})}
        return self.ask("POST", "/v1beta/interactions", json=body, **kwargs)

    def chat(self, fields: Mapping[str, Any] | None = None, **kwargs: Any) -> httpx.Response:
        """Ask for a small chat completion of the compatibility layer; the key is a bearer token."""
        body = {"model": "mock-lite", "messages": [{"role": "user", "content": "Hello"}], **(fields or {})}
        key = kwargs.pop("bearer", "mock-pb-inference")
        headers = {"authorization": f"Bearer {key}"} if key else {}
        return self.ask("POST", "/v1beta/openai/chat/completions", json=body, key=None, headers=headers, **kwargs)


def read_status(response: httpx.Response) -> tuple[int, str]:
    """Return the HTTP status and the RPC status of a refusal, and check its envelope."""
    error = response.json()["error"]
    assert error["code"] == response.status_code
    assert isinstance(error["message"], str)
    assert isinstance(error["details"], list)
    return response.status_code, error["status"]


def read_code(response: httpx.Response) -> tuple[int, str]:
    """Return the HTTP status and the code of a refusal of the interactions endpoints."""
    assert response.json()["error"].keys() == {"code", "message"}
    return response.status_code, response.json()["error"]["code"]


def parse_events(response: httpx.Response) -> list[Json]:
    """Parse the data of each event of a stream."""
    assert response.headers["content-type"].startswith("text/event-stream")
    lines = response.text.splitlines()
    return [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: {")]
