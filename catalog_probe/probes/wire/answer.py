"""What came back: the body within bounds, or why nothing came; the exchange.

Exchanges are in stand-in names, and have times.

Nothing is redacted here. Who keeps or shows an exchange redacts it (`wire/redaction.py`).
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import socket
import ssl
import zlib
from asyncio import CancelledError
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Event, Exchange, Reason, Request, Response
from catalog_probe.catalog.model.clock import ms_since
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.catalog.text.decompression import CODINGS, Decompressor
from catalog_probe.catalog.text.json_values import build_object

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Iterator, Mapping

    from catalog_probe.catalog.model import Json
    from catalog_probe.probes.targets.dialect import Dialect


# TLS raises these while it waits for the network. In a chain they are traces of an abandoned wait, and no TLS failure.
_TLS_WAITS = (ssl.SSLWantReadError, ssl.SSLWantWriteError)


class NoAnswer(Exception):
    """There is no answer, and `code` says why."""

    def __init__(self, code: ReasonCode, message: str) -> None:
        super().__init__(message)
        self.code = code


def explain_error(error: BaseException) -> Reason:
    """Return the reason of a transport error; the detail is the error's own words."""
    chain = list(iterate_causes(error))
    messages = (str(cause) for cause in reversed(chain) if not isinstance(cause, CancelledError))
    default = "the time limit passed" if isinstance(error, TimeoutError) else type(error).__name__
    detail = next(filter(None, messages), default)
    return Reason(_select_code(error, chain), detail[:300])


def iterate_causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error, then its cause, and so on to the first of all."""
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__


def _select_code(error: BaseException, chain: list[BaseException]) -> ReasonCode:
    # The causes come first: a refused certificate and an unknown name are both raised as an error of the connection.
    if any(isinstance(cause, ssl.SSLError) and not isinstance(cause, _TLS_WAITS) for cause in chain):
        return ReasonCode.TLS_FAILED
    if any(isinstance(cause, socket.gaierror) for cause in chain):
        return ReasonCode.NAME_UNRESOLVED
    if any(isinstance(cause, EOFError) for cause in chain):
        return ReasonCode.CLOSED_WITHOUT_ANSWER
    match error:
        case NoAnswer():
            return error.code
        case TimeoutError():
            return ReasonCode.READ_TIMEOUT
        case ConnectionRefusedError():
            return ReasonCode.CONNECT_REFUSED
        case ConnectionError():
            return ReasonCode.CONNECTION_RESET
        case _:
            return ReasonCode.PROTOCOL_ERROR


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


@dataclass(frozen=True, slots=True)
class Observer:
    """Translates the real names in requests and answers into stand-ins."""

    dialect: Dialect | None = None
    """None where nothing is renamed: over gRPC a target sets only the package."""

    def translate_headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        """Translate headers, or metadata."""
        return self.dialect.headers_in(headers) if self.dialect else dict(headers)

    def translate_json(self, value: Json) -> Json:
        """Translate a JSON value, or a text."""
        return self.dialect.json_in(value) if self.dialect else value

    def parse_body(self, raw: bytes) -> tuple[Json, str]:
        """Return the value of a body and its type: `json`, `text`, `binary` or `empty`."""
        value, body_type = parse_body(raw)
        return self.translate_json(value), body_type

    def translate_events(self, events: Iterable[Event]) -> tuple[Event, ...]:
        """Translate the events of a stream; what we sent is in stand-ins already."""
        return tuple(event if event.sent else replace(event, data=self.translate_json(event.data)) for event in events)

    def make_request(self, method: str, url: str, headers: Mapping[str, str], body: Json = None) -> Request:
        """Make a request of its URL and headers as sent, and its body as written."""
        url = self.dialect.url_in(url) if self.dialect else url
        return Request(method=method, url=url, headers=self.translate_headers(headers), body=body)

    def make_exchange(
        self, label: str, request: Request, outcome: Response | Reason, *, started: float, since: float
    ) -> Exchange:
        """Make an exchange that has just ended.

        `started` and `since` are readings of `time.perf_counter`.
        """
        return Exchange(
            label=label,
            request=request,
            response=outcome if isinstance(outcome, Response) else None,
            failure=outcome if isinstance(outcome, Reason) else None,
            started_ms=round((started - since) * 1000, 3),
            elapsed_ms=ms_since(started),
        )
