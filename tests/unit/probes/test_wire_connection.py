"""A connection as HTTP/1.1 uses it: what comes when, in whatever pieces, and how much of it is read."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import h11
import pytest
from hypothesis import given
from hypothesis import strategies as st

from probes.wire.failure import NoAnswer
from probes.wire.http11 import MAX_INTERIM, READ_AHEAD, Connection
from tests.harness.pieces import PLACES, cut


class Wire(asyncio.Transport):
    """A transport that carries nothing, and knows whether the connection on it was given up."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""
        self.aborted = False
        self.reading = True

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written += data

    def get_write_buffer_size(self) -> int:
        return 0

    def pause_reading(self) -> None:
        self.reading = False

    def resume_reading(self) -> None:
        self.reading = True

    def abort(self) -> None:
        self.aborted = True


def answered(
    raw: bytes, places: list[int], most: int = 10_000_000, *, announced: bool = False
) -> tuple[int, bytes, bool]:
    """The status and the body that a connection reads of these bytes, and whether it may be used again."""

    async def exchanged() -> tuple[int, bytes, bool]:
        wire, connection = Wire(), Connection(most)
        connection.connection_made(wire)
        if announced:
            length = [("content-length", "9"), ("expect", "100-continue")]
            connection.announce(h11.Request(method="POST", target="/", headers=[("host", "h"), *length]))
            assert wire.written.endswith(b"\r\n\r\n")
        else:
            connection.send(h11.Request(method="GET", target="/", headers=[("host", "h")]))
        for piece in cut(raw, places):
            connection.data_received(piece)
        head = await connection.head()
        content = b"".join([piece async for piece in connection.pieces()])
        return head.status_code, content, connection.rest() and connection.ready(60.0) and not wire.aborted

    return asyncio.run(exchanged())


SIZED = b"HTTP/1.1 404 X\r\ncontent-length: %d\r\n\r\n%b"
INTERIM = b"HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n"


@given(st.binary(max_size=60), st.integers(0, MAX_INTERIM), PLACES, st.binary(min_size=1, max_size=9))
def test_what_comes_after_an_answer_is_noticed_in_any_pieces(
    content: bytes, interim: int, places: list[int], more: bytes
) -> None:
    raw = INTERIM * interim + SIZED % (len(content), content)
    assert answered(raw, places) == (404, content, True)
    assert answered(raw + more, places) == (404, content, False)


CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


@pytest.mark.parametrize(
    ("raw", "heard"),
    [
        (CONTINUE, (100, b"", False)),
        (INTERIM + CONTINUE, (100, b"", False)),
        (SIZED % (2, b"{}"), (404, b"{}", False)),
        (INTERIM + SIZED % (2, b"{}"), (404, b"{}", False)),
    ],
    ids=["wanted", "hints-first", "refused", "refused-after-hints"],
)
def test_a_body_that_is_announced_is_wanted_or_refused_and_never_sent(
    raw: bytes, heard: tuple[int, bytes, bool]
) -> None:
    assert answered(raw, [], announced=True) == heard


def test_to_a_body_that_was_sent_100_is_no_answer_yet() -> None:
    assert answered(CONTINUE + SIZED % (2, b"{}"), []) == (404, b"{}", True)


def test_so_is_what_comes_while_nothing_is_asked() -> None:
    async def idle() -> bool:
        wire, connection = Wire(), Connection(1000)
        connection.connection_made(wire)
        connection.send(h11.Request(method="GET", target="/", headers=[("host", "h")]))
        connection.data_received(SIZED % (2, b"{}"))
        await connection.head()
        assert [piece async for piece in connection.pieces()] == [b"{}"]
        assert connection.rest()
        connection.data_received(SIZED % (2, b"[]"))
        return connection.ready(60.0)

    assert not asyncio.run(idle())


def test_what_nobody_has_read_yet_stops_the_reading_until_it_is_read() -> None:
    async def read_late() -> None:
        wire, connection = Wire(), Connection(10 * READ_AHEAD)
        connection.connection_made(wire)
        connection.send(h11.Request(method="GET", target="/", headers=[("host", "h")]))
        connection.data_received(SIZED % (2 * READ_AHEAD, b"x" * (2 * READ_AHEAD)))
        assert not wire.reading
        await connection.head()
        assert b"".join([piece async for piece in connection.pieces()]) == b"x" * (2 * READ_AHEAD)
        assert connection.rest()
        assert wire.reading, "or the next answer would never come"

    asyncio.run(read_late())


@given(st.binary(max_size=300), PLACES)
def test_no_bytes_break_the_connection_that_reads_them(raw: bytes, places: list[int]) -> None:
    async def told() -> None:
        connection = Connection(10_000)
        connection.connection_made(Wire())
        connection.send(h11.Request(method="GET", target="/", headers=[("host", "h")]))
        for piece in cut(raw, places):
            connection.data_received(piece)
        connection.eof_received()
        await connection.head()
        async for _ in connection.pieces():
            pass

    with suppress(NoAnswer):
        asyncio.run(asyncio.wait_for(told(), 30))


def test_an_answer_takes_no_more_of_a_connection_than_it_may() -> None:
    with pytest.raises(NoAnswer, match="more than 100 bytes"):
        answered(b"HTTP/1.1 200 X\r\n\r\n" + b"x" * 200, [50, 150], most=100)
    with pytest.raises(NoAnswer, match="interim"):
        answered(INTERIM * (MAX_INTERIM + 1), [])
