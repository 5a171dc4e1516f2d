"""A wrong gRPC provider: it answers calls as a test says, and controls rightly."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import grpc

Behaviour = Callable[[Any], Iterator[bytes]]
"""Takes the context of a call; yields messages, and may end the call."""

STATUSES = {code.value[0]: code for code in grpc.StatusCode}


def end_with_status(status: int, message: str = "", trailers: Mapping[str, str | bytes] | None = None) -> Behaviour:
    """End the call with this status, after an empty message if it is a success."""

    def behave(context: Any) -> Iterator[bytes]:
        context.set_trailing_metadata(tuple((trailers or {}).items()))
        if status:
            context.abort(STATUSES[status], message)
        yield b""

    return behave


def send_messages(*messages: bytes) -> Behaviour:
    """Send these encoded messages."""
    return lambda context: iter(messages)


def stream_forever(context: Any) -> Iterator[bytes]:
    """Send empty messages without end."""
    while context.is_active():
        yield b""


def never_answer(context: Any) -> Iterator[bytes]:
    """Take the call and never answer, until its caller gives up."""
    given_up = threading.Event()
    context.add_callback(given_up.set)
    given_up.wait(30)
    yield from ()


class _Handler(grpc.GenericRpcHandler):  # type: ignore[type-arg] # generic in its stubs alone
    def __init__(self, behave: Behaviour) -> None:
        self._behave = behave

    def service(self, details: Any) -> Any:
        metadata = dict(details.invocation_metadata)
        control = str(metadata.get("x-mock-session", "")).endswith("/control")
        behave = end_with_status(0) if control else self._behave
        if details.method.endswith("Chunk"):
            return grpc.unary_stream_rpc_method_handler(lambda request, context: behave(context))
        return grpc.unary_unary_rpc_method_handler(lambda request, context: next(behave(context), b""))


@contextmanager
def serving_wrong_grpc(behave: Behaviour, tls: grpc.ServerCredentials | None = None) -> Iterator[str]:
    """Serve a provider that behaves so, and yield its host; in plain text unless credentials are given."""
    with ThreadPoolExecutor(4) as threads:
        server = grpc.server(threads, handlers=[_Handler(behave)])
        any_port = "127.0.0.1:0"
        port = server.add_insecure_port(any_port) if tls is None else server.add_secure_port(any_port, tls)
        server.start()
        try:
            yield f"127.0.0.1:{port}"
        finally:
            server.stop(None).wait(5)
