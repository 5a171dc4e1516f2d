"""Undoes gzip and deflate as HTTP sends them and clients read them, piece by piece and never beyond what is asked for.

A body of gzip is a series of members (RFC 1952, 2.2), which servers write that flush, or join what was packed before;
deflate comes without the wrapper of zlib as well (RFC 9110, 8.4.1.2). What follows the last of them is passed over.
"""

from __future__ import annotations

import zlib

CODINGS = frozenset({"gzip", "x-gzip", "deflate"})

_GZIP = zlib.MAX_WBITS | 16
_MEMBER = b"\x1f\x8b\x08"
"""How a member begins."""

_AT_ONCE = 16 << 10
"""Bytes that are taken at a time: after each member what remains of them is copied, and a member may have twenty."""


class Unpacker:
    """What undoes one body in one coding."""

    def __init__(self, coding: str) -> None:
        self._deflate = coding == "deflate"
        self._decoder = None if self._deflate else zlib.decompressobj(_GZIP)
        self._waiting = b""
        """What came of that which shows what it begins, while it is too little to tell."""
        self._over = False
        self.ended = False
        """Whether all that began so far has come to its end."""

    def unpack(self, piece: bytes, most: int) -> bytes:
        """What a piece holds, at most `most` bytes: once so many came, the rest of the piece is given up.

        Raises:
            zlib.error: it is not what its coding says.
        """
        found = bytearray()
        for start in range(0, len(piece), _AT_ONCE):
            rest = piece[start : start + _AT_ONCE]
            while rest and len(found) < most and not self._over:
                unpacked, rest = self._next(rest, most - len(found))
                found += unpacked
        return bytes(found)

    def _next(self, rest: bytes, most: int) -> tuple[bytes, bytes]:
        """What is held until there is an end or no more, and what follows that end."""
        if self._decoder is None:
            rest, self._waiting = self._waiting + rest, b""
            if not self._begins(rest):
                return b"", b""
        assert self._decoder is not None
        self.ended = False
        found = self._decoder.decompress(rest, most)
        if not self._decoder.eof:
            return found, b""
        rest = self._decoder.unused_data
        self.ended, self._over, self._decoder = True, self._deflate, None
        return found, rest

    def _begins(self, rest: bytes) -> bool:
        """Whether something to undo begins here; what it is decides what undoes it."""
        if self._deflate:
            if len(rest) > 1:
                self._decoder = zlib.decompressobj(zlib.MAX_WBITS if _is_zlib(rest) else -zlib.MAX_WBITS)
        elif rest.startswith(_MEMBER):
            self._decoder = zlib.decompressobj(_GZIP)
        else:
            self._over = not _MEMBER.startswith(rest)
        if self._decoder is None:
            self._waiting = rest
        return self._decoder is not None


def _is_zlib(begun: bytes) -> bool:
    """Whether two bytes are the header of zlib (RFC 1950, 2.2): no deflate that is well formed begins so."""
    return begun[0] & 0x0F == zlib.DEFLATED and int.from_bytes(begun[:2]) % 31 == 0
