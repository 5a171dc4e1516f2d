"""Copies of what goes through: kept within a limit, and unpacked afterwards, so that nothing on its way is touched."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Protocol

from catalog.model.unpacking import CODINGS, Unpacker

LIMIT = 8 << 20
"""Bytes of a body that are kept, packed or unpacked."""

_PIECE = 4 << 10
"""Bytes that are unpacked at a time, where the library cannot be told when to stop."""


@dataclass(slots=True)
class Copy:
    """What went through of one body. Called with each piece, and returns it as it is."""

    limit: int = LIMIT
    kept: bytearray = field(default_factory=bytearray)
    whole: bool = True
    """Whether all of it was kept."""

    def __call__(self, piece: bytes) -> bytes:
        room = self.limit - len(self.kept)
        self.kept += piece[:room]
        self.whole = self.whole and len(piece) <= room
        return piece


def unpacked(raw: bytes, encoding: str, limit: int = LIMIT) -> bytes | None:
    """A body without its content-encoding; None where it cannot be unpacked, or is longer than `limit` bytes."""
    for name in reversed([each.strip().lower() for each in encoding.split(",")]):
        if name in ("", "identity") or not raw:
            continue
        found = _without(name, raw, limit)
        if found is None:
            return None
        raw = found
    return raw


def _without(name: str, raw: bytes, limit: int) -> bytes | None:
    try:
        if name in CODINGS:
            unpacker = Unpacker(name)
            found = unpacker.unpack(raw, limit + 1)
            return found if len(found) <= limit and unpacker.ended else None
        if name == "br":
            return _in_frames(_Brotli, raw, limit)
        if name == "zstd":
            return _in_frames(import_module("zstandard").ZstdDecompressor().decompressobj, raw, limit)
    except Exception:  # noqa: BLE001 - each library has errors of its own; what cannot be unpacked is not judged
        return None
    return None


class _Frame(Protocol):
    """What undoes one frame, as the libraries of zstd and zlib have it."""

    @property
    def eof(self) -> bool:
        """Whether it has come to its end."""

    @property
    def unused_data(self) -> bytes:
        """What followed that end in the last piece."""

    def decompress(self, piece: bytes, /) -> bytes:
        """What a piece holds."""


class _Brotli:
    """Brotli as if it had frames: what follows the end of its one stream is an error to the library."""

    unused_data = b""

    def __init__(self) -> None:
        self._stream = import_module("brotli").Decompressor()

    @property
    def eof(self) -> bool:
        return bool(self._stream.is_finished())

    def decompress(self, piece: bytes, /) -> bytes:
        return bytes(self._stream.process(piece))


def _in_frames(begin: Callable[[], _Frame], raw: bytes, limit: int) -> bytes | None:
    """What all frames hold, of which zstd may have several (RFC 8878, 3.1); None where the last is not whole."""
    found = bytearray()
    frame = begin()
    for start in range(0, len(raw), _PIECE):
        rest = raw[start : start + _PIECE]
        while rest:
            frame = begin() if frame.eof else frame
            found += frame.decompress(rest)
            if len(found) > limit:
                return None
            rest = frame.unused_data if frame.eof else b""
    return bytes(found) if frame.eof else None
