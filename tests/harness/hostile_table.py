"""The table of hostile servers: what each does, and what a run must say of it. Data; `hostile_run` runs it."""

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
from tests.harness.disguises import disguises
from tests.harness.hostile import Misbehaviour, Peer, answer, plain, start
from tests.harness.hostile_calls import broken_calls
from tests.harness.hostile_serving import ENVELOPE, Serve, by_hand, instead_of_tls, no_grpc, over_grpc, over_tls
from tests.harness.hostile_sockets import BINARY, CLOSE, PING, TEXT, after_handshake, frame, hasty, saying
from tests.harness.wrong_grpc import Behaviour, endless, ends_with, sends, silent

if TYPE_CHECKING:
    from collections.abc import Iterator

CANARY = 'Sk-Canary_9fQ2zX7"w&Kd/4+LmT0vB8<rY1p'
"""The key of each run. No twelve characters of it may be found in anything that a run leaves."""

COMMANDS = f"##[error]x\n{'::error::x ' * 50}"
"""Commands to a CI system: wrapped at any width, each line begins with one."""

RECORDS = {
    "http": "pa/errors/general/unknown_model",
    "tls": "pa/errors/general/unknown_model",
    "sse": "pa/errors/stream/overloaded",
    "websocket": "pb/errors/live/connection_time_exceeded",
    "websocket close": "pb/errors/live/malformed_message",
    "grpc": "pd/errors/grpc/not_found",
}
CODES = {"conforms": 0, "capped": 0, "drifted": 1, "inconclusive": 10, "flaky": 1}
"""What a run of one record exits with, by its outcome."""


IN_VAIN = frozenset({"read-timeout", "connect-timeout", "stream-stalled", "stream-endless"})
"""Reasons for which somebody has waited until a time limit, or may have."""
SOON_S = 4.0
LATE_S = 25.0


@dataclass(frozen=True)
class Case:
    """One hostile server: over which protocol, what it does, and the outcome and reason that a run must tell."""

    name: str
    over: str
    serve: Serve
    outcome: str
    reason: str = ""
    seconds: float = 30.0
    """How long a run of the one record may take."""
    megabytes: int = 150
    """Peak memory of the whole process."""

    @property
    def record(self) -> str:
        """The record that is probed; none where the wire alone is asked."""
        return RECORDS.get(self.over, "")

    @property
    def timeout_s(self) -> float:
        """The time limit of the run: short where it has to be reached, and where it must not be out of reach."""
        return SOON_S if self.reason in IN_VAIN or self.over.startswith("websocket") else LATE_S

    @property
    def expected(self) -> str:
        """As the table prints it."""
        return f"{self.outcome} {self.reason}".strip()


def cases() -> list[Case]:
    """The whole table."""
    return [*_http(), *_echoes(), *_sse(), *_websocket(), *_websocket_close(), *_grpc(), *_tls()]


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


def _http() -> Iterator[Case]:
    chunked = start(404, content_type="application/json", transfer_encoding="chunked")
    zeros = gzip.compress(b" " * 40_000_000)
    known = (
        ("says nothing", hostile.hanging, "inconclusive read-timeout"),
        ("closes at once", hostile.closing, "inconclusive closed-without-answer"),
        ("resets in the body", hostile.resetting, "inconclusive connection-reset"),
        ("ends the body too soon", hostile.cut_short, "inconclusive connection-reset"),
        ("speaks no HTTP", hostile.garbage, "inconclusive protocol-error"),
        ("drips a header for ever", hostile.loris, "inconclusive read-timeout"),
        ("drips a body for ever", hostile.slow_body, "inconclusive read-timeout"),
        ("sends a million headers", hostile.header_flood, "inconclusive protocol-error"),
        ("sends 10 GB", hostile.endless, "inconclusive body-too-large"),
        ("sends a gzip bomb", hostile.bomb, "inconclusive body-too-large"),
        ("sends a bomb of deflate", plain(404, zeros, content_encoding="gzip"), "inconclusive body-too-large"),
        ("says gzip and is none", plain(404, b"none", content_encoding="gzip"), "inconclusive protocol-error"),
        ("cuts gzip short", plain(404, zeros[:-9], content_encoding="gzip"), "inconclusive body-too-large"),
        ("answers in brotli", plain(404, b"\x0b\x03\x80", content_encoding="br"), "inconclusive protocol-error"),
        ("answers in zstd", plain(404, b"\x28\xb5\x2f\xfd", content_encoding="zstd"), "inconclusive protocol-error"),
        ("packs gzip in gzip", plain(404, zeros, content_encoding="gzip, gzip"), "inconclusive protocol-error"),
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
        ("has a header of controls", _raw(b"HTTP/1.1 404 X\r\nx-a: \x00\x01\r\n\r\n"), "inconclusive protocol-error"),
        (
            "redirects elsewhere",
            plain(302, b"", location="https://elsewhere.example/"),
            "inconclusive unasked-redirect",
        ),
        ("redirects to a file", plain(301, b"", location="file:///etc/passwd"), "inconclusive unasked-redirect"),
        ("is a gateway, 502", plain(502, PAGE, "text/html"), "inconclusive gateway-page"),
        ("is a gateway, 500", plain(500, PAGE, "text/html; charset=utf-8"), "inconclusive gateway-page"),
        ("is overloaded", plain(529, _error("overloaded_error")), "inconclusive unasked-overload"),
        ("limits the rate", plain(429, _error("rate_limit_error")), "inconclusive unasked-rate-limit"),
        (
            "asks to wait a year",
            plain(429, _error("rate_limit_error"), retry_after="31536000"),
            "inconclusive unasked-rate-limit",
        ),
        ("times out by itself", plain(504, _error("timeout_error")), "inconclusive unasked-timeout"),
        ("answers no JSON", plain(404, b"\x00\x01\x02"), "drifted"),
        ("answers half of it", plain(404, ENVELOPE[:40]), "drifted"),
        ("nests a hundred thousand deep", plain(404, b"[" * 100_000), "drifted"),
        ("nests objects", plain(404, b'{"a":' * 5000 + b"1" + b"}" * 5000), "drifted"),
        ("has a number of 9000 digits", plain(404, b"9" * 9000), "drifted"),
        ("has NaN", plain(404, b'{"type": NaN}'), "drifted"),
        ("is no UTF-8", plain(404, ENVELOPE.replace(b"model:", b"\xff\xfe")), "drifted"),
        ("has half a surrogate pair", plain(404, ENVELOPE.replace(b"model:", b"\\ud800")), "drifted"),
        (
            "has two hundred thousand names",
            plain(404, json.dumps({f"n{n}": n for n in range(200_000)}).encode()),
            "drifted",
        ),
        ("has four megabytes of text", plain(404, _error("not_found_error", "m" * 3_900_000)), "drifted"),
        ("steers the terminal", plain(404, _error("\x1b]0;owned\x07\x1b[2J", "\x1b[31m\u202e")), "drifted"),
        ("steers it by a header", plain(404, ENVELOPE, request_id="\x9b31m"), "drifted"),
        ("commands the CI", plain(404, _error(COMMANDS, COMMANDS)), "drifted"),
        (
            "commands it by a header",
            plain(404, ENVELOPE, request_id="::error::x", x_should_retry="##[error]x"),
            "drifted",
        ),
        ("commands it by a page", plain(404, COMMANDS.encode(), "text/plain"), "drifted"),
        ("writes markup", plain(404, _error("</script><img src=x onerror=alert(1)>", "]]>|`")), "drifted"),
        ("answers in HTTP/1.0", _raw(b"HTTP/1.0 404 X\r\ncontent-type: application/json\r\n\r\n", ENVELOPE), "drifted"),
        ("answers twice", _raw(answer(404, ENVELOPE).replace(b"connection: close", b"x-a: b") * 2), "drifted"),
        ("has a million empty lists", plain(404, b"[" + b"[]," * 1_300_000 + b"[]]"), "inconclusive body-too-large"),
        ("has a million escapes", plain(404, _error("not_found_error", "%41" * 1_300_000)), "drifted"),
        (
            "has a million gaps",
            plain(404, b'{"m":"' + "\u200b".encode() * 1_200_000 + b'"}'),
            "drifted",
        ),
        ("has a name twice", plain(404, ENVELOPE.replace(b"{", b'{"type": "success", ', 1)), "drifted"),
        ("is empty", plain(404, b""), "drifted"),
    )
    for name, misbehave, said in known:
        outcome, _, reason = said.partition(" ")
        yield Case(name, "http", by_hand(misbehave), outcome, reason)


def _echoes() -> Iterator[Case]:
    """The key in the message of an error that is otherwise one, in each form that is covered."""
    raw = CANARY.encode()
    for name, form in disguises(CANARY).items():
        yield Case(
            f"echoes the key: {name}", "http", by_hand(plain(404, _error("not_found_error", f"no {form}."))), "drifted"
        )
    header = plain(404, ENVELOPE, x_echo=CANARY.replace('"', ""), **{f"x_{CANARY[:9].lower()}": CANARY[2:20]})
    yield Case("echoes the key: headers", "http", by_hand(header), "drifted")
    yield Case("echoes the key: binary", "http", by_hand(plain(404, b"\xff\x00" * 110 + raw + b"\xff")), "drifted")
    wide = b"\xff" + CANARY.encode("utf-16-le")
    yield Case("echoes the key: UTF-16", "http", by_hand(plain(404, wide)), "drifted")
    packed = gzip.compress(_error("not_found_error", CANARY), mtime=0)
    yield Case("echoes the key: gzip without its header", "http", by_hand(plain(404, packed)), "drifted")
    for times in (10, 60_000):
        many = plain(404, _error("not_found_error", CANARY * times))
        yield Case(f"echoes the key: {times} times", "http", by_hand(many), "drifted")
    page = plain(502, f"<p>{html.escape(CANARY)}</p>".encode(), "text/html")
    yield Case("echoes the key: on a page", "http", by_hand(page), "inconclusive", "gateway-page")
    gone = plain(302, b"", location=f"https://elsewhere.example/?key={quote(CANARY)}")
    yield Case("echoes the key: in a redirect", "http", by_hand(gone), "inconclusive", "unasked-redirect")
    status = _raw(b"HTTP/1.1 404 " + raw + b"\r\nno header " + raw + b"\r\n\r\n")
    yield Case("echoes the key: in a status line", "http", by_hand(status), "inconclusive", "protocol-error")


def _event(name: str, data: str) -> bytes:
    return f"event: {name}\ndata: {data}\n\n".encode()


def _stream(*events: bytes) -> Misbehaviour:
    return _raw(start(200, content_type="text/event-stream", connection="close"), *events)


def _sse() -> Iterator[Case]:
    head = start(200, content_type="text/event-stream")
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
        ("never ends", hostile.endless_events, "inconclusive stream-endless"),
        ("pings as fast as it can", _endless(ping, head), "inconclusive stream-endless"),
        ("stalls", hostile.stalled_events, "inconclusive stream-stalled"),
        ("is cut", hostile.cut_events, "inconclusive connection-reset"),
        ("comments for ever", _dripping(b": keep-alive\n\n", head), "inconclusive stream-stalled"),
        ("has a line without end", _endless(b"data: " + b"x" * 65_536, head), "inconclusive stream-endless"),
        ("has events without data", _dripping(b"event: ping\n\n", head), "inconclusive stream-stalled"),
        ("says to retry", _stream(b"retry: 1\n\n" * 100), "drifted"),
        ("has nothing", _stream(), "drifted"),
        ("is JSON", plain(200, b'{"type":"message"}'), "drifted"),
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
        yield Case(name, "sse", by_hand(misbehave), outcome, reason)


def _flood(*pieces: bytes) -> Misbehaviour:
    """After the handshake these for ever, and nothing is read."""

    async def misbehave(peer: Peer) -> None:
        for piece in itertools.cycle(pieces):
            await peer.send(piece)

    return after_handshake(misbehave)


def _websocket() -> Iterator[Case]:
    half = len(CANARY) // 2
    set_up = '{"setupComplete": {}}'
    reason = f"bad key {CANARY}".encode()[: 123 - 60]
    split = [json.dumps({"serverContent": {"text": each}}) for each in (CANARY[:half], CANARY[half:])]
    cut = after_handshake(_raw(frame(CLOSE, struct.pack("!H", 1008) + reason)))
    zeros = gzip.compress(b" " * 40_000_000)
    known = (
        ("sends messages for ever", hostile_sockets.endless_frames, "inconclusive stream-endless"),
        ("pings and reads nothing", hostile_sockets.endless_pings, "inconclusive stream-endless"),
        ("pings without a word", _flood(frame(PING) * 5000), "inconclusive stream-endless"),
        ("pongs for ever", _flood(frame(0xA) * 5000), "inconclusive stream-endless"),
        ("never ends a message", hostile_sockets.endless_fragments, "inconclusive stream-endless"),
        (
            "never ends an empty message",
            _flood(frame(TEXT, b"", final=False), frame(0, b"", final=False) * 9000),
            "inconclusive stream-endless",
        ),
        ("announces a gigabyte", hostile_sockets.huge_frame, "inconclusive stream-endless"),
        ("sends many megabytes", hostile_sockets.huge_messages, "inconclusive stream-endless"),
        ("says nothing", saying(), "drifted"),
        ("stalls after a word", saying(set_up), "drifted"),
        ("shakes hands wrongly", hostile_sockets.wrong_handshake, "inconclusive protocol-error"),
        ("never shakes hands", hostile.hanging, "inconclusive read-timeout"),
        ("closes in place of it", hostile.closing, "inconclusive closed-without-answer"),
        ("speaks no HTTP", hostile.garbage, "inconclusive protocol-error"),
        ("drips a header", hostile.loris, "inconclusive read-timeout"),
        ("answers for the time being", _raw(b"HTTP/1.1 100 Continue\r\n\r\n" * 3), "inconclusive protocol-error"),
        ("redirects", plain(302, location="http://127.0.0.1:1/"), "inconclusive unasked-redirect"),
        ("limits the rate", plain(429), "inconclusive unasked-rate-limit"),
        ("is a gateway", plain(502, PAGE, "text/html"), "inconclusive gateway-page"),
        ("refuses in gzip", plain(403, zeros, content_encoding="gzip"), "inconclusive protocol-error"),
        ("has a frame of no kind", hostile_sockets.no_such_frame, "drifted"),
        ("is no UTF-8", hostile_sockets.no_text, "drifted"),
        ("is reset", hostile_sockets.reset, "drifted"),
        ("closes at once", hasty(), "drifted"),
        ("masks its frames", after_handshake(_raw(b"\x81\x82\x00\x00\x00\x00{}")), "drifted"),
        ("closes with half a reason", cut, "drifted"),
        ("splits the key over frames", hasty(set_up, *split), "drifted"),
        (
            "echoes the key in bytes",
            after_handshake(_raw(frame(BINARY, b"\xff" + CANARY.encode()), frame(CLOSE, b"\x03\xe8"))),
            "drifted",
        ),
        ("echoes the key in a refusal", plain(403, json.dumps({"error": {"message": CANARY[3:]}}).encode()), "drifted"),
    )
    for name, misbehave, said in known:
        outcome, _, reason_code = said.partition(" ")
        yield Case(name, "websocket", by_hand(misbehave), outcome, reason_code)


def _websocket_close() -> Iterator[Case]:
    """Of a record that asks for a close alone: whatever is no proper close verifies nothing."""
    bye = struct.pack("!H", 1007) + b"bad message"
    known = (
        ("says nothing", saying(), "inconclusive assumption-failed"),
        ("stays open after a word", saying('{"setupComplete": {}}'), "inconclusive assumption-failed"),
        ("has a frame of no kind", hostile_sockets.no_such_frame, "drifted"),
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
        yield Case(name, "websocket close", by_hand(misbehave), outcome, reason_code)


def _grpc() -> Iterator[Case]:
    giant = {f"x-{number}": "y" * 1000 for number in range(40)}
    known: tuple[tuple[str, Serve, str], ...] = (
        ("never answers", over_grpc(silent), "inconclusive read-timeout"),
        ("is overloaded", over_grpc(ends_with(14, "not now")), "inconclusive unasked-overload"),
        ("limits the rate", over_grpc(ends_with(8, "not now")), "inconclusive unasked-rate-limit"),
        ("ends otherwise", over_grpc(ends_with(9)), "drifted"),
        ("ends well", over_grpc(ends_with(0)), "drifted"),
        ("sends no message", over_grpc(sends(b"\xff\xff\xff")), "inconclusive protocol-error"),
        ("sends too large a message", over_grpc(sends(b"x" * 5_000_000)), "inconclusive body-too-large"),
        ("has giant trailers", over_grpc(ends_with(5, "no model", giant)), "inconclusive body-too-large"),
        ("echoes the key", over_grpc(ends_with(5, f"no model for {CANARY}", {"x-key": CANARY})), "conforms"),
        (
            "echoes the key in part",
            over_grpc(ends_with(5, f"no model for {CANARY[:-4]}", {"x-key": CANARY[3:]})),
            "conforms",
        ),
        ("takes the connection and is silent", no_grpc(hostile.hanging), "inconclusive read-timeout"),
        ("speaks HTTP/1.1", no_grpc(_raw(answer(400, b"no"))), "inconclusive protocol-error"),
        (
            "goes away again",
            no_grpc(hostile_http2.going_away(CANARY.encode())),
            "inconclusive connection-reset",
        ),
        ("goes away for ever", no_grpc(hostile_http2.leaving), "inconclusive read-timeout"),
        ("sends settings for ever", no_grpc(hostile_http2.settling), "inconclusive read-timeout"),
        ("pings for ever", no_grpc(hostile_http2.pinging), "inconclusive read-timeout"),
        ("goes on with headers for ever", no_grpc(hostile_http2.going_on), "inconclusive body-too-large"),
        ("speaks garbage", no_grpc(_endless(b"\x15\x03\x01 no HTTP/2 at all ")), "inconclusive protocol-error"),
    )
    for name, serve, said in (*known, *broken_calls(CANARY)):
        outcome, _, reason = said.partition(" ")
        yield Case(name, "grpc", serve, outcome, reason)
    yield Case("streams for ever", "grpc stream", over_grpc(endless), "capped")
    big: Behaviour = lambda context: (b"\x0a\x80\x80\x40" + b"i" * 2**20 for _ in itertools.count())  # noqa: E731
    yield Case("streams megabytes for ever", "grpc stream", over_grpc(big), "capped")


def _tls() -> Iterator[Case]:
    found = plain(404, ENVELOPE)
    for how in ("bad chain", "wrong name", "expired"):
        yield Case(f"has a certificate: {how}", "tls", over_tls(how, found), "inconclusive", "tls-failed")
    yield Case("is as it should be", "tls", over_tls("", found), "drifted")
    yield Case("is cut in the body", "tls", over_tls("", hostile.unsized), "inconclusive", "connection-reset")

    yield Case("resets in the handshake", "tls", instead_of_tls(_reset), "inconclusive", "tls-failed")
    yield Case("closes in the handshake", "tls", instead_of_tls(hostile.closing), "inconclusive", "tls-failed")
    yield Case("never shakes hands", "tls", instead_of_tls(hostile.hanging), "inconclusive", "connect-timeout")
    plainly = _raw(answer(400, b"The plain HTTP request was sent to HTTPS port", "text/plain"))
    yield Case("speaks plain text", "tls", instead_of_tls(plainly), "inconclusive", "tls-failed")
    alert = _raw(b"\x15\x03\x03\x00\x02\x02\x28")
    yield Case("sends an alert", "tls", instead_of_tls(alert), "inconclusive", "tls-failed")
    yield Case(
        "sends garbage for ever",
        "tls",
        instead_of_tls(_endless(b"\x16\x03\x03" + b"g" * 900)),
        "inconclusive",
        "tls-failed",
    )
