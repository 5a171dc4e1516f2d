"""Reads a response body without ever holding more of it than the cap, however well it compresses."""

from __future__ import annotations

import hashlib
import json
import math
import re
import zlib
from typing import TYPE_CHECKING

from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.catalog.text.decompression import CODINGS, Decompressor
from catalog_probe.catalog.text.json_tree import build_object
from catalog_probe.probes.wire.failure import NoAnswer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from catalog_probe.catalog.model import Json

ACCEPT_ENCODING = "gzip, deflate"
IDENTITY = "identity"

MAX_DEPTH = 60
"""What nests deeper than this is kept as text: everything that looks at a value walks it recursively."""


MAX_VALUES = 250_000
"""JSON of more values than this is not taken apart: each takes up to a hundred bytes, however short it is."""


_NUL = "\0"


class _NoJson:
    def __repr__(self) -> str:
        return "NO_JSON"


NO_JSON: Json = _NoJson()
"""What a text holds that is not JSON; None would be the JSON value null."""


class BodyTooLarge(Exception):
    """The body went on beyond the cap; `kept` is what was read until then."""

    def __init__(self, kept: bytes) -> None:
        super().__init__(f"more than {len(kept)} bytes")
        self.kept = kept


def encoding_of(told: str) -> str:
    """The encoding that the header `content-encoding` of an answer tells."""
    return told.strip().lower() or IDENTITY


async def capped(packed: AsyncIterator[bytes], encoding: str, cap: int) -> AsyncIterator[bytes]:
    """Yield a body in pieces, decoded from what its content-encoding says.

    Bytes are counted while decoding, so a bomb stops at the cap.

    Raises:
        BodyTooLarge: with nothing kept (the caller has the pieces).
        zlib.error: the body is not what its content-encoding says.
        NoAnswer: it is in an encoding that was not asked for.
    """
    encoding = encoding_of(encoding)
    if encoding not in CODINGS and encoding != IDENTITY:
        words = f"content-encoding {encoding} was not asked for, which is {ACCEPT_ENCODING}"
        raise NoAnswer(ReasonCode.PROTOCOL_ERROR, words)
    unpacker = Decompressor(encoding) if encoding != IDENTITY else None
    left = cap
    begun = False
    async for raw in packed:
        # One byte more than may be kept: enough to know that the cap was met, however much there is to unpack.
        piece = unpacker.unpack(raw, left + 1) if unpacker else raw
        if len(piece) > left:
            yield piece[:left]
            raise BodyTooLarge(b"")
        left -= len(piece)
        begun = begun or bool(raw)
        if piece:
            yield piece
    if unpacker is not None and begun and not unpacker.ended:
        raise zlib.error("the compressed body ends too soon")


async def read(packed: AsyncIterator[bytes], encoding: str, cap: int) -> bytes:
    """The whole body, decoded.

    Raises:
        BodyTooLarge: it is longer than `cap` bytes, or JSON of more than MAX_VALUES values; what was read is in the
            error.
    """
    kept = bytearray()
    try:
        async for piece in capped(packed, encoding, cap):
            kept += piece
    except BodyTooLarge as error:
        raise BodyTooLarge(bytes(kept)) from error
    raw = bytes(kept)
    if _holds_too_many(raw):
        raise BodyTooLarge(raw)
    return raw


def parsed(raw: bytes) -> tuple[Json, str]:
    """What a body holds, and its type: `json`, `text`, `empty`, or `binary`, of which size and digest are returned.

    Binary is what is neither JSON nor UTF-8, as a compressed body whose headers do not say so. Its bytes are kept
    nowhere: nobody can tell which secrets they hold.
    """
    if not raw:
        return None, "empty"
    value = json_of(raw)
    if value is not NO_JSON:
        return value, "json"
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        text = _NUL
    if _NUL in text:  # no text has one; UTF-16 has one in each letter
        return f"[{len(raw)} bytes, sha256 {hashlib.sha256(raw).hexdigest()}]", "binary"
    return text, "text"


def json_of(text: str | bytes) -> Json:
    """The JSON value that a text holds, or NO_JSON: for what is none, nests too deep or holds too many."""
    raw = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    if _holds_too_many(raw):
        return NO_JSON
    try:
        value = _DECODER.decode(_decoded(text))
    except (ValueError, RecursionError):
        return NO_JSON
    # What begins no more lists and objects than that cannot nest deeper: so it is with nearly every answer.
    may_nest = raw.count(b"[") + raw.count(b"{") > MAX_DEPTH
    return NO_JSON if may_nest and _nests_deeper(value, MAX_DEPTH) else value


def _decoded(text: str | bytes) -> str:
    return text if isinstance(text, str) else text.decode(json.detect_encoding(text), "surrogatepass")


def _holds_too_many(raw: bytes) -> bool:
    """Whether JSON holds more than MAX_VALUES values: each begins the text, a list or an object, or follows a comma."""
    if len(raw) < 2 * MAX_VALUES or raw[:64].lstrip()[:1] not in (b"[", b"{"):
        return False
    most = sum(map(raw.count, _BEFORE_VALUES))
    if most <= MAX_VALUES:
        return False
    texts = (match[0] for match in _STRING.finditer(raw))
    return most - sum(text.count(each) for text in texts for each in _BEFORE_VALUES) > MAX_VALUES


_BEFORE_VALUES = (b",", b"[", b"{")
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+"', re.DOTALL)


def _nests_deeper(value: Json, depth: int) -> bool:
    if not isinstance(value, dict | list):
        return False
    if depth == 0:
        return True
    return any(_nests_deeper(item, depth - 1) for item in (value.values() if isinstance(value, dict) else value))


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is too large")
    return number


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is no JSON value")


_DECODER = json.JSONDecoder(parse_constant=_refuse, parse_float=_finite, object_pairs_hook=build_object)
"""What `json.loads` would make anew for each body."""
