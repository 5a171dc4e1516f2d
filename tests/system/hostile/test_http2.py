"""HTTP/2 servers are named as such, and bounded like HTTP/1.1."""

from __future__ import annotations

import asyncio
import gzip
import struct
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from catalog_probe.catalog.evidence.results import Result
from catalog_probe.catalog.model import Attempt, Exchange, Outcome
from catalog_probe.probes.calls import AnnouncedBody, get, post
from catalog_probe.probes.targets.dialect import Dialect
from catalog_probe.probes.wire.http import HttpWire, Limits
from tests.harness import certificates
from tests.harness.hostile import answer
from tests.harness.http2_server import Answer, Stream, server_context, serving_http2
from tests.harness.serving import serving_connections

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from catalog_probe.probes.calls import Call
    from tests.harness.certificates import Certificates

MAX_BYTES = 3_000_000
MODELS = get("/v1/models")
JSON = ("content-type", "application/json")
EVENTS = ("content-type", "text/event-stream")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return certificates.make_certificates(tmp_path_factory.mktemp("certificates"))


def exchange_all(base: str, ca_file: Path, *calls: Call, at_once: bool = False) -> list[Exchange]:
    """Make these calls on one wire, in sequence or concurrently."""

    async def make() -> list[Exchange]:
        limits = Limits(5.0, MAX_BYTES)
        wire = HttpWire(Dialect("", "", "", ""), limits, tls=True, ca_file=str(ca_file))
        try:
            if at_once:
                asked = [wire.exchange(call, base + call.path, {}, "answer", 0.0) for call in calls]
                return await asyncio.gather(*asked)
            return [await wire.exchange(call, base + call.path, {}, "answer", 0.0) for call in calls]
        finally:
            await wire.aclose()

    return asyncio.run(asyncio.wait_for(make(), 60))


def failure(exchange: Exchange) -> str:
    assert exchange.failure is not None, exchange
    return str(exchange.failure.code)


def make_answer(*headers: tuple[str, str], body: bytes) -> Answer:
    async def answer_so(stream: Stream) -> None:
        await stream.start(200, *headers)
        await stream.send(body)
        await stream.end()

    return answer_so


def test_an_http2_answer_is_read_and_named_as_http2(certificate: Certificates) -> None:
    heads: list[dict[bytes, bytes]] = []

    async def answer_twice(stream: Stream) -> None:
        heads.append(dict(stream.headers))
        await make_answer(JSON, ("x-a", "1"), ("x-a", "2"), body=b'{"n":%d}' % len(heads))(stream)

    with serving_http2(certificate, answer_twice) as base:
        first, second = exchange_all(base, certificate.authority, MODELS, post("/v1/files", {"a": 1}))
    assert first.response is not None
    assert second.response is not None
    assert (first.http_version, first.proxy) == ("HTTP/2", None)
    assert (first.response.body, second.response.body) == ({"n": 1}, {"n": 2})
    assert first.response.headers["x-a"] == "1, 2"
    assert (heads[0][b":path"], heads[1][b"content-length"]) == (b"/v1/models", b"8")


def test_the_version_is_in_the_evidence(certificate: Certificates) -> None:
    with serving_http2(certificate, make_answer(JSON, body=b"{}")) as base:
        (exchange,) = exchange_all(base, certificate.authority, MODELS)
    attempt = Attempt("", 0.0, (exchange,))
    line = Result("pa/endpoints/models/list_models", {}, Outcome.CONFORMS, attempts=(attempt,)).to_json()
    assert line["attempts"][0]["exchanges"][0]["http_version"] == "HTTP/2"
    assert Result.from_json(line).attempts == (attempt,)


def test_a_server_that_speaks_no_http2_is_asked_in_http1(certificate: Certificates) -> None:
    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer(200, b'{"n":1}'))
        writer.close()

    with serving_connections(speak, server_context(certificate, "http/1.1")) as base:
        (exchange,) = exchange_all(base, certificate.authority, MODELS)
    assert exchange.http_version == "HTTP/1.1"
    assert exchange.response is not None
    assert exchange.response.body == {"n": 1}


def test_an_announced_body_is_asked_for_in_http1_even_where_http2_is_preferred(certificate: Certificates) -> None:
    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        assert b"expect: 100-continue" in await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        await reader.read()
        writer.close()

    with serving_connections(speak, server_context(certificate, "h2", "http/1.1")) as base:
        (exchange,) = exchange_all(base, certificate.authority, post("/v1/files", AnnouncedBody(9)))
    assert exchange.http_version == "HTTP/1.1"
    assert exchange.response is not None
    assert exchange.response.status == 100


def test_large_answers_side_by_side_are_read_whole(certificate: Certificates) -> None:
    length = 200_000  # several times what HTTP/2 lets a server send before it is told to go on
    large = b'{"n":"' + b"x" * length + b'"}'
    with serving_http2(certificate, make_answer(JSON, body=large)) as base:
        seen = exchange_all(base, certificate.authority, *[MODELS] * 8, at_once=True)
    assert [exchange.failure for exchange in seen] == [None] * 8
    assert all(exchange.response and len(exchange.response.body["n"]) == length for exchange in seen)


def test_a_compression_bomb_is_cut_off(certificate: Certificates) -> None:
    bomb = gzip.compress(b" " * 40_000_000)
    with serving_http2(certificate, make_answer(JSON, ("content-encoding", "gzip"), body=bomb)) as base:
        (exchange,) = exchange_all(base, certificate.authority, MODELS)
    assert exchange.response is not None
    assert exchange.response.ended == "capped"


@pytest.mark.parametrize("ended", ["complete", "cut"])
def test_events_are_read_until_their_stream_ends_or_breaks_off(certificate: Certificates, ended: str) -> None:
    async def stream_events(stream: Stream) -> None:
        await stream.start(200, EVENTS)
        await stream.send(b"event: a\ndata: 1\n\n")
        await (stream.end() if ended == "complete" else stream.reset())

    with serving_http2(certificate, stream_events) as base:
        (exchange,) = exchange_all(base, certificate.authority, get("/v1/models").replace(stream=True))
    assert exchange.response is not None
    assert [event.event for event in exchange.response.events or ()] == ["a"]
    assert exchange.response.ended == ended


async def close(stream: Stream) -> None:
    stream.writer.close()


async def close_in_the_body(stream: Stream) -> None:
    await stream.start(200, JSON)
    await stream.send(b'{"n":')
    stream.writer.close()


async def flood_with_pings(stream: Stream) -> None:
    while True:
        for number in range(1000):
            stream.h2_connection.ping(struct.pack("!Q", number))
        await stream.flush()


@pytest.mark.parametrize(
    ("behave", "code"),
    [
        (close, "closed-without-answer"),
        (close_in_the_body, "connection-reset"),
        (Stream.reset, "protocol-error"),
        (flood_with_pings, "read-timeout"),
    ],
)
def test_each_missing_answer_has_its_reason(certificate: Certificates, behave: Answer, code: str) -> None:
    with serving_http2(certificate, behave) as base:
        (exchange,) = exchange_all(base, certificate.authority, MODELS.replace(timeout_s=1.0))
    assert failure(exchange) == code


def frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    return struct.pack("!I", len(payload))[1:] + struct.pack("!BBI", kind, flags, stream) + payload


SETTINGS = frame(4, 0, 0, b"")
STATUS_OF_LETTERS = frame(1, 5, 1, b"\x48\x03abc")
NO_STATUS = frame(1, 5, 1, b"\x88\x00\x01\xff\x01\xff")
PAYLOADS = st.binary(max_size=12) | st.sampled_from([b"\x88", b"\x48\x03abc", b"\x00\x01a\x01b", b"\0" * 8])
FRAMES = st.builds(frame, st.integers(0, 11), st.integers(0, 255), st.integers(0, 3), PAYLOADS)


@contextmanager
def serving_bytes(certificate: Certificates, frames: bytes) -> Iterator[str]:
    """Serve these HTTP/2 bytes after a request, then close."""

    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(65_536)
        writer.write(frames)
        writer.close()

    with serving_connections(speak, server_context(certificate, "h2")) as base:
        yield base


@pytest.mark.parametrize(
    "head",
    [b"\x00\x01a\x01b", b"\x48\x03600", b"\x88\x00\x01a\x05b\r\nc:", b"\x88\x00\x01a\x02b\0", b"\x88\x88", b"\x88\x84"],
    ids=["no :status", ":status 600", "a line end in a value", "a NUL in a value", "two :status", "a :path"],
)
def test_a_malformed_head_is_a_broken_protocol(certificate: Certificates, head: bytes) -> None:
    with serving_bytes(certificate, SETTINGS + frame(1, 5, 1, head)) as base:
        (exchange,) = exchange_all(base, certificate.authority, MODELS)
    assert failure(exchange) == "protocol-error"


@given(st.lists(FRAMES, max_size=6).map(b"".join) | st.binary(max_size=60))
@example(STATUS_OF_LETTERS)
@example(NO_STATUS)
def test_no_frames_break_the_wire(certificate: Certificates, frames: bytes) -> None:
    with serving_bytes(certificate, SETTINGS + frames) as base:
        (exchange,) = exchange_all(base, certificate.authority, MODELS)
    assert (exchange.response is None) == (exchange.failure is not None)
