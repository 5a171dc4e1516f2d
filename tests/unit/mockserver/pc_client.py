"""A client that speaks to PC in a mock of this process."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.unit.mockserver.mock_client import ChatClient

if TYPE_CHECKING:
    import httpx


class PcClient(ChatClient):
    """Sends one request at a time; each in the shared session unless it names another."""

    provider = "pc"


def error_of(response: httpx.Response) -> dict[str, Any]:
    """The error object, which always has its four keys (2:7.1)."""
    error: dict[str, Any] = response.json()["error"]
    assert {"message", "type", "param", "code"} <= error.keys()
    assert response.headers["x-request-id"].startswith("req_")
    return error


def refusal_of(response: httpx.Response) -> tuple[int, str | None, str | None]:
    """Status, code and param of a refusal."""
    error = error_of(response)
    return response.status_code, error["code"], error["param"]


def events_of(response: httpx.Response) -> list[tuple[str, dict[str, Any]]]:
    """The events of a stream."""
    blocks = [block.split("\n") for block in response.text.strip().split("\n\n")]
    return [(name.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for name, data in blocks]
