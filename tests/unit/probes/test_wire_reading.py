"""Reading bodies, events and failures from the wire: in any pieces, within the caps."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import json
import socket
import ssl
import struct
import zlib
from typing import TYPE_CHECKING

import httpcore
import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.catalog.model import GrpcStatus
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.probes.calls import invoke
from catalog_probe.probes.wire import answer, events
from catalog_probe.probes.wire.answer import NoAnswer, explain_error
from catalog_probe.probes.wire.grpc import GrpcWire
from catalog_probe.probes.wire.http import Limits
from tests.harness import hostile_http2 as http2
from tests.harness.pieces import CUTS, split_bytes, stream_pieces

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

PLAIN = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text()
JSON = st.recursive(PLAIN, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8)


def read_body(raw: bytes, places: list[int], cap: int = 1_000_000, *, encoding: str) -> bytes:
    return asyncio.run(answer.read_body(stream_pieces(raw, places), encoding, cap))


def compress_in_members(raw: bytes) -> bytes:
    """Compress as a flushing server does: in several gzip members, one of them empty."""
    half = len(raw) // 2
    return b"".join(gzip.compress(part, mtime=0) for part in (raw[:half], b"", raw[half:]))


ENCODED: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "as it is": ("identity", bytes),
    "gzip": ("gzip", gzip.compress),
    "members of gzip": ("gzip", compress_in_members),
    "gzip and more": ("GZIP", lambda raw: gzip.compress(raw) + b"\0" * 9),
    "gzip and half a beginning": ("gzip", lambda raw: gzip.compress(raw) + b"\x1f\x8b"),
    "zlib": ("deflate", zlib.compress),
    "zlib and more": ("deflate", lambda raw: zlib.compress(raw) + b"more"),
    "bare deflate": ("deflate", lambda raw: zlib.compress(raw, wbits=-zlib.MAX_WBITS)),
}


@given(st.binary(max_size=3000), CUTS, st.sampled_from(sorted(ENCODED)))
def test_body_is_read_in_any_pieces_and_encoding(raw: bytes, places: list[int], name: str) -> None:
    encoding, pack = ENCODED[name]
    assert read_body(pack(raw), places, encoding=encoding) == raw


@given(st.binary(max_size=3000), st.integers(0, 3000), CUTS, st.sampled_from(sorted(ENCODED)))
def test_body_is_read_up_to_the_cap(raw: bytes, cap: int, places: list[int], name: str) -> None:
    encoding, pack = ENCODED[name]
    packed = pack(raw)
    if len(raw) <= cap:
        assert read_body(packed, places, cap, encoding=encoding) == raw
        return
    with pytest.raises(answer.BodyTooLarge) as error:
        read_body(packed, places, cap, encoding=encoding)
    assert error.value.start == raw[:cap]


TRUNCATED_GZIP = gzip.compress(b"x" * 1000, mtime=0)[:-12]


def test_broken_encoding_is_an_error(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, str, bytes]] = [
        ("no-gzip", "gzip", b"no gzip"),
        ("cut-short", "gzip", TRUNCATED_GZIP),
        ("magic-number-alone", "gzip", b"\x1f\x8b"),
        ("second-cut-short", "gzip", gzip.compress(b"whole", mtime=0) + TRUNCATED_GZIP),
        ("second-broken", "gzip", gzip.compress(b"whole", mtime=0) + b"\x1f\x8b\x08 and no member"),
        ("zlib", "gzip", zlib.compress(b"whole")),
        ("gzip", "deflate", gzip.compress(b"whole", mtime=0)),
        ("one-byte", "deflate", zlib.compress(b"whole")[:1]),
        ("bare-cut-short", "deflate", zlib.compress(b"whole", wbits=-zlib.MAX_WBITS)[:-1]),
    ]
    for case, encoding, packed in cases:
        with subtests.test(case=case), pytest.raises(zlib.error):
            read_body(packed, [], encoding=encoding)


def test_empty_body_needs_no_encoding() -> None:
    assert read_body(b"", [], encoding="gzip") == b""


@given(JSON)
def test_json_is_parsed(value: object) -> None:
    assert answer.parse_body(json.dumps(value).encode()) == (value, "json")


@given(st.binary())
def test_any_bytes_are_parsed(raw: bytes) -> None:
    value, body_type = answer.parse_body(raw)
    assert body_type in ("json", "text", "binary", "empty")
    assert (body_type == "empty") == (raw == b"")
    assert body_type != "binary" or value == f"[{len(raw)} bytes, sha256 {hashlib.sha256(raw).hexdigest()}]"


UNREADABLE = {
    "gzip without its header": gzip.compress(b'{"a": 1}'),
    "UTF-16": "words".encode("utf-16-le"),
    "Latin-1": "é".encode("latin-1"),
}


def test_binary_body_is_kept_as_size_and_digest(subtests: pytest.Subtests) -> None:
    for name, raw in UNREADABLE.items():
        with subtests.test(name):
            assert answer.parse_body(raw) == (f"[{len(raw)} bytes, sha256 {hashlib.sha256(raw).hexdigest()}]", "binary")


def test_unsafe_json_is_kept_as_text(subtests: pytest.Subtests) -> None:
    cases: list[str] = ["[" * 5000, '{"a":' * 100 + "1" + "}" * 100, "NaN", "[1e999]", '{"a": Infinity}', "9" * 5000]
    for text in cases:
        with subtests.test(text=text):
            assert answer.parse_body(text.encode()) == (text, "text")
            assert answer.parse_json(text) is answer.NO_JSON


def test_json_of_too_many_values_is_too_large(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, bytes]] = [
        ("lists", b"[" + b"[]," * answer.MAX_VALUES + b"[]]"),
        ("numbers", b'{"a":[' + b"1," * answer.MAX_VALUES + b"1]}"),
        ("names", b" {" + b'"":0,' * 250_001),
    ]
    for case, raw in cases:
        with subtests.test(case=case):
            with pytest.raises(answer.BodyTooLarge) as error:
                read_body(raw, [], 4_000_000, encoding="identity")
            assert error.value.start == raw
            assert answer.parse_json(raw) is answer.NO_JSON


def test_commas_in_a_text_are_no_values(subtests: pytest.Subtests) -> None:
    for text in ["a,b" * 400_000, '\\",[{' * 400_000]:
        with subtests.test(text=text):
            raw = json.dumps({"text": text}).encode()
            assert answer.parse_body(read_body(raw, [], 9_000_000, encoding="identity")) == ({"text": text}, "json")


NO_EVENTS = ("", ": ping", "retry: 3000", "event: ping", "id: 7", "id: 7\n: keep-alive")
"""Blocks without data, which dispatch nothing (HTML standard, 9.2.6)."""
NAMES = st.from_regex(r"[a-z_.]{1,12}", fullmatch=True)
EVENTS = st.lists(st.tuples(NAMES, st.dictionaries(st.text(), PLAIN, max_size=3)), max_size=6)


def read_events(raw: bytes, places: list[int], *, by_line: bool = False, **limits: float) -> events.Stream:
    async def collect() -> events.Stream:
        return await events.read_stream(stream_pieces(raw, places), lambda: 1.0, by_line=by_line, **limits)

    return asyncio.run(collect())


@given(EVENTS, CUTS, st.sampled_from(["\n", "\r\n"]), st.sampled_from(NO_EVENTS))
def test_events_are_read_in_any_pieces_and_between_keep_alives(
    sent: list[tuple[str, dict[str, object]]], places: list[int], end: str, between: str
) -> None:
    parts = [f"event: {name}\ndata: {json.dumps(data)}\n\n" for name, data in sent]
    text = (f"{between}\n\n" if between else "").join(["", *parts, ""])
    raw = text.replace("\n", end).encode()
    stream = read_events(raw, places)
    assert stream.ended == "complete"
    expected = [(name if name != "message" else data.get("type") or "message", data) for name, data in sent]
    assert [(event.event, event.data) for event in stream.events] == expected


@given(st.binary(max_size=400), CUTS)
def test_any_bytes_are_read_as_a_stream(raw: bytes, places: list[int]) -> None:
    stream = read_events(raw, places)
    assert stream.ended == "complete"
    json.dumps([event.data for event in stream.events])


def test_event_name_is_that_of_clients(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, str]] = [
        ('data: {"type": "ping"}', "ping"),
        ('data: {"event_type": "delta"}', "delta"),
        ("data: [DONE]", "message"),
        ("data: {broken", "message"),
        ('event: error\ndata: {"type": "other"}', "error"),
        ('data: {"type": 7}', "message"),
    ]
    for text, name in cases:
        with subtests.test(text=text):
            assert [event.event for event in read_events(f"{text}\n\n".encode(), []).events] == [name]


def test_byte_order_mark_before_a_stream_is_skipped(subtests: pytest.Subtests) -> None:
    """As the HTML standard decodes streams; inside a stream the mark is a letter."""
    for places in [[], [1], [2], [1, 2, 3]]:
        with subtests.test(places=places):
            stream = read_events(b"\xef\xbb\xbfevent: first\ndata: 1\n\ndata: \xef\xbb\xbf\n\n", places)
            assert [(event.event, event.data) for event in stream.events] == [("first", 1), ("message", "\ufeff")]


def test_event_name_by_line_ignores_the_type_in_data() -> None:
    """1:6: "an event named `error`" with a body that has a type of its own."""
    raw = b'event: error\ndata: {"type": "error"}\n\ndata: {"type": "error"}\n\n'
    assert [event.event for event in read_events(raw, [], by_line=True).events] == ["error", "message"]


async def generate_stream(how: str) -> AsyncIterator[bytes]:
    yield b"data: 1\n\n"
    while how == "kept-alive":
        await asyncio.sleep(0)
        yield b"event: ping\n\n"
    if how == "stalled":
        await asyncio.Event().wait()
    if how == "cut":
        raise NoAnswer(ReasonCode.CONNECTION_RESET, "broken")
    if how == "large":
        raise answer.BodyTooLarge(b"")
    while True:
        await asyncio.sleep(0)
        yield b"data: 1\n\n"


@pytest.mark.parametrize(
    "how, ended",
    [("stalled", "stalled"), ("kept-alive", "stalled"), ("cut", "cut"), ("large", "capped"), ("endless", "capped")],
)
def test_endless_or_broken_stream_is_ended(how: str, ended: str) -> None:
    async def collect() -> events.Stream:
        return await events.read_stream(
            generate_stream(how), lambda: 1.0, stall_s=0.05 if ended == "stalled" else 30.0, whole_s=0.2
        )

    stream = asyncio.run(collect())
    assert stream.ended == ended
    assert 1 <= len(stream.events) <= events.MAX_EVENTS


class ScriptedWire(GrpcWire):
    """Makes calls whose answer is these bytes, after which the connection ends."""

    def __init__(self, *pieces: bytes) -> None:
        super().__init__("", Limits(5.0, 1000))
        self._pieces = pieces

    async def _connect(self, host: str, timeout_s: float) -> httpcore.AsyncNetworkStream:
        return httpcore.AsyncMockStream(list(self._pieces))


def make_call(*pieces: bytes) -> GrpcStatus | str:
    """Return the status of an answer, or the code of the reason why there is none."""
    call = invoke("/pd_api.Models/ListLanguageModels")
    exchange = asyncio.run(ScriptedWire(*pieces).exchange(call, "host" + call.path, {}, "answer", 0.0))
    if exchange.response is None:
        assert exchange.failure is not None
        return str(exchange.failure.code)
    assert exchange.response.grpc is not None
    return exchange.response.grpc


def trailers_frame(*fields: tuple[str, str]) -> bytes:
    flags = http2.END_HEADERS | http2.END_STREAM
    return http2.frame(http2.HEADERS, http2.trailers(*fields), stream=1, flags=flags)


SETTINGS = http2.frame(http2.SETTINGS)
NOT_FOUND = trailers_frame(("grpc-status", "5"), ("grpc-message", "no model"))


def test_grpc_status_is_the_servers_whatever_its_words(subtests: pytest.Subtests) -> None:
    """The official library says these words, under these statuses, when a connection breaks."""
    words_cases: list[str] = ["failed to connect to all addresses", "Stream removed (Socket closed)"]
    for words in words_cases:
        for status in [2, 13, 14]:
            with subtests.test(words=words, status=status):
                said = trailers_frame(("grpc-status", str(status)), ("grpc-message", words))
                reset = http2.frame(http2.RST_STREAM, struct.pack("!I", 2), stream=1)
                goaway = http2.frame(http2.GOAWAY, struct.pack("!II", 0, 11) + words.encode())
                assert make_call(SETTINGS + said) == GrpcStatus(status, words)
                assert [make_call(SETTINGS + broken) for broken in (reset, goaway, b"")] == ["connection-reset"] * 3


@given(CUTS, st.binary(max_size=30))
def test_grpc_answer_is_read_in_any_pieces_whatever_follows(places: list[int], more: bytes) -> None:
    pieces = split_bytes(SETTINGS + NOT_FOUND, places)
    assert make_call(*pieces, more) == make_call(SETTINGS + NOT_FOUND + more) == GrpcStatus(5, "no model")


@given(st.lists(st.binary(max_size=60) | st.sampled_from([SETTINGS, NOT_FOUND, NOT_FOUND[:9], bytes(9)])))
def test_no_bytes_break_a_grpc_call(pieces: list[bytes]) -> None:
    make_call(SETTINGS, *pieces)


def set_cause(error: Exception, cause: BaseException) -> Exception:
    error.__cause__ = cause
    return error


def test_failure_has_a_reason(subtests: pytest.Subtests) -> None:
    cases: list[tuple[Exception, str]] = [
        (NoAnswer(ReasonCode.CONNECT_TIMEOUT, "slow"), "connect-timeout"),
        (NoAnswer(ReasonCode.CONNECT_REFUSED, "refused"), "connect-refused"),
        (
            set_cause(NoAnswer(ReasonCode.CONNECT_REFUSED, "x"), socket.gaierror(-2, "Name not known")),
            "name-unresolved",
        ),
        (set_cause(NoAnswer(ReasonCode.CONNECT_REFUSED, "x"), ssl.SSLError("certificate has expired")), "tls-failed"),
        (TimeoutError(), "read-timeout"),
        (EOFError("too soon"), "closed-without-answer"),
        (ConnectionRefusedError("no"), "connect-refused"),
        (ConnectionResetError("gone"), "connection-reset"),
        (httpx.LocalProtocolError("Illegal header value"), "protocol-error"),
        (httpx.InvalidURL("no"), "protocol-error"),
        (zlib.error("incorrect header check"), "protocol-error"),
    ]
    for error, code in cases:
        with subtests.test(error=error):
            reason = explain_error(error)
            assert reason.code == code
            assert reason.detail


def test_detail_of_a_failure_is_cut() -> None:
    assert explain_error(NoAnswer(ReasonCode.CONNECTION_RESET, "x" * 400)).detail == "x" * 300
