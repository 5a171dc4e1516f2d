"""Copies of what goes through: kept within a limit, and unpacked afterwards, so that nothing on its way is touched."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

LIMIT = 8 << 20
"""Bytes of a body that are kept, packed or unpacked."""

_PIECE = 4 << 10
"""Bytes that are unpacked at a time, where the library cannot be told when to stop."""

_WINDOW = {"gzip": 16 + zlib.MAX_WBITS, "x-gzip": 16 + zlib.MAX_WBITS, "deflate": 32 + zlib.MAX_WBITS}


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
        if name in _WINDOW:
            decoder = zlib.decompressobj(_WINDOW[name])
            found = decoder.decompress(raw, limit + 1)
            return found if len(found) <= limit and decoder.eof else None
        if name == "br":
            return _in_pieces(import_module("brotli").Decompressor().process, raw, limit)
        if name == "zstd":
            return _in_pieces(import_module("zstandard").ZstdDecompressor().decompressobj().decompress, raw, limit)
    except Exception:  # noqa: BLE001 - each library has errors of its own; what cannot be unpacked is not judged
        return None
    return None


def _in_pieces(unpack: Any, raw: bytes, limit: int) -> bytes | None:
    found = bytearray()
    for start in range(0, len(raw), _PIECE):
        found += unpack(raw[start : start + _PIECE])
        if len(found) > limit:
            return None
    return bytes(found)
