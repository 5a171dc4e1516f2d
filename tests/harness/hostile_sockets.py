"""Servers that accept a WebSocket and then break its protocol, or send without end."""

from __future__ import annotations

import base64
import hashlib
import itertools
import struct

from tests.harness.hostile import Misbehaviour, Peer, answer_head

TEXT, BINARY, CLOSE, PING = 0x1, 0x2, 0x8, 0x9
GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


def frame(opcode: int, payload: bytes = b"", *, announced: int | None = None, final: bool = True) -> bytes:
    """Encode a frame; `announced` is the length in its header if that is a lie."""
    length = len(payload) if announced is None else announced
    head = bytes([opcode | (0x80 if final else 0)])
    if length < 126:
        return head + bytes([length]) + payload
    if length < 65_536:
        return head + bytes([126]) + struct.pack("!H", length) + payload
    return head + bytes([127]) + struct.pack("!Q", length) + payload


def unmask(received: bytes) -> bytes:
    """Return the payload of a client's first frame, which is masked and shorter than 126 bytes."""
    mask, payload = received[2:6], received[6 : 6 + (received[1] & 0x7F)]
    return bytes(byte ^ mask[index % 4] for index, byte in enumerate(payload))


def after_handshake(misbehave: Misbehaviour) -> Misbehaviour:
    """Accept the WebSocket, then misbehave."""

    async def shake_hands(peer: Peer) -> None:
        key = next(line for line in peer.head.split("\r\n") if line.lower().startswith("sec-websocket-key:"))
        digest = hashlib.sha1((key.partition(":")[2].strip() + GUID).encode(), usedforsecurity=False).digest()
        accept = base64.b64encode(digest).decode()
        await peer.send(answer_head(101, upgrade="websocket", connection="Upgrade", sec_websocket_accept=accept))
        await misbehave(peer)

    return shake_hands


def send_and_hang(*messages: str) -> Misbehaviour:
    """Send these messages, then nothing more, and never close, not even in answer to a close."""

    async def misbehave(peer: Peer) -> None:
        await peer.send(*(frame(TEXT, message.encode()) for message in messages))
        await peer.hang()

    return after_handshake(misbehave)


@after_handshake
async def send_endless_frames(peer: Peer) -> None:
    for number in itertools.count():
        await peer.send(frame(TEXT, b'{"serverContent": {"number": %d}}' % number))


@after_handshake
async def send_endless_pings(peer: Peer) -> None:
    while True:
        await peer.send(frame(PING, b"are you there?"))


@after_handshake
async def send_endless_fragments(peer: Peer) -> None:
    """Send one message without end."""
    await peer.send(frame(TEXT, b'{"serverContent": "', final=False))
    while True:
        await peer.send(frame(0, b"x" * 65_536, final=False))


@after_handshake
async def send_huge_frame(peer: Peer) -> None:
    """Announce a frame of 1 GB, and send as much of it as the other side takes."""
    await peer.send(frame(TEXT, announced=2**30))
    for _ in range(2**30 // 65_536):
        await peer.send(b"x" * 65_536)


@after_handshake
async def send_huge_messages(peer: Peer) -> None:
    """Send messages that are too large only together."""
    while True:
        await peer.send(frame(BINARY, b'{"serverContent": "' + b"x" * 900_000 + b'"}'))


@after_handshake
async def send_unknown_frame(peer: Peer) -> None:
    await peer.send(frame(0x5, b"reserved for later"))
    await peer.hang()


@after_handshake
async def send_invalid_utf8(peer: Peer) -> None:
    """Send text that is not UTF-8."""
    await peer.send(frame(TEXT, b"\xff\xfe"))
    await peer.hang()


def send_and_close(*messages: str) -> Misbehaviour:
    """Accept, send these messages and close, before the other side can send anything."""

    async def misbehave(peer: Peer) -> None:
        frames = [frame(TEXT, message.encode()) for message in messages]
        await peer.send(b"".join([*frames, frame(CLOSE, struct.pack("!H", 1000) + b"enough")]))

    return after_handshake(misbehave)


@after_handshake
async def reset(peer: Peer) -> None:
    peer.reset()


async def accept_with_wrong_key(peer: Peer) -> None:
    """Accept with a wrong key."""
    await peer.send(answer_head(101, upgrade="websocket", connection="Upgrade", sec_websocket_accept="bm8="))
    await peer.hang()
