"""gRPC calls that are broken as HTTP/2: the library reports a status that no server sent."""

from __future__ import annotations

import base64
import gzip
import struct
from typing import TYPE_CHECKING

from tests.harness import hostile_http2
from tests.harness.hostile_serving import Serve, serve_no_grpc

if TYPE_CHECKING:
    from collections.abc import Iterator


def broken_calls(canary: str) -> Iterator[tuple[str, Serve, str]]:
    """Yield a name, a server and the outcome that a run must report; one server echoes the key."""
    data, headers, reset = hostile_http2.DATA, hostile_http2.HEADERS, hostile_http2.RST_STREAM
    more, last = hostile_http2.END_HEADERS, hostile_http2.END_HEADERS | hostile_http2.END_STREAM
    head = (headers, hostile_http2.GRPC, more)
    well = (headers, hostile_http2.field("grpc-status", "0"), last)
    packed = hostile_http2.GRPC + hostile_http2.field("grpc-encoding", "gzip")
    zeros = gzip.compress(bytes(9_000_000))
    bomb = (data, b"\1" + struct.pack("!I", len(zeros)) + zeros, 0)
    broken = "inconclusive protocol-error"
    for name, frames, said in (
        ("has a status of letters", [(headers, hostile_http2.trailers(("grpc-status", "zz")), last)], broken),
        ("has details of no base64", [_details("!!!!", last)], broken),
        ("has no status", [head, (headers, hostile_http2.field("x-a", "b"), last)], broken),
        ("ends well without a message", [head, well], broken),
        ("has a message of no kind", [head, (data, b"\xff" + bytes(4), 0), well], broken),
        ("says compressed and is not", [head, (data, b"\1\0\0\0\5hello", 0), well], broken),
        ("points beside the table", [(headers, b"\xff\xff\xff\xff\x0f", last)], broken),
        ("announces two gigabytes", [head, (data, b"\0\x7f\xff\xff\xff", 0)], "inconclusive body-too-large"),
        ("sends a gzip bomb", [(headers, packed, more), bomb, well], "inconclusive body-too-large"),
        ("cancels", [(reset, struct.pack("!I", hostile_http2.CANCELLED), 0)], "inconclusive connection-reset"),
        ("echoes the key in details", [_details(base64.b64encode(canary.encode()).decode(), last)], "conforms"),
    ):
        yield name, serve_no_grpc(hostile_http2.answer_calls(*frames)), said


def _details(value: str, flags: int) -> tuple[int, bytes, int]:
    fields = (("grpc-status", "5"), ("grpc-status-details-bin", value))
    return hostile_http2.HEADERS, hostile_http2.trailers(*fields), flags
