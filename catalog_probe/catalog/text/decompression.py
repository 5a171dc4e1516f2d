"""Streaming decompression of HTTP bodies (gzip, deflate) with a bound on the output."""

from __future__ import annotations

import zlib

CODINGS = frozenset({"gzip", "x-gzip", "deflate"})

_GZIP_WINDOW = zlib.MAX_WBITS | 16
_GZIP_MAGIC = b"\x1f\x8b\x08"

# Bytes given to zlib at a time. After each gzip member zlib copies what follows it, and a member can be twenty bytes
# long: in one large piece of many small members, that would be quadratic.
_CHUNK_SIZE = 16 << 10


class Decompressor:
    """Decompresses one body, piece by piece.

    A gzip body is a series of members (RFC 1952, 2.2): servers that flush, or that join compressed parts, send several.
    A deflate body may lack the zlib wrapper (RFC 9110, 8.4.1.2). Bytes after the end are ignored.
    """

    def __init__(self, coding: str) -> None:
        self._is_deflate = coding == "deflate"
        self._decoder = None if self._is_deflate else zlib.decompressobj(_GZIP_WINDOW)
        self._undecided = b""  # the first bytes of a member, while there are too few to choose a decoder
        self._is_past_end = False
        self.ended = False
        """Whether every member that began so far is complete."""

    def unpack(self, piece: bytes, max_size: int) -> bytes:
        """Decompress a piece to at most `max_size` bytes; after that many, the rest of the piece is dropped.

        Raises:
            zlib.error: the body is not in its coding.
        """
        unpacked = bytearray()
        for start in range(0, len(piece), _CHUNK_SIZE):
            chunk = piece[start : start + _CHUNK_SIZE]
            while chunk and len(unpacked) < max_size and not self._is_past_end:
                output, chunk = self._unpack_member(chunk, max_size - len(unpacked))
                unpacked += output
        return bytes(unpacked)

    def _unpack_member(self, chunk: bytes, max_size: int) -> tuple[bytes, bytes]:
        """Return the output up to the end of the current member, and the input that follows that end."""
        if self._decoder is None:
            chunk, self._undecided = self._undecided + chunk, b""
            self._decoder = self._choose_decoder(chunk)
            if self._decoder is None:
                self._undecided = chunk
                return b"", b""
        self.ended = False
        output = self._decoder.decompress(chunk, max_size)
        if not self._decoder.eof:
            return output, b""
        following = self._decoder.unused_data
        self.ended, self._is_past_end, self._decoder = True, self._is_deflate, None
        return output, following

    def _choose_decoder(self, start: bytes) -> zlib._Decompress | None:
        """Return a decoder for what starts here; None if too few bytes came yet, or if the body ended before."""
        if self._is_deflate:
            if len(start) < 2:
                return None
            return zlib.decompressobj(zlib.MAX_WBITS if _has_zlib_header(start) else -zlib.MAX_WBITS)
        if start.startswith(_GZIP_MAGIC):
            return zlib.decompressobj(_GZIP_WINDOW)
        self._is_past_end = not _GZIP_MAGIC.startswith(start)
        return None


def _has_zlib_header(start: bytes) -> bool:
    """Whether two bytes are a zlib header (RFC 1950, 2.2), with which no well-formed raw deflate stream begins."""
    return start[0] & 0x0F == zlib.DEFLATED and int.from_bytes(start[:2]) % 31 == 0
