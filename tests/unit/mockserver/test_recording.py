"""What the mock keeps of a session: whole answers, and no credential in any place."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from mockserver.__main__ import main
from mockserver.recording import HIDDEN, LONGEST, recorded

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

KEY = "sk-canary-9e12-of-a-client"


def asked(
    file: Path, body: bytes, path: str = "/pa@one~overloaded/v1/messages", **headers: str
) -> list[dict[str, Any]]:
    """What is recorded of one request that is answered so, in two pieces."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        half = len(body) // 2
        await send({"type": "http.response.start", "status": 200, "headers": [(b"X-Seen", KEY.encode())]})
        await send({"type": "http.response.body", "body": body[:half], "more_body": True})
        await send({"type": "http.response.body", "body": body[half:]})

    async def ask() -> bytes:
        transport = httpx.ASGITransport(recorded(app, file))
        async with httpx.AsyncClient(transport=transport, base_url="http://mock") as client:
            return (await client.post(path, headers=headers, content=KEY)).content

    assert asyncio.run(ask()) == body, "the client gets what it gets"
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_an_exchange_is_a_line_with_the_address_that_the_client_meant(tmp_path: Path) -> None:
    [line] = asked(tmp_path / "s.jsonl", b'{"a": 1}', **{"x-mock-session": "one", "pa-version": "2023-06-01"})
    assert (line["provider"], line["request"]["method"], line["request"]["url"]) == (
        "pa",
        "POST",
        "http://mock/pa/v1/messages",
    )
    assert line["request"]["headers"]["pa-version"] == "2023-06-01"
    assert "x-mock-session" not in line["request"]["headers"]
    assert "body" not in line["request"]
    assert line["response"]["body"] == '{"a": 1}'
    assert line["headers_complete"] is True


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/pa/v1/messages", {"x-api-key": KEY}),
        ("/pc/v1/responses", {"authorization": f"Bearer {KEY}"}),
        ("/pc/v1/responses", {"cookie": f"session={KEY}"}),
        (f"/pb/v1beta/models?key={KEY}&pageSize=2", {}),
        (f"/pb/v1beta/models?access_token={KEY}", {"x-pb-api-key": KEY}),
    ],
)
def test_a_credential_is_in_no_part_of_the_line(path: str, headers: dict[str, str], tmp_path: Path) -> None:
    secret = headers.get("cookie", KEY)
    [line] = asked(tmp_path / "s.jsonl", f"you sent {secret}".encode(), path, **headers)
    assert KEY not in json.dumps(line)
    assert line["response"]["body"] == f"you sent {HIDDEN}"


def test_an_answer_that_is_too_long_is_left_out(tmp_path: Path) -> None:
    assert asked(tmp_path / "s.jsonl", b"x" * (LONGEST + 1)) == []
    assert len(asked(tmp_path / "s.jsonl", b"x" * LONGEST)) == 1


def test_a_file_that_cannot_be_written_is_told_before_anything_is_served(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--record", str(tmp_path / "nowhere" / "s.jsonl")]) == 4
    assert capsys.readouterr().err.endswith("No such file or directory; name a file to write\n")
