"""The table of hostile servers: what each does, and the outcome that a run must report. `hostile_run` runs it."""

from __future__ import annotations

import asyncio
import gzip
import html
import itertools
import json
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

from tests.harness import hostile, hostile_http2, hostile_sockets
from tests.harness.disguises import disguise_secret
from tests.harness.hostile import Misbehaviour, Peer, always_answer, answer, answer_head
from tests.harness.hostile_calls import broken_answers, broken_calls
from tests.harness.hostile_serving import (
    ENVELOPE,
    Serve,
    serve_by_hand,
    serve_grpc,
    serve_no_grpc,
    serve_no_tls,
    serve_tls,
)
from tests.harness.hostile_sockets import (
    BINARY,
    CLOSE,
    PING,
    TEXT,
    after_handshake,
    frame,
    send_and_close,
    send_and_hang,
)
from tests.harness.wrong_grpc import Behaviour, end_with_status, never_answer, send_messages, stream_forever

if TYPE_CHECKING:
    from collections.abc import Iterator

CANARY = 'Sk-Canary_9fQ2zX7"w&Kd/4+LmT0vB8<rY1p'
"""The key of each run. No twelve characters of it may be in anything that a run prints or writes."""

COMMANDS = f"##[error]x\n{'::error::x ' * 50}"
"""Commands to a CI system; wrapped at any width, each line begins with one."""

RECORDS = {
    "http": "pa/errors/general/unknown_model",
    "tls": "pa/errors/general/unknown_model",
    "http2": "pa/errors/general/unknown_model",
    "sse": "pa/errors/stream/overloaded",
    "websocket": "pb/errors/live/connection_time_exceeded",
    "websocket close": "pb/errors/live/malformed_message",
    "grpc": "pd/errors/grpc/not_found",
}
EXIT_STATUSES = {"conforms": 0, "capped": 0, "drifted": 1, "inconclusive": 10, "flaky": 1}
"""The exit status of a run of one record, by its outcome."""

TIMEOUT_REASONS = frozenset({"read-timeout", "connect-timeout", "stream-stalled", "stream-endless"})
"""Reasons after which the run has waited for a time limit, or may have."""
SOON_S = 4.0
LATE_S = 25.0


@dataclass(frozen=True)
class HostileCase:
    """One hostile server: its protocol, its behaviour, and the outcome and reason that a run must report."""

    name: str
    over: str
    serve: Serve
    outcome: str
    reason: str = ""
    seconds: float = 30.0
    """Seconds that a run of the one record may take."""
    megabytes: int = 150
    """Peak memory of the whole process."""

    @property
    def record(self) -> str:
        """The record that is probed; empty if only the wire is tested."""
        return RECORDS.get(self.over, "")

    @property
    def timeout_s(self) -> float:
        """The time limit of the run: short if the case needs it to expire."""
        return SOON_S if self.reason in TIMEOUT_REASONS or self.over.startswith("websocket") else LATE_S

    @property
    def expected(self) -> str:
        """Outcome and reason as the table prints them."""
        return f"{self.outcome} {self.reason}".strip()


def list_cases() -> list[HostileCase]:
    """The whole table."""
    return [*_http(), *_echoes(), *_sse(), *_websocket(), *_websocket_close(), *_grpc(), *_tls(), *_http2()]


PAGE = b"<html><body><h1>502 Bad Gateway</h1></body></html>"


def _error(kind: str, message: str = "m") -> bytes:
    return json.dumps({"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}).encode()


def _raw(*pieces: bytes) -> Misbehaviour:
    async def misbehave(peer: Peer) -> None:
        await peer.send(*pieces)

    return misbehave


async def _reset(peer: Peer) -> None:
    peer.reset()


def _endless(piece: bytes, head: bytes = b"") -> Misbehaviour:
    async def misbehave(peer: Peer) -> None:
        await peer.send(head)
        while True:
            await peer.send(piece)

    return misbehave


def _dripping(piece: bytes, head: bytes) -> Misbehaviour:
    async def misbehave(peer: Peer) -> None:
        await peer.send(head)
        while True:
            await peer.send(piece)
            await asyncio.sleep(0.01)

    return misbehave


def _http() -> Iterator[HostileCase]:
    chunked = answer_head(404, content_type="application/json", transfer_encoding="chunked")
    zeros = gzip.compress(b" " * 40_000_000)
    known = (
        ("says nothing", hostile.hang, "inconclusive read-timeout"),
        ("closes at once", hostile.close, "inconclusive closed-without-answer"),
        ("resets in the body", hostile.reset_in_body, "inconclusive connection-reset"),
        ("ends the body too soon", hostile.close_in_body, "inconclusive connection-reset"),
        ("speaks no HTTP", hostile.send_garbage, "inconclusive protocol-error"),
        ("drips a header for ever", hostile.send_endless_header, "inconclusive read-timeout"),
        ("drips a body for ever", hostile.send_slow_body, "inconclusive read-timeout"),
        ("sends a million headers", hostile.send_header_flood, "inconclusive protocol-error"),
        ("sends 10 GB", hostile.send_endless_body, "inconclusive body-too-large"),
        ("sends a gzip bomb", hostile.send_gzip_bomb, "inconclusive body-too-large"),
        ("sends a bomb of deflate", always_answer(404, zeros, content_encoding="gzip"), "inconclusive body-too-large"),
        ("says gzip and is none", always_answer(404, b"none", content_encoding="gzip"), "inconclusive protocol-error"),
        ("cuts gzip short", always_answer(404, zeros[:-9], content_encoding="gzip"), "inconclusive body-too-large"),
        (
            "answers in brotli",
            always_answer(404, b"\x0b\x03\x80", content_encoding="br"),
            "inconclusive protocol-error",
        ),
        (
            "answers in zstd",
            always_answer(404, b"\x28\xb5\x2f\xfd", content_encoding="zstd"),
            "inconclusive protocol-error",
        ),
        ("packs gzip in gzip", always_answer(404, zeros, content_encoding="gzip, gzip"), "inconclusive protocol-error"),
        ("hints for ever", _endless(b"HTTP/1.1 103 Early Hints\r\n\r\n"), "inconclusive protocol-error"),
        ("continues for ever", _endless(b"HTTP/1.1 100 Continue\r\n\r\n"), "inconclusive protocol-error"),
        ("switches protocols", _raw(b"HTTP/1.1 101 X\r\nupgrade: h2c\r\n\r\n"), "inconclusive protocol-error"),
        (
            "extends chunks for ever",
            _endless(b"1;" + b"e" * 900 + b"\r\nx\r\n", chunked),
            "inconclusive protocol-error",
        ),
        ("never ends its trailers", _endless(b"x-t: y\r\n", chunked + b"0\r\n"), "inconclusive protocol-error"),
        (
            "sends a giant trailer",
            _raw(chunked, b"0\r\nx-t: " + b"y" * 300_000 + b"\r\n\r\n"),
            "inconclusive protocol-error",
        ),
        ("sends a chunk of no size", _raw(chunked, b"zz\r\n"), "inconclusive protocol-error"),
        (
            "has two lengths",
            _raw(b"HTTP/1.1 404 X\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}"),
            "inconclusive protocol-error",
        ),
        (
            "has a length below zero",
            _raw(b"HTTP/1.1 404 X\r\ncontent-length: -1\r\n\r\n{}"),
            "inconclusive protocol-error",
        ),
        (
            "has a length of 5000 digits",
            _raw(b"HTTP/1.1 404 X\r\ncontent-length: " + b"9" * 5000 + b"\r\n\r\n{}"),
            "inconclusive protocol-error",
        ),
        ("has a status of letters", _raw(b"HTTP/1.1 abc X\r\n\r\n"), "inconclusive protocol-error"),
        ("has the status 600", always_answer(600, ENVELOPE), "inconclusive protocol-error"),
        ("has a header of controls", _raw(b"HTTP/1.1 404 X\r\nx-a: \x00\x01\r\n\r\n"), "inconclusive protocol-error"),
        (
            "redirects elsewhere",
            always_answer(302, b"", location="https://elsewhere.example/"),
            "inconclusive unasked-redirect",
        ),
        (
            "redirects to a file",
            always_answer(301, b"", location="file:///etc/passwd"),
            "inconclusive unasked-redirect",
        ),
        ("is a gateway, 502", always_answer(502, PAGE, "text/html"), "inconclusive gateway-page"),
        ("is a gateway, 500", always_answer(500, PAGE, "text/html; charset=utf-8"), "inconclusive gateway-page"),
        ("is overloaded", always_answer(529, _error("overloaded_error")), "inconclusive unasked-overload"),
        ("limits the rate", always_answer(429, _error("rate_limit_error")), "inconclusive unasked-rate-limit"),
        (
            "asks to wait a year",
            always_answer(429, _error("rate_limit_error"), retry_after="31536000"),
            "inconclusive unasked-rate-limit",
        ),
        ("times out by itself", always_answer(504, _error("timeout_error")), "inconclusive unasked-timeout"),
        ("answers no JSON", always_answer(404, b"\x00\x01\x02"), "drifted"),
        ("answers half of it", always_answer(404, ENVELOPE[:40]), "drifted"),
        ("nests a hundred thousand deep", always_answer(404, b"[" * 100_000), "drifted"),
        ("nests objects", always_answer(404, b'{"a":' * 5000 + b"1" + b"}" * 5000), "drifted"),
        ("has a number of 9000 digits", always_answer(404, b"9" * 9000), "drifted"),
        ("has NaN", always_answer(404, b'{"type": NaN}'), "drifted"),
        ("is no UTF-8", always_answer(404, ENVELOPE.replace(b"model:", b"\xff\xfe")), "drifted"),
        ("has half a surrogate pair", always_answer(404, ENVELOPE.replace(b"model:", b"\\ud800")), "drifted"),
        (
            "has two hundred thousand names",
            always_answer(404, json.dumps({f"n{n}": n for n in range(200_000)}).encode()),
            "drifted",
        ),
        ("has four megabytes of text", always_answer(404, _error("not_found_error", "m" * 3_900_000)), "drifted"),
        ("steers the terminal", always_answer(404, _error("\x1b]0;owned\x07\x1b[2J", "\x1b[31m\u202e")), "drifted"),
        ("steers it by a header", always_answer(404, ENVELOPE, request_id="\x9b31m"), "drifted"),
        ("commands the CI", always_answer(404, _error(COMMANDS, COMMANDS)), "drifted"),
        (
            "commands it by a header",
            always_answer(404, ENVELOPE, request_id="::error::x", x_should_retry="##[error]x"),
            "drifted",
        ),
        ("commands it by a page", always_answer(404, COMMANDS.encode(), "text/plain"), "drifted"),
        ("writes markup", always_answer(404, _error("</script><img src=x onerror=alert(1)>", "]]>|`")), "drifted"),
        ("answers in HTTP/1.0", _raw(b"HTTP/1.0 404 X\r\ncontent-type: application/json\r\n\r\n", ENVELOPE), "drifted"),
        ("answers twice", _raw(answer(404, ENVELOPE).replace(b"connection: close", b"x-a: b") * 2), "drifted"),
        (
            "has a million empty lists",
            always_answer(404, b"[" + b"[]," * 1_300_000 + b"[]]"),
            "inconclusive body-too-large",
        ),
        ("has a million escapes", always_answer(404, _error("not_found_error", "%41" * 1_300_000)), "drifted"),
        (
            "has a million gaps",
            always_answer(404, b'{"m":"' + "\u200b".encode() * 1_200_000 + b'"}'),
            "drifted",
        ),
        ("has a name twice", always_answer(404, ENVELOPE.replace(b"{", b'{"type": "success", ', 1)), "drifted"),
        ("is empty", always_answer(404, b""), "drifted"),
    )
    for name, misbehave, said in known:
        outcome, _, reason = said.partition(" ")
        yield HostileCase(name, "http", serve_by_hand(misbehave), outcome, reason)


def _echoes() -> Iterator[HostileCase]:
    """The key in the message of an error that is otherwise one, in each form that is covered."""
    raw = CANARY.encode()
    for name, form in disguise_secret(CANARY).items():
        yield HostileCase(
            f"echoes the key: {name}",
            "http",
            serve_by_hand(always_answer(404, _error("not_found_error", f"no {form}."))),
            "drifted",
        )
    header = always_answer(404, ENVELOPE, x_echo=CANARY.replace('"', ""), **{f"x_{CANARY[:9].lower()}": CANARY[2:20]})
    yield HostileCase("echoes the key: headers", "http", serve_by_hand(header), "drifted")
    yield HostileCase(
        "echoes the key: binary",
        "http",
        serve_by_hand(always_answer(404, b"\xff\x00" * 110 + raw + b"\xff")),
        "drifted",
    )
    wide = b"\xff" + CANARY.encode("utf-16-le")
    yield HostileCase("echoes the key: UTF-16", "http", serve_by_hand(always_answer(404, wide)), "drifted")
    packed = gzip.compress(_error("not_found_error", CANARY), mtime=0)
    yield HostileCase(
        "echoes the key: gzip without its header", "http", serve_by_hand(always_answer(404, packed)), "drifted"
    )
    for times in (10, 60_000):
        many = always_answer(404, _error("not_found_error", CANARY * times))
        yield HostileCase(f"echoes the key: {times} times", "http", serve_by_hand(many), "drifted")
    page = always_answer(502, f"<p>{html.escape(CANARY)}</p>".encode(), "text/html")
    yield HostileCase("echoes the key: on a page", "http", serve_by_hand(page), "inconclusive", "gateway-page")
    gone = always_answer(302, b"", location=f"https://elsewhere.example/?key={quote(CANARY)}")
    yield HostileCase("echoes the key: in a redirect", "http", serve_by_hand(gone), "inconclusive", "unasked-redirect")
    status = _raw(b"HTTP/1.1 404 " + raw + b"\r\nno header " + raw + b"\r\n\r\n")
    yield HostileCase(
        "echoes the key: in a status line", "http", serve_by_hand(status), "inconclusive", "protocol-error"
    )


def _event(name: str, data: str) -> bytes:
    return f"event: {name}\ndata: {data}\n\n".encode()


def _stream(*events: bytes) -> Misbehaviour:
    return _raw(answer_head(200, content_type="text/event-stream", connection="close"), *events)


def _sse() -> Iterator[HostileCase]:
    head = answer_head(200, content_type="text/event-stream")
    half = len(CANARY) // 2
    delta = '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":%s}}'
    split = [_event("content_block_delta", delta % json.dumps(each)) for each in (CANARY[:half], CANARY[half:])]
    lines = f"event: error\ndata: {CANARY[:half]}\ndata: {CANARY[half:]}\n\n".encode()
    ping = _event("ping", '{"type": "ping"}')
    in_turn = [
        _event("content_block_delta", delta.replace(":0,", f":{index},") % json.dumps(text))
        for at in range(0, len(CANARY), 6)
        for index, text in enumerate((CANARY[at : at + 6], "words"))
    ]
    known = (
        ("never ends", hostile.send_endless_events, "inconclusive stream-endless"),
        ("pings as fast as it can", _endless(ping, head), "inconclusive stream-endless"),
        ("stalls", hostile.stall_in_events, "inconclusive stream-stalled"),
        ("is cut", hostile.cut_in_events, "inconclusive connection-reset"),
        ("comments for ever", _dripping(b": keep-alive\n\n", head), "inconclusive stream-stalled"),
        ("has a line without end", _endless(b"data: " + b"x" * 65_536, head), "inconclusive stream-endless"),
        ("has events without data", _dripping(b"event: ping\n\n", head), "inconclusive stream-stalled"),
        ("says to retry", _stream(b"retry: 1\n\n" * 100), "drifted"),
        ("has nothing", _stream(), "drifted"),
        ("is JSON", always_answer(200, b'{"type":"message"}'), "drifted"),
        ("is no UTF-8", _stream(b"event: error\ndata: \xff\xfe\n\n"), "drifted"),
        ("nests deep", _stream(_event("error", "[" * 50_000)), "drifted"),
        ("splits the key over events", _stream(ping, *split), "drifted"),
        ("splits the key over events of two indexes in turn", _stream(ping, *in_turn), "drifted"),
        ("splits the key over lines", _stream(ping, lines), "drifted"),
        ("has a name of two megabytes", _stream(_event("e" * 2_000_000, "{}")), "drifted"),
        ("echoes the key in a name", _stream(_event(CANARY, '{"type":"x"}')), "drifted"),
    )
    for name, misbehave, said in known:
        outcome, _, reason = said.partition(" ")
        yield HostileCase(name, "sse", serve_by_hand(misbehave), outcome, reason)


def _flood(*pieces: bytes) -> Misbehaviour:
    """After the handshake these for ever, and nothing is read."""

    async def misbehave(peer: Peer) -> None:
        for piece in itertools.cycle(pieces):
            await peer.send(piece)

    return after_handshake(misbehave)


def _websocket() -> Iterator[HostileCase]:
    half = len(CANARY) // 2
    set_up = '{"setupComplete": {}}'
    reason = f"bad key {CANARY}".encode()[: 123 - 60]
    split = [json.dumps({"serverContent": {"text": each}}) for each in (CANARY[:half], CANARY[half:])]
    cut = after_handshake(_raw(frame(CLOSE, struct.pack("!H", 1008) + reason)))
    zeros = gzip.compress(b" " * 40_000_000)
    known = (
        ("sends messages for ever", hostile_sockets.send_endless_frames, "inconclusive stream-endless"),
        ("pings and reads nothing", hostile_sockets.send_endless_pings, "inconclusive stream-endless"),
        ("pings without a word", _flood(frame(PING) * 5000), "inconclusive stream-endless"),
        ("pongs for ever", _flood(frame(0xA) * 5000), "inconclusive stream-endless"),
        ("never ends a message", hostile_sockets.send_endless_fragments, "inconclusive stream-endless"),
        (
            "never ends an empty message",
            _flood(frame(TEXT, b"", final=False), frame(0, b"", final=False) * 9000),
            "inconclusive stream-endless",
        ),
        ("announces a gigabyte", hostile_sockets.send_huge_frame, "inconclusive stream-endless"),
        ("sends many megabytes", hostile_sockets.send_huge_messages, "inconclusive stream-endless"),
        ("says nothing", send_and_hang(), "drifted"),
        ("stalls after a word", send_and_hang(set_up), "drifted"),
        ("shakes hands wrongly", hostile_sockets.accept_with_wrong_key, "inconclusive protocol-error"),
        ("never shakes hands", hostile.hang, "inconclusive read-timeout"),
        ("closes in place of it", hostile.close, "inconclusive closed-without-answer"),
        ("speaks no HTTP", hostile.send_garbage, "inconclusive protocol-error"),
        ("drips a header", hostile.send_endless_header, "inconclusive read-timeout"),
        ("answers for the time being", _raw(b"HTTP/1.1 100 Continue\r\n\r\n" * 3), "inconclusive protocol-error"),
        ("has the status 600", always_answer(600), "inconclusive protocol-error"),
        ("redirects", always_answer(302, location="http://127.0.0.1:1/"), "inconclusive unasked-redirect"),
        ("limits the rate", always_answer(429), "inconclusive unasked-rate-limit"),
        ("is a gateway", always_answer(502, PAGE, "text/html"), "inconclusive gateway-page"),
        ("refuses in gzip", always_answer(403, zeros, content_encoding="gzip"), "inconclusive protocol-error"),
        ("has a frame of no kind", hostile_sockets.send_unknown_frame, "drifted"),
        ("is no UTF-8", hostile_sockets.send_invalid_utf8, "drifted"),
        ("is reset", hostile_sockets.reset, "drifted"),
        ("closes at once", send_and_close(), "drifted"),
        ("masks its frames", after_handshake(_raw(b"\x81\x82\x00\x00\x00\x00{}")), "drifted"),
        ("closes with half a reason", cut, "drifted"),
        ("splits the key over frames", send_and_close(set_up, *split), "drifted"),
        (
            "echoes the key in bytes",
            after_handshake(_raw(frame(BINARY, b"\xff" + CANARY.encode()), frame(CLOSE, b"\x03\xe8"))),
            "drifted",
        ),
        (
            "echoes the key in a refusal",
            always_answer(403, json.dumps({"error": {"message": CANARY[3:]}}).encode()),
            "drifted",
        ),
    )
    for name, misbehave, said in known:
        outcome, _, reason_code = said.partition(" ")
        yield HostileCase(name, "websocket", serve_by_hand(misbehave), outcome, reason_code)


def _websocket_close() -> Iterator[HostileCase]:
    """Of a record that asks for a close alone: whatever is no proper close verifies nothing."""
    bye = struct.pack("!H", 1007) + b"bad message"
    known = (
        ("says nothing", send_and_hang(), "inconclusive assumption-failed"),
        ("stays open after a word", send_and_hang('{"setupComplete": {}}'), "inconclusive assumption-failed"),
        ("has a frame of no kind", hostile_sockets.send_unknown_frame, "drifted"),
        ("has a control frame of no kind", after_handshake(_raw(frame(0xB))), "drifted"),
        ("sets a reserved bit", after_handshake(_raw(frame(CLOSE | 0x40, bye))), "drifted"),
        ("sends its close in pieces", after_handshake(_raw(frame(CLOSE, bye, final=False))), "drifted"),
        ("closes with half a code", after_handshake(_raw(frame(CLOSE, b"\x03"))), "drifted"),
        ("closes with a code that is never sent", after_handshake(_raw(frame(CLOSE, b"\x03\xee"))), "drifted"),
        ("closes with an unknown code", after_handshake(_raw(frame(CLOSE, b"\x0f\xa0why"))), "drifted"),
        ("closes without a code", after_handshake(_raw(frame(CLOSE))), "drifted"),
        ("is reset", hostile_sockets.reset, "drifted"),
        ("closes as documented", after_handshake(_raw(frame(CLOSE, bye))), "conforms"),
    )
    for name, misbehave, said in known:
        outcome, _, reason_code = said.partition(" ")
        yield HostileCase(name, "websocket close", serve_by_hand(misbehave), outcome, reason_code)


def _grpc() -> Iterator[HostileCase]:
    giant = {f"x-{number}": "y" * 1000 for number in range(100)}
    known: tuple[tuple[str, Serve, str], ...] = (
        ("never answers", serve_grpc(never_answer), "inconclusive read-timeout"),
        ("is overloaded", serve_grpc(end_with_status(14, "not now")), "inconclusive unasked-overload"),
        ("limits the rate", serve_grpc(end_with_status(8, "not now")), "inconclusive unasked-rate-limit"),
        ("ends otherwise", serve_grpc(end_with_status(9)), "drifted"),
        ("ends well", serve_grpc(end_with_status(0)), "drifted"),
        ("sends no message", serve_grpc(send_messages(b"\xff\xff\xff")), "inconclusive protocol-error"),
        ("sends too large a message", serve_grpc(send_messages(b"x" * 5_000_000)), "inconclusive body-too-large"),
        ("has giant trailers", serve_grpc(end_with_status(5, "no model", giant)), "inconclusive protocol-error"),
        (
            "says that we failed to connect",
            serve_grpc(end_with_status(14, "failed to connect to all addresses; Connection refused")),
            "inconclusive unasked-overload",
        ),
        ("says that our stream was removed", serve_grpc(end_with_status(5, "Stream removed (TOO_LARGE)")), "conforms"),
        ("echoes the key", serve_grpc(end_with_status(5, f"no model for {CANARY}", {"x-key": CANARY})), "conforms"),
        (
            "echoes the key in part",
            serve_grpc(end_with_status(5, f"no model for {CANARY[:-4]}", {"x-key": CANARY[3:]})),
            "conforms",
        ),
        ("takes the connection and is silent", serve_no_grpc(hostile.hang), "inconclusive read-timeout"),
        ("speaks HTTP/1.1", serve_no_grpc(_raw(answer(400, b"no"))), "inconclusive protocol-error"),
        (
            "goes away again",
            serve_no_grpc(hostile_http2.send_goaways(CANARY.encode())),
            "inconclusive connection-reset",
        ),
        ("goes away for ever", serve_no_grpc(hostile_http2.repeat_goaway), "inconclusive protocol-error"),
        ("sends settings for ever", serve_no_grpc(hostile_http2.repeat_settings), "inconclusive protocol-error"),
        ("pings for ever", serve_no_grpc(hostile_http2.repeat_pings), "inconclusive protocol-error"),
        (
            "goes on with headers for ever",
            serve_no_grpc(hostile_http2.repeat_continuations),
            "inconclusive protocol-error",
        ),
        ("speaks garbage", serve_no_grpc(_endless(b"\x15\x03\x01 no HTTP/2 at all ")), "inconclusive protocol-error"),
    )
    for name, serve, said in (*known, *broken_calls(CANARY)):
        outcome, _, reason = said.partition(" ")
        yield HostileCase(name, "grpc", serve, outcome, reason)
    yield HostileCase("streams for ever", "grpc stream", serve_grpc(stream_forever), "capped")
    big: Behaviour = lambda context: (b"\x0a\x80\x80\x40" + b"i" * 2**20 for _ in itertools.count())  # noqa: E731
    yield HostileCase("streams megabytes for ever", "grpc stream", serve_grpc(big), "capped")


def _tls() -> Iterator[HostileCase]:
    found = always_answer(404, ENVELOPE)
    for how in ("bad chain", "wrong name", "expired"):
        yield HostileCase(f"has a certificate: {how}", "tls", serve_tls(how, found), "inconclusive", "tls-failed")
    yield HostileCase("is as it should be", "tls", serve_tls("", found), "drifted")
    yield HostileCase(
        "is cut in the body", "tls", serve_tls("", hostile.reset_in_unsized_body), "inconclusive", "connection-reset"
    )

    yield HostileCase("resets in the handshake", "tls", serve_no_tls(_reset), "inconclusive", "tls-failed")
    yield HostileCase("closes in the handshake", "tls", serve_no_tls(hostile.close), "inconclusive", "tls-failed")
    yield HostileCase("never shakes hands", "tls", serve_no_tls(hostile.hang), "inconclusive", "connect-timeout")
    plainly = _raw(answer(400, b"The plain HTTP request was sent to HTTPS port", "text/plain"))
    yield HostileCase("speaks plain text", "tls", serve_no_tls(plainly), "inconclusive", "tls-failed")
    alert = _raw(b"\x15\x03\x03\x00\x02\x02\x28")
    yield HostileCase("sends an alert", "tls", serve_no_tls(alert), "inconclusive", "tls-failed")
    yield HostileCase(
        "sends garbage for ever",
        "tls",
        serve_no_tls(_endless(b"\x16\x03\x03" + b"g" * 900)),
        "inconclusive",
        "tls-failed",
    )


def _http2() -> Iterator[HostileCase]:
    for name, serve, said in broken_answers():
        outcome, _, reason = said.partition(" ")
        yield HostileCase(name, "http2", serve, outcome, reason)
