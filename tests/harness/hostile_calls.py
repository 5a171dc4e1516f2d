"""Answers that are broken as HTTP/2 (RFC 9113): to gRPC calls, and to requests over TLS."""

from __future__ import annotations

import base64
import gzip
import struct
from typing import TYPE_CHECKING

from tests.harness import hostile_http2
from tests.harness.hostile import GREEN
from tests.harness.hostile_http2 import DATA, END_HEADERS, END_STREAM, GOAWAY, GRPC, HEADERS, OK, RST_STREAM, field
from tests.harness.hostile_serving import ENVELOPE, Serve, serve_http2, serve_no_grpc

if TYPE_CHECKING:
    from collections.abc import Iterator

Row = tuple[str, Serve, str]
"""A name, a server, and the outcome that a run must report."""

MORE, LAST = END_HEADERS, END_HEADERS | END_STREAM
BROKEN = "inconclusive protocol-error"
GATEWAY = "inconclusive gateway-page"
JSON = field("content-type", "application/json")


def broken_calls(canary: str) -> Iterator[Row]:
    """Yield the servers of gRPC calls; one echoes the key."""
    head = (HEADERS, GRPC, MORE)
    well = (HEADERS, field("grpc-status", "0"), LAST)
    packed = GRPC + field("grpc-encoding", "gzip")
    zeros = gzip.compress(bytes(9_000_000))
    bomb = (DATA, b"\1" + struct.pack("!I", len(zeros)) + zeros, 0)
    not_found = field("grpc-status", "5")
    goaway = (GOAWAY, struct.pack("!II", 1, 0), 0)
    for name, frames, said in (
        ("has a status of letters", [_end(("grpc-status", "zz"))], BROKEN),
        ("has a status beyond the last", [_end(("grpc-status", "17"))], BROKEN),
        ("has two statuses", [_end(("grpc-status", "5"), ("grpc-status", "7"))], BROKEN),
        ("has details of no base64", [_details("!!!!")], BROKEN),
        ("has no status", [head, (HEADERS, field("x-a", "b"), LAST)], BROKEN),
        ("has no :status", [(HEADERS, GRPC.removeprefix(OK) + not_found, LAST)], BROKEN),
        ("has a line end in its metadata", [_end(("grpc-status", "5"), ("x-a", "b\r\nc: d"))], BROKEN),
        ("has a NUL in its trailers", [head, (HEADERS, not_found + field("x-a", "b\0"), LAST)], BROKEN),
        ("has a pseudo-header in its trailers", [head, (HEADERS, OK + not_found, LAST)], BROKEN),
        # No fault of the frames for the record's streamed call: it ends well in place of its error.
        ("ends well without a message", [head, well], "drifted"),
        ("ends well with two messages", [head, (DATA, 2 * hostile_http2.NO_MESSAGE, 0), well], "drifted"),
        ("has a message of no kind", [head, (DATA, b"\xff" + bytes(4), 0), well], BROKEN),
        ("says compressed and is not", [head, (DATA, b"\1\0\0\0\5hello", 0), well], BROKEN),
        ("points beside the table", [(HEADERS, b"\xff\xff\xff\xff\x0f", LAST)], BROKEN),
        ("announces two gigabytes", [head, (DATA, b"\0\x7f\xff\xff\xff", 0)], "inconclusive body-too-large"),
        ("sends a gzip bomb", [(HEADERS, packed, MORE), bomb, well], BROKEN),
        ("cancels", [(RST_STREAM, struct.pack("!I", hostile_http2.CANCELLED), 0)], "inconclusive connection-reset"),
        ("is a gateway", [(HEADERS, _status("503") + field("content-type", "text/html"), LAST)], GATEWAY),
        ("goes away and answers", [goaway, _end(("grpc-status", "5"))], "conforms"),
        ("echoes the key in details", [_details(base64.b64encode(canary.encode()).decode())], "conforms"),
    ):
        yield name, serve_no_grpc(hostile_http2.answer_calls(*frames)), said


def broken_answers() -> Iterator[Row]:
    """Yield the servers of requests over TLS; the first is the one that is not broken."""
    whole = (DATA, ENVELOPE, END_STREAM)
    green = ((HEADERS, OK + JSON, MORE), (DATA, GREEN, END_STREAM))
    found = _status("404") + JSON
    for name, frames, said in (
        ("is as it should be", [(HEADERS, found, MORE), whole], "drifted"),
        ("has no :status", [(HEADERS, JSON, MORE), whole], BROKEN),
        ("has two :status", [(HEADERS, OK + found, MORE), whole], BROKEN),
        ("has a :status of letters", [(HEADERS, _status("abc") + JSON, MORE), whole], BROKEN),
        ("has the :status 99", [(HEADERS, _status("99") + JSON, MORE), whole], BROKEN),
        ("has the :status 600", [(HEADERS, _status("600") + JSON, MORE), whole], BROKEN),
        ("has :status after a header", [(HEADERS, JSON + _status("404"), MORE), whole], BROKEN),
        ("has a :path", [(HEADERS, _status("404") + field(":path", "/") + JSON, MORE), whole], BROKEN),
        ("has a line end in a header", [(HEADERS, found + field("x-a", "b\r\nc: d"), MORE), whole], BROKEN),
        ("has a NUL in a header", [(HEADERS, found + field("x-a", "b\0c"), MORE), whole], BROKEN),
        ("has a name in capitals", [(HEADERS, found + field("X-A", "b"), MORE), whole], BROKEN),
        (
            "has a :status in its trailers",
            [(HEADERS, found, MORE), (DATA, ENVELOPE, 0), (HEADERS, OK, LAST)],
            BROKEN,
        ),
    ):
        yield name, serve_http2(hostile_http2.answer_calls(*frames, green=green)), said


def _status(value: str) -> bytes:
    return field(":status", value)


def _end(*fields: tuple[str, str]) -> hostile_http2.Answer:
    """Return the frame that ends a call at once with these trailers."""
    return HEADERS, hostile_http2.trailers(*fields), LAST


def _details(value: str) -> hostile_http2.Answer:
    return _end(("grpc-status", "5"), ("grpc-status-details-bin", value))
