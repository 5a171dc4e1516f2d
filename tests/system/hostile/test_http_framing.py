"""Interim answers, odd framing and unasked bytes of real HTTP servers."""

from __future__ import annotations

import asyncio
import gzip
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from catalog_probe.probes.calls import AnnouncedBody, DeclaredBody, get, post
from catalog_probe.probes.targets.dialect import Dialect
from catalog_probe.probes.wire.http import HttpWire, Limits
from tests.harness.hostile import answer, answer_head
from tests.harness.serving import Connection, serving_connections

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Exchange
    from catalog_probe.probes.calls import Call

OK = b'{"n":%d}'
MAX_BYTES = 100_000


@dataclass
class Scripted:
    """A server that keeps its connections: each request gets the next of these bytes, on whichever connection."""

    answers: list[bytes]
    close: bool = False
    connections: int = 0
    heads: list[str] = field(default_factory=list)

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while True:
                self.heads.append((await reader.readuntil(b"\r\n\r\n")).decode())
                writer.write(self.answers.pop(0))
                await writer.drain()
                if self.close:
                    return
        except (asyncio.IncompleteReadError, ConnectionError, IndexError):
            pass
        finally:
            writer.close()


def sized_answer(number: int, body: bytes | None = None, **headers: str) -> bytes:
    """A whole answer that leaves its connection open."""
    said = OK % number if body is None else body
    return answer_head(200, content_type="application/json", content_length=str(len(said)), **headers) + said


def chunked_answer(*pieces: bytes, trailers: bytes = b"") -> bytes:
    head = answer_head(200, content_type="application/json", transfer_encoding="chunked")
    return head + b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n" + trailers + b"\r\n"


MODELS = get("/v1/models")


def exchange_all(server: Connection, times: int = 1, call: Call = MODELS) -> list[Exchange]:
    """So many exchanges, one after the other, on one wire."""

    async def make(base: str) -> list[Exchange]:
        wire = HttpWire(Dialect("", "", "", ""), Limits(5.0, MAX_BYTES), tls=False)
        try:
            return [await wire.exchange(call, f"{base}{call.path}", {}, "answer", 0.0) for _ in range(times)]
        finally:
            await wire.aclose()

    with serving_connections(server) as base:
        return asyncio.run(asyncio.wait_for(make(base), 30))


def body_or_failure(exchange: Exchange) -> object:
    if exchange.response is not None:
        return exchange.response.body
    return exchange.failure and str(exchange.failure.code)


@pytest.mark.parametrize(
    ("said", "seen"),
    [
        (answer_head(100), 100),
        (answer(413, b"{}"), 413),
        (answer(417, b"{}"), "protocol-error"),
        (b"", "closed-without-answer"),
    ],
    ids=["wanted", "refused", "takes-no-expectation", "closed"],
)
def test_an_announced_body_is_never_sent(said: bytes, seen: object) -> None:
    server = Scripted([said, said], close=not said)
    for exchange in exchange_all(server, 2, post("/v1/files", AnnouncedBody(500_000_000))):
        assert (exchange.response.status if exchange.response else body_or_failure(exchange)) == seen
    assert ["content-length: 500000000" in head and "expect: 100-continue" in head for head in server.heads] == [
        True
    ] * 2
    assert server.connections == 2, "and the body would be due on one that is kept"


@pytest.mark.parametrize("reads", [False, True], ids=["refused by its length", "read to its end"])
def test_a_declared_body_is_sent_unless_the_answer_comes_first(reads: bool) -> None:
    length = 30_000_000  # more than the system takes of what nobody reads

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        if reads:
            await reader.readexactly(length)
        writer.write(answer(413, b'{"n":1}'))
        await asyncio.Event().wait()

    (exchange,) = exchange_all(refuse, call=post("/v1/files", DeclaredBody(length)))
    assert exchange.response is not None
    assert (exchange.response.status, exchange.response.body) == (413, {"n": 1})


def test_a_connection_is_kept_for_the_next_request() -> None:
    server = Scripted(
        [
            sized_answer(1),
            chunked_answer(b'{"n":', b"2}"),
            chunked_answer(b'{"n":3}', trailers=b"x-sum: 1\r\n"),
            sized_answer(4),
        ]
    )
    assert list(map(body_or_failure, exchange_all(server, 4))) == [{"n": 1}, {"n": 2}, {"n": 3}, {"n": 4}]
    assert server.connections == 1


@pytest.mark.parametrize(
    "more",
    [
        sized_answer(666),
        sized_answer(666)[:40],
        b'{"n":666}',
        answer_head(304),
        answer_head(204),
        b"\r\n\r\n",
        chunked_answer(b'{"n":666}'),
        b"\x00",
    ],
    ids=["whole", "half", "body", "304", "204", "blank", "chunked", "junk"],
)
@pytest.mark.parametrize("first", [sized_answer(1), chunked_answer(b'{"n":1}')], ids=["sized", "chunked"])
def test_unasked_bytes_are_no_answer(first: bytes, more: bytes) -> None:
    server = Scripted([first + more, sized_answer(2), sized_answer(3)])
    assert list(map(body_or_failure, exchange_all(server, 3))) == [{"n": 1}, {"n": 2}, {"n": 3}]
    assert server.connections == 2


@pytest.mark.parametrize(
    ("said", "seen"),
    [
        (b"HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n" * 3 + sized_answer(1), {"n": 1}),
        (b"HTTP/1.1 100 Continue\r\n\r\n" + sized_answer(1), {"n": 1}),
        (b"HTTP/1.1 102 Processing\r\n\r\n" * (60_000) + sized_answer(1), "protocol-error"),
        (b"HTTP/1.1 101 Switching Protocols\r\nupgrade: h2c\r\nconnection: upgrade\r\n\r\n", "protocol-error"),
        (b'HTTP/1.0 200 OK\r\ncontent-type: application/json\r\n\r\n{"n":1}', {"n": 1}),
        (b'HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{"n":1}', {"n": 1}),
        (b'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{"n":1}', "connection-reset"),
        (b'HTTP/1.1 200 OK\r\ncontent-length: 7\r\ncontent-length: 8\r\n\r\n{"n":1}', "protocol-error"),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n", "protocol-error"),
        (b'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n7\r\n{"n":1}\r\n', "connection-reset"),
        (chunked_answer(b'{"n":1}', trailers=b"x-pad: " + b"y" * 200_000 + b"\r\n"), "protocol-error"),
        (chunked_answer(*[b" "] * 60_000).replace(b"1\r\n", b"1;" + b"e" * 60 + b"\r\n"), "protocol-error"),
        (sized_answer(1, gzip.compress(b'{"n":1}', mtime=0), content_encoding="x-gzip"), {"n": 1}),
        (sized_answer(1, b'{"n":1}', content_encoding="identity"), {"n": 1}),
        (sized_answer(1, b"\x0b\x03\x80", content_encoding="br"), "protocol-error"),
        (sized_answer(1, b"\x28\xb5\x2f\xfd", content_encoding="zstd"), "protocol-error"),
        (
            sized_answer(1, gzip.compress(gzip.compress(b"{}", mtime=0), mtime=0), content_encoding="gzip, gzip"),
            "protocol-error",
        ),
        (b"", "closed-without-answer"),
        (b"HTTP/1.1 ", "closed-without-answer"),
        (answer(200, b"{}", x_pad="p" * 200_000), "protocol-error"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: " + b"9" * 5000 + b"\r\n\r\n{}", "protocol-error"),
    ],
    ids=range(21),
)
def test_each_framing_is_read_or_reported(said: bytes, seen: object) -> None:
    (exchange,) = exchange_all(Scripted([said], close=True))
    assert body_or_failure(exchange) == seen, exchange


@pytest.mark.parametrize(
    "handed_out",
    [
        "na\u00efve=\u65e5\u672c; path=/".encode(),
        b"c=\xff\xfe; expires=Thu, 99 Zzz 99999 99:99:99 GMT; max-age=99999999999999999999",
        b"large=" + b"v" * 60_000,
        b"\r\nset-cookie: ".join(b"c%d=%s" % (number, b"v" * 80) for number in range(500)),
    ],
    ids=["no ASCII", "no UTF-8", "large", "many"],
)
def test_a_bad_cookie_does_not_block_later_requests(handed_out: bytes) -> None:
    first = answer_head(200, content_length="7").removesuffix(b"\r\n") + b"set-cookie: " + handed_out
    server = Scripted([first + b'\r\nset-cookie: last=kept\r\n\r\n{"n":1}', sized_answer(2)])
    assert list(map(body_or_failure, exchange_all(server, 2))) == [{"n": 1}, {"n": 2}]
    assert "last=kept" in server.heads[1]
    assert len(server.heads[1]) < 8_000
