"""Clients of a mock in this process, one for each provider, and their smallest valid bodies."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any, ClassVar

import httpx

from catalog_probe.mockserver.app import create_app

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.mockserver.app import MockApp

VERSION = "2023-06-01"
MESSAGE: dict[str, Any] = {"model": "mock-small", "max_tokens": 16, "messages": [{"role": "user", "content": "Hello"}]}
RESPONSE: dict[str, Any] = {"model": "mock-small", "input": "Hello"}
COMPLETION: dict[str, Any] = {"model": "mock-small", "messages": [{"role": "user", "content": "Hello"}]}
CONTENTS: list[dict[str, Any]] = [{"role": "user", "parts": [{"text": "Hello"}]}]


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


class PcClient(ChatClient):
    """Client of PC."""

    provider = "pc"


class PdClient(ChatClient):
    """Client of PD."""

    provider = "pd"


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


def read_status(response: httpx.Response) -> tuple[int, str]:
    """Return the HTTP status and the RPC status of a refusal of PB, and check its envelope."""
    error = response.json()["error"]
    assert error["code"] == response.status_code
    assert isinstance(error["message"], str)
    assert isinstance(error["details"], list)
    return response.status_code, error["status"]


def read_code(response: httpx.Response) -> tuple[int, str]:
    """Return the HTTP status and the code of a refusal of PB's interactions."""
    assert response.json()["error"].keys() == {"code", "message"}
    return response.status_code, response.json()["error"]["code"]


def read_error(response: httpx.Response) -> dict[str, Any]:
    """Return the error object of PC, which always has its four keys (2:7.1)."""
    error: dict[str, Any] = response.json()["error"]
    assert {"message", "type", "param", "code"} <= error.keys()
    assert response.headers["x-request-id"].startswith("req_")
    return error


def read_refusal(response: httpx.Response) -> tuple[int, str | None, str | None]:
    """Return status, code and param of a refusal of PC."""
    error = read_error(response)
    return response.status_code, error["code"], error["param"]


def read_events(response: httpx.Response) -> list[dict[str, Any]]:
    """Return the JSON data of each event of a stream; a name beside the data must be its type.

    Example: `event: ping` with `data: {"type": "ping"}`, and then `data: [DONE]`, are `[{"type": "ping"}]`.
    """
    assert response.headers["content-type"].startswith("text/event-stream")
    events = []
    for block in response.text.strip().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.split("\n"))
        if fields["data"] != "[DONE]":
            events.append(json.loads(fields["data"]))
            assert fields.get("event") in (None, events[-1].get("type"))
    return events


def join_message_blocks(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Join the deltas of a stream of PA to the content of the whole message.

    Example: a text block that starts empty and the deltas "The " and "mock" are `{"type": "text", "text": "The mock"}`.
    """
    blocks = [dict(event["content_block"]) for event in events if event["type"] == "content_block_start"]
    inputs = dict.fromkeys(range(len(blocks)), "")
    for event in events:
        match event:
            case {"index": index, "delta": {"type": "input_json_delta", "partial_json": piece}}:
                inputs[index] += piece
            case {"index": index, "delta": {"type": kind, **delta}}:
                (name,) = delta
                assert kind == f"{name}_delta"
                blocks[index][name] += delta[name]
    return [
        {**block, "input": json.loads(text)} if text else block
        for block, text in zip(blocks, inputs.values(), strict=True)
    ]
