"""How the hostile servers of the table are served: by hand, over gRPC, over TLS, or in the place of either."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.harness import certificates
from tests.harness.hostile import HostileServer, Misbehaviour, Peer
from tests.harness.serving import serving_connections
from tests.harness.wrong_grpc import Behaviour, serving_wrong_grpc

ENVELOPE = b'{"type":"error","error":{"type":"not_found_error","message":"model: no-such-model"},"request_id":"req_1"}'


@dataclass(frozen=True)
class ServerAddress:
    """Where a case's server is, and whom to trust there."""

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
    """A port that takes connections and speaks no HTTP/2."""
    return _serve_before_request(misbehave, "", hears=0)


def serve_no_tls(misbehave: Misbehaviour) -> Serve:
    """A port that is said to speak TLS, and answers the first byte of a handshake."""
    return _serve_before_request(misbehave, "https://", hears=1)


def _serve_before_request(misbehave: Misbehaviour, scheme: str, *, hears: int) -> Serve:
    """Misbehaves on each connection once it has heard so many bytes, whatever they say."""

    @contextmanager
    def serve(_: Path) -> Iterator[ServerAddress]:
        async def connection(reader: Any, writer: Any) -> None:
            try:
                await reader.read(hears)
                await misbehave(Peer("", reader, writer))
            except (asyncio.IncompleteReadError, ConnectionError):
                pass
            finally:
                writer.close()

        with serving_connections(connection) as base:
            yield ServerAddress(scheme + base.removeprefix("http://"))

    return serve


def serve_tls(how: str, misbehave: Misbehaviour) -> Serve:
    @contextmanager
    def serve(folder: Path) -> Iterator[ServerAddress]:
        names = ("elsewhere.example",) if how == "wrong name" else ("localhost", "127.0.0.1")
        made = certificates.make_certificates(folder, names=names, days=(-9, -2) if how == "expired" else (-1, 1))
        tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        tls.load_cert_chain(made.certificate, made.key)
        with HostileServer(misbehave).serving(tls) as base:
            yield ServerAddress(base, "" if how == "bad chain" else str(made.authority))

    return serve
