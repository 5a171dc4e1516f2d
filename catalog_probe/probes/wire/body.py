"""Reads response bodies: decompresses and parses them within bounds."""

from __future__ import annotations

import hashlib
import json
import math
import re
import zlib
from typing import TYPE_CHECKING

from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.catalog.text.decompression import CODINGS, Decompressor
from catalog_probe.catalog.text.json_values import build_object
from catalog_probe.probes.wire.failure import NoAnswer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from catalog_probe.catalog.model import Json

ACCEPT_ENCODING = "gzip, deflate"
IDENTITY = "identity"

# JSON that nests deeper is kept as text, because everything that looks at a value walks it recursively.
MAX_DEPTH = 60

# JSON of more values is kept as text: each takes up to a hundred bytes of memory, however short it is.
MAX_VALUES = 250_000

_NUL = "\0"


class _NoJson:
    def __repr__(self) -> str:
        return "NO_JSON"


# The value of a text that is not JSON; None would be the JSON value null.
NO_JSON: Json = _NoJson()


class BodyTooLarge(Exception):
    """The body went on beyond the cap; `start` is what was read until then."""

    def __init__(self, start: bytes) -> None:
        super().__init__(f"more than {len(start)} bytes")
        self.start = start


def parse_encoding(header: str) -> str:
    """Return the encoding that the header `content-encoding` names."""
    return header.strip().lower() or IDENTITY


async def decode_capped(packed: AsyncIterator[bytes], encoding: str, cap: int) -> AsyncIterator[bytes]:
    """Yield at most `cap` bytes of a body, decoded by its content-encoding.

    Bytes are counted while decoding, so a decompression bomb stops at the cap.

    Raises:
        BodyTooLarge: with an empty start (the caller has the pieces).
        zlib.error: the body is not what its content-encoding says.
        NoAnswer: its encoding was not asked for.
    """
    encoding = parse_encoding(encoding)
    if encoding not in CODINGS and encoding != IDENTITY:
        message = f"content-encoding {encoding} was not asked for, which is {ACCEPT_ENCODING}"
        raise NoAnswer(ReasonCode.PROTOCOL_ERROR, message)
    decompressor = Decompressor(encoding) if encoding != IDENTITY else None
    left = cap
    has_begun = False
    async for raw in packed:
        # One byte more than may be kept is enough to know that the cap was exceeded, however much there is to unpack.
        piece = decompressor.unpack(raw, left + 1) if decompressor else raw
        if len(piece) > left:
            yield piece[:left]
            raise BodyTooLarge(b"")
        left -= len(piece)
        has_begun = has_begun or bool(raw)
        if piece:
            yield piece
    if decompressor is not None and has_begun and not decompressor.ended:
        raise zlib.error("the compressed body ends too soon")


async def read_body(packed: AsyncIterator[bytes], encoding: str, cap: int) -> bytes:
    """Return the whole body, decoded.

    Raises:
        BodyTooLarge: it is longer than `cap` bytes, or JSON of more than MAX_VALUES values.
        zlib.error, NoAnswer: as `decode_capped`.
    """
    content = bytearray()
    try:
        async for piece in decode_capped(packed, encoding, cap):
            content += piece
    except BodyTooLarge as error:
        raise BodyTooLarge(bytes(content)) from error
    raw = bytes(content)
    if _has_too_many_values(raw):
        raise BodyTooLarge(raw)
    return raw


def parse_body(raw: bytes) -> tuple[Json, str]:
    """Return the value of a body and its type: `json`, `text`, `empty` or `binary`.

    Binary is what is neither JSON nor UTF-8, as a compressed body whose headers do not say so. Only its size and digest
    are returned: nobody can tell which secrets its bytes hold.
    """
    if not raw:
        return None, "empty"
    value = parse_json(raw)
    if value is not NO_JSON:
        return value, "json"
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        text = _NUL
    if _NUL in text:  # no text contains it; UTF-16 has one in each letter
        return describe_binary(raw), "binary"
    return text, "text"


def describe_binary(raw: bytes) -> str:
    """Return size and digest of bytes, which are kept in their place: `[3 bytes, sha256 ba7816bf…]`."""
    return f"[{len(raw)} bytes, sha256 {hashlib.sha256(raw).hexdigest()}]"


def parse_json(text: str | bytes) -> Json:
    """Return the JSON value of a text.

    NO_JSON if it is none, nests too deep or holds too many values.
    """
    raw = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    if _has_too_many_values(raw):
        return NO_JSON
    try:
        value = _DECODER.decode(_decode_text(text))
    except (ValueError, RecursionError):
        return NO_JSON
    # A text with few lists and objects cannot nest deeper: this spares the walk for nearly every answer.
    may_nest = raw.count(b"[") + raw.count(b"{") > MAX_DEPTH
    return NO_JSON if may_nest and _nests_deeper(value, MAX_DEPTH) else value


def _decode_text(text: str | bytes) -> str:
    return text if isinstance(text, str) else text.decode(json.detect_encoding(text), "surrogatepass")


# Each JSON value begins the text, a list or an object, or follows a comma.
_BEFORE_VALUES = (b",", b"[", b"{")
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+"', re.DOTALL)


def _has_too_many_values(raw: bytes) -> bool:
    """Whether JSON holds more than MAX_VALUES values, without parsing it."""
    if len(raw) < 2 * MAX_VALUES or raw[:64].lstrip()[:1] not in (b"[", b"{"):
        return False
    upper_bound = sum(map(raw.count, _BEFORE_VALUES))
    if upper_bound <= MAX_VALUES:
        return False
    strings = (match[0] for match in _STRING.finditer(raw))
    in_strings = sum(string.count(sign) for string in strings for sign in _BEFORE_VALUES)
    return upper_bound - in_strings > MAX_VALUES


def _nests_deeper(value: Json, depth: int) -> bool:
    if not isinstance(value, dict | list):
        return False
    if depth == 0:
        return True
    return any(_nests_deeper(item, depth - 1) for item in (value.values() if isinstance(value, dict) else value))


def _parse_float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is too large")
    return number


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON value")


# Made once, because `json.loads` with these options makes a decoder for each body.
_DECODER = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_parse_float, object_pairs_hook=build_object)
