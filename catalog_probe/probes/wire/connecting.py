"""Connects a TCP socket in a time limit that excludes the resolver."""

from __future__ import annotations

import asyncio
import socket
import time
from typing import Any

# Seconds that resolving a name may take.
RESOLVE_S = 10.0


async def connect_socket(host: str, port: int, timeout_s: float) -> socket.socket:
    """Return a connected socket.

    Raises:
        TimeoutError: there is none within so many seconds after the name was resolved.
        OSError: no address accepted.
    """
    loop = asyncio.get_running_loop()
    # The resolver is not the provider's, so its time does not count.
    async with asyncio.timeout(RESOLVE_S):
        addresses = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    deadline = time.perf_counter() + timeout_s
    last_error: OSError = ConnectionRefusedError(f"{host} has no address")
    for family, kind, protocol, _, address in addresses:
        candidate = socket.socket(family, kind, protocol)
        candidate.setblocking(False)
        try:
            await _connect(candidate, address, seconds_left(deadline))
        except TimeoutError:
            candidate.close()
            raise
        except OSError as error:
            candidate.close()
            last_error = error
        except BaseException:
            candidate.close()
            raise
        else:
            return candidate
    raise last_error


def seconds_left(deadline: float) -> float:
    """Return the seconds until a reading of `time.perf_counter`.

    Never zero, which libraries read as no limit.
    """
    return max(0.001, deadline - time.perf_counter())


async def _connect(candidate: socket.socket, address: Any, timeout_s: float) -> None:
    connecting = asyncio.ensure_future(asyncio.get_running_loop().sock_connect(candidate, address))
    try:
        await asyncio.wait({connecting}, timeout=timeout_s)
    finally:
        connecting.cancel()  # no effect if it is done
    await asyncio.wait({connecting})
    if not connecting.cancelled():
        connecting.result()
        return
    try:
        # A busy loop may notice the time limit before it notices the connection, but the socket knows.
        candidate.getpeername()
    except OSError:
        raise TimeoutError from None
