"""Replacements for live connections of the mock of PB."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core.errors import Refusal
from catalog_probe.mockserver.core.sockets import Disconnected
from catalog_probe.mockserver.core.world import CLOSE_EXTENSION
from catalog_probe.mockserver.pb.errors import INVALID
from catalog_probe.mockserver.pb.keys import MAIN

if TYPE_CHECKING:
    from collections.abc import Callable


def of_the_connection_alone(original: Callable[..., Any]) -> Callable[..., Any]:
    return lambda opened_at, session_began_at, *, video, compressed: original(
        opened_at, session_began_at, video=video, compressed=True
    )


def refused(original: Callable[..., Any]) -> Callable[..., Any]:
    def replacement(session: Any, handle: str, now: float) -> Any:
        raise INVALID.with_message("Sessions cannot be resumed.")()

    return replacement


def all_of_it(original: Callable[..., float]) -> Callable[..., float]:
    return lambda used_s, *, video: used_s


def dropped(original: Callable[..., Any]) -> Callable[..., Any]:
    async def replacement(socket: Any, code: int, reason: str = "") -> None:
        with suppress(Disconnected):
            await socket.abort()

    return replacement


def whoever(original: Callable[..., Any]) -> Callable[..., Any]:
    def replacement(*args: Any) -> Any:
        try:
            return original(*args)
        except Refusal:
            return MAIN, None

    return replacement


def with_999(original: Callable[..., Any]) -> Callable[..., Any]:
    """A code that is none (RFC 6455, 7.4.2), past the server's own protocol, which would not send it."""

    async def replacement(socket: Any, code: int, reason: str) -> None:
        wire = socket.scope["extensions"][CLOSE_EXTENSION]["close"].__self__.transport
        told = (999).to_bytes(2, "big") + reason.encode()
        wire.write(bytes([0x88, len(told)]) + told)
        with suppress(Disconnected):
            while True:
                await socket.receive()

    return replacement
