"""A gRPC provider that is deliberately wrong: it answers every call as a test tells it, but a control rightly."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import grpc

Behaviour = Callable[[Any], Iterator[bytes]]
"""What happens in a call, given its context: the messages that are sent, and how it ends."""

STATUSES = {code.value[0]: code for code in grpc.StatusCode}


def end_with_status(status: int, message: str = "", trailers: Mapping[str, str] | None = None) -> Behaviour:
    """A call that ends with this status, after an empty message where it is a success."""

    def behave(context: Any) -> Iterator[bytes]:
        context.set_trailing_metadata(tuple((trailers or {}).items()))
        if status:
            context.abort(STATUSES[status], message)
        yield b""

    return behave


def send_messages(*messages: bytes) -> Behaviour:
    """A call that sends these messages, encoded already."""
    return lambda context: iter(messages)


def stream_forever(context: Any) -> Iterator[bytes]:
    """A stream that never ends."""
    while context.is_active():
        yield b""


def never_answer(context: Any) -> Iterator[bytes]:
    """A call that is taken and never answered, until its caller gives up."""
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
    """The host at which a provider behaves so: in plain text, unless it is given a certificate."""
    with ThreadPoolExecutor(4) as threads:
        server = grpc.server(threads, handlers=[_Handler(behave)])
        here = "127.0.0.1:0"
        port = server.add_insecure_port(here) if tls is None else server.add_secure_port(here, tls)
        server.start()
        try:
            yield f"127.0.0.1:{port}"
        finally:
            server.stop(None).wait(5)
