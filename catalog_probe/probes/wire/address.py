"""Where a request may go: to the target, to loopback, or nowhere.

Addresses on loopback provoke the errors that arise in the client.
"""

from __future__ import annotations

import asyncio
import re
import socket
from contextlib import ExitStack
from typing import TYPE_CHECKING
from urllib.parse import unquote

if TYPE_CHECKING:
    from collections.abc import Callable


Origin = tuple[str, str, int | None]
"""The scheme, user information and host, and port of a URL, as the library that sends the request reads them."""

# RFC 3986, 3.3, after one slash. No `?` or `#`: they would move what follows out of the path. The length is what
# RFC 9110, 4.1 asks every server to take.
_PATH = re.compile(r"/(?!/)[A-Za-z0-9._~!$&'()*+,;=:@%/-]{0,8000}")


class UnsafePathError(ValueError):
    """A path would lead away from its address; one line saying why."""


def join_url(address: str, path: str, read_origin: Callable[[str], Origin]) -> str:
    """Return the URL of a path below an address of the target.

    The path is not trusted, because values of the target and of answers are filled into it. `read_origin` reads a URL
    as the library does that sends the request.

    Raises:
        UnsafePathError: the request would go to another scheme, host or port, or leave the address's own path.
    """
    quoted_path = repr(path if len(path) <= 200 else f"{path[:200]}…")
    if not _PATH.fullmatch(path):
        raise UnsafePathError(f"{quoted_path} is not one slash and plain characters of a path")
    # Servers and proxies decode a path before they resolve its dots, some of them a backslash as a slash.
    if any(segment in (".", "..") for segment in re.split(r"[/\\]", unquote(path))):
        raise UnsafePathError(f"{quoted_path} has a dot segment, which could leave the path of {address}")
    url = address + path
    if read_origin(url) != read_origin(address):
        raise UnsafePathError(f"{quoted_path} would not go to {address}")
    return url


HOST = "127.0.0.1"

# More connections than a queue of length 0 holds.
QUEUED_CONNECTIONS = 4


class Loopback:
    """The sockets behind these addresses, opened when first used.

    All methods run in the loop thread.
    """

    def __init__(self) -> None:
        self._sockets = ExitStack()
        self._servers: list[asyncio.Server] = []
        self._addresses: dict[str, str] = {}

    async def get_address(self, service: str) -> str:
        """Return the address of a service, one of LOOPBACK_SERVICES."""
        if service not in self._addresses:
            self._addresses[service] = await self._open(service)
        return self._addresses[service]

    async def aclose(self) -> None:
        """Close every socket."""
        self._sockets.close()
        for server in self._servers:
            server.close()
        self._addresses.clear()

    async def _open(self, service: str) -> str:
        match service:
            case "closed_port":
                return f"http://{HOST}:{_port(self._bind())}"
            case "full_port":
                return f"http://{HOST}:{_port(self._fill())}"
            case _:
                server = await asyncio.start_server(_answer_plainly, HOST, 0)
                self._servers.append(server)
                return f"https://{HOST}:{server.sockets[0].getsockname()[1]}"

    def _bind(self) -> socket.socket:
        """Reserve a port on which nobody listens, as long as the socket lives."""
        bound = self._sockets.enter_context(socket.socket())
        bound.bind((HOST, 0))
        return bound

    def _fill(self) -> socket.socket:
        """Listen on a port whose queue of connections is full."""
        listening = self._bind()
        listening.listen(0)
        for _ in range(QUEUED_CONNECTIONS):
            queued = self._sockets.enter_context(socket.socket())
            queued.setblocking(False)
            queued.connect_ex((HOST, _port(listening)))
        return listening


async def _answer_plainly(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read(1)
    writer.write(b"this port does not speak TLS\r\n")
    writer.close()


def _port(bound: socket.socket) -> int:
    port: int = bound.getsockname()[1]
    return port
