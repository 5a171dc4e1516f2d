"""What clients asked of the mock and were answered, a line an exchange: recordings as `pytest probes --traffic` reads.

HTTP alone, streams included. No credential of a client is ever written, and of its requests no body.
"""

from __future__ import annotations

import json
import os
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, urlencode

from mockserver.app import Address

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LONGEST = 1024 * 1024
"""Bytes of an answer; a longer one is not recorded."""

HIDDEN = "hidden"
SHORTEST_KEY = 8
"""Characters of a credential that is looked for in answers; a shorter one would blot out ordinary words."""

_PLAIN = re.compile(r"host|connection|user-agent|content-(?:type|length)|accept(?:-encoding)?|.+-(?:version|beta)s?")
"""Request headers that hold no credential."""

_AS_IT_IS = "/:@!$&'()*+,;=~"
"""What may stand in a path (RFC 3986, 3.3)."""

_OF_A_KEY = re.compile(r".*(?:key|token|secret|authorization|cookie|organization|workspace|project).*", re.IGNORECASE)
"""Names of headers and parameters whose values must stand nowhere else either."""


def recorded(app: ASGIApp, file: Path) -> ASGIApp:
    """The app, each exchange of which becomes a line at the end of a file.

    Raises:
        OSError: the file cannot be written.
    """
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def keep(line: Mapping[str, Any]) -> None:
        os.write(descriptor, json.dumps(line, separators=(",", ":")).encode() + b"\n")

    async def record(scope: Scope, receive: Receive, send: Send) -> None:
        address = Address.of(scope["path"])
        if scope["type"] != "http" or address.prefix == "__mock__":
            await app(scope, receive, send)
            return
        at = datetime.now(UTC)
        answer = _Answer(send, lambda whole: keep(_line(at, scope, address, whole)))
        await app(scope, receive, answer.send)

    return record


class _Answer:
    """An answer on its way out, and a copy of it: `keep` is given the whole before its client has the end of it."""

    def __init__(self, send: Send, keep: Callable[[_Answer], None]) -> None:
        self._send = send
        self._keep = keep
        self.status = 0
        self.headers: dict[str, str] = {}
        self.body = b""

    async def send(self, message: Message) -> None:
        """Pass it on; keep it as far as it is no longer than is kept."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = _texts(message.get("headers", ()))
        elif message["type"] == "http.response.body" and len(self.body) <= LONGEST:
            self.body += message.get("body", b"")
            if not message.get("more_body", False) and len(self.body) <= LONGEST:
                self._keep(self)
        await self._send(message)


def _line(at: datetime, scope: Scope, address: Address, answer: _Answer) -> dict[str, Any]:
    sent, query = _texts(scope["headers"]), parse_qsl(scope.get("query_string", b"").decode("latin-1"))
    secrets = [value for name, value in (*query, *sent.items()) if _OF_A_KEY.fullmatch(name)]
    parts = [part for value in secrets for part in (value, *re.split(r"[\s;,=]+", value))]
    hide = _hiding(each for each in parts if len(each) >= SHORTEST_KEY)
    shown = [(name, HIDDEN if _OF_A_KEY.fullmatch(name) else value) for name, value in query]
    asked = f"{quote(address.plain, safe=_AS_IT_IS)}{'?' if shown else ''}{urlencode(shown)}"
    url = f"http://{sent.get('host', '127.0.0.1')}{asked}"
    headers = {
        name: hide(value) if _PLAIN.fullmatch(name) else HIDDEN
        for name, value in sent.items()
        if not name.startswith("x-mock-")
    }
    return {
        "at": at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "provider": address.prefix.partition("-")[0],
        "headers_complete": True,
        "request": {"method": scope["method"], "url": hide(url), "headers": headers},
        "response": {
            "status": answer.status,
            "headers": {name: hide(value) for name, value in answer.headers.items()},
            "body": hide(answer.body.decode("utf-8", "replace")),
        },
    }


def _hiding(secrets: Iterable[str]) -> Callable[[str], str]:
    known = sorted(set(secrets), key=len, reverse=True)
    if not known:
        return lambda text: text
    pattern = re.compile("|".join(map(re.escape, known)))
    return lambda text: pattern.sub(HIDDEN, text)


def _texts(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in headers}
