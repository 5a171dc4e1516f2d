"""Blocking client of the mock's WebSockets."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PATIENCE_S = 5.0  # far longer than any answer of the mock takes


class SocketClient:
    """One open WebSocket."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection

    def say(self, message: Any) -> None:
        """Send a JSON value; text is sent as it stands."""
        self._connection.send(message if isinstance(message, str) else json.dumps(message))

    def hear(self) -> Any:
        """Receive the next message."""
        return json.loads(self._connection.recv(timeout=PATIENCE_S))

    def hear_until(self, name: str) -> list[Any]:
        """Receive messages up to the first whose type, or first field, is `name`."""
        heard: list[Any] = []
        while not heard or name not in (heard[-1].get("type"), next(iter(heard[-1]))):
            heard.append(self.hear())
        return heard

    def hear_close(self) -> tuple[list[Any], int, str]:
        """Receive messages until the close; return them with its code (1006 if there is none) and reason."""
        heard = []
        try:
            while True:
                heard.append(self.hear())
        except ConnectionClosed as closed:
            if closed.rcvd is None:
                return heard, 1006, ""
            return heard, closed.rcvd.code, closed.rcvd.reason


@contextmanager
def open_socket(base: str, path: str, **headers: str | None) -> Iterator[SocketClient]:
    """Open a WebSocket; `_` in a header name means `-`, and a header of None is left out."""
    sent: Mapping[str, str] = {name.replace("_", "-"): value for name, value in headers.items() if value is not None}
    address = base.replace("http:", "ws:") + path
    with connect(address, additional_headers=sent, proxy=None, compression=None) as connection:
        yield SocketClient(connection)
