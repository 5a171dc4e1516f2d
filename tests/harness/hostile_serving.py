"""How the hostile servers of the table are served: by hand, over gRPC, over TLS, or without either protocol."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.harness import certificates
from tests.harness.hostile import HostileServer, Misbehaviour, Peer
from tests.harness.http2_server import server_context
from tests.harness.serving import Connection, serving_connections
from tests.harness.wrong_grpc import Behaviour, serving_wrong_grpc

ENVELOPE = b'{"type":"error","error":{"type":"not_found_error","message":"model: no-such-model"},"request_id":"req_1"}'


@dataclass(frozen=True)
class ServerAddress:
    """The address of a case's server, and the file of the authority to trust."""

    base: str
    ca_file: str = ""


Serve = Callable[[Path], AbstractContextManager[ServerAddress]]


def serve_by_hand(misbehave: Misbehaviour) -> Serve:
    @contextmanager
    def serve(_: Path) -> Iterator[ServerAddress]:
        with HostileServer(misbehave).serving() as base:
            yield ServerAddress(base)

    return serve


def serve_grpc(behave: Behaviour) -> Serve:
    @contextmanager
    def serve(_: Path) -> Iterator[ServerAddress]:
        with serving_wrong_grpc(behave) as host:
            yield ServerAddress(host)

    return serve


def serve_no_grpc(misbehave: Misbehaviour) -> Serve:
    """Serve a gRPC port whose bytes the misbehaviour writes."""
    return _serve_before_request(misbehave, "", bytes_read=0)


def serve_no_tls(misbehave: Misbehaviour) -> Serve:
    """Serve an `https` port that misbehaves at the first byte of a handshake."""
    return _serve_before_request(misbehave, "https://", bytes_read=1)


def serve_http2(misbehave: Misbehaviour) -> Serve:
    """Serve HTTP/2 over TLS, whose frames the misbehaviour writes."""

    @contextmanager
    def serve(folder: Path) -> Iterator[ServerAddress]:
        files = certificates.make_certificates(folder)
        with serving_connections(_misbehave_after(misbehave, bytes_read=0), server_context(files, "h2")) as base:
            yield ServerAddress(base, str(files.authority))

    return serve


def _serve_before_request(misbehave: Misbehaviour, scheme: str, *, bytes_read: int) -> Serve:
    """Misbehave on each connection after so many bytes, whatever they are."""

    @contextmanager
    def serve(_: Path) -> Iterator[ServerAddress]:
        with serving_connections(_misbehave_after(misbehave, bytes_read=bytes_read)) as base:
            yield ServerAddress(scheme + base.removeprefix("http://"))

    return serve


def _misbehave_after(misbehave: Misbehaviour, *, bytes_read: int) -> Connection:
    async def connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.read(bytes_read)
            await misbehave(Peer("", reader, writer))
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    return connection


def serve_tls(fault: str, misbehave: Misbehaviour) -> Serve:
    @contextmanager
    def serve(folder: Path) -> Iterator[ServerAddress]:
        names = ("elsewhere.example",) if fault == "wrong name" else ("localhost", "127.0.0.1")
        files = certificates.make_certificates(folder, names=names, days=(-9, -2) if fault == "expired" else (-1, 1))
        tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        tls.load_cert_chain(files.certificate, files.key)
        with HostileServer(misbehave).serving(tls) as base:
            yield ServerAddress(base, "" if fault == "bad chain" else str(files.authority))

    return serve
