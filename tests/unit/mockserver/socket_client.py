"""A client of the mock's WebSockets that blocks, as a test wants it."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PATIENCE_S = 5.0
"""Far more than an answer of the mock takes."""


class SocketClient:
    """One open WebSocket."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection

    def say(self, message: Any) -> None:
        """Send a JSON value; text is sent as it stands."""
        self._connection.send(message if isinstance(message, str) else json.dumps(message))

    def hear(self) -> Any:
        """The next message."""
        return json.loads(self._connection.recv(timeout=PATIENCE_S))

    def hear_until(self, name: str) -> list[Any]:
        """The messages up to the first whose type, or whose first field, is `name`."""
        heard: list[Any] = []
        while not heard or name not in (heard[-1].get("type"), next(iter(heard[-1]))):
            heard.append(self.hear())
        return heard

    def closing(self) -> tuple[list[Any], int, str]:
        """What is still said, and the code and reason of the close; 1006 where there is none."""
        heard = []
        try:
            while True:
                heard.append(self.hear())
        except ConnectionClosed as closed:
            if closed.rcvd is None:
                return heard, 1006, ""
            return heard, closed.rcvd.code, closed.rcvd.reason


@contextmanager
def opened(base: str, path: str, **headers: str | None) -> Iterator[SocketClient]:
    """An open WebSocket; in the names of headers `_` stands for `-`, None leaves one out."""
    sent: Mapping[str, str] = {name.replace("_", "-"): value for name, value in headers.items() if value is not None}
    address = base.replace("http:", "ws:") + path
    with connect(address, additional_headers=sent, proxy=None, compression=None) as connection:
        yield SocketClient(connection)
