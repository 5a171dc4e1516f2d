"""Relays gRPC calls to a mock, message by message as bytes, and applies faults to the answers."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import grpc

from tests.harness.faults import Ending, Fault, FaultSelector, Frame

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

STATUSES = {code.value[0]: code for code in grpc.StatusCode}
OWN_METADATA = ("user-agent", "grpc-", ":")
"""Prefixes of metadata that each side of a relay makes itself."""

UNAVAILABLE = 14


@contextmanager
def relaying(host: str, selector: Callable[[], FaultSelector]) -> Iterator[str]:
    """Relay calls to `host`, and yield the host that takes them; `selector` returns the current selector of faults."""
    options = (("grpc.enable_http_proxy", 0), ("grpc.enable_retries", 0))
    with grpc.insecure_channel(host, options=options) as channel, ThreadPoolExecutor(8) as threads:
        server = grpc.server(threads, handlers=[_Relay(channel, selector)])
        port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        try:
            yield f"127.0.0.1:{port}"
        finally:
            server.stop(None).wait(5)


class _Relay(grpc.GenericRpcHandler):  # type: ignore[type-arg] # generic in its stubs alone
    """Takes every method as a stream both ways: on the wire a single message is a stream of one."""

    def __init__(self, channel: grpc.Channel, selector: Callable[[], FaultSelector]) -> None:
        self._channel = channel
        self._selector = selector

    def service(self, details: Any) -> Any:
        """The handler of one call."""
        method = details.method
        return grpc.stream_stream_rpc_method_handler(lambda requests, context: self._relay(method, requests, context))

    def _relay(self, method: str, requests: Iterator[bytes], context: Any) -> Iterator[bytes]:
        metadata = tuple(
            (name, value) for name, value in context.invocation_metadata() if not name.startswith(OWN_METADATA)
        )
        selector = self._selector()
        request = selector.receive("grpc", "POST", method, {name: str(value) for name, value in metadata})
        faults = selector.select_faults(request)
        call = self._channel.stream_stream(method, None, None)(iter(list(requests)), metadata=metadata)
        messages = []
        try:
            for message in call:
                messages.append(message)
        except grpc.RpcError:
            pass  # `_end` passes it on, as any other status
        context.send_initial_metadata(call.initial_metadata())
        if any(fault.act is not None for fault in faults):
            context.abort(STATUSES[UNAVAILABLE], "Socket closed")
        for before, message in enumerate(messages):
            yield from _edit_message(faults, message, before)
        _end(context, faults, Ending(call.code().value[0], call.details() or "", tuple(call.trailing_metadata())))


def _edit_message(faults: tuple[Fault, ...], message: bytes, before: int) -> Iterator[bytes]:
    frames: list[Frame] = [message]
    for fault in faults:
        if fault.frame is not None:
            frames = [edited for frame in frames for edited in fault.frame(frame, before)]
    for frame in frames:
        yield frame if isinstance(frame, bytes) else frame.encode()


def _end(context: Any, faults: tuple[Fault, ...], ending: Ending) -> None:
    for fault in faults:
        ending = (fault.ending(ending) if fault.ending is not None else None) or ending
    context.set_trailing_metadata(ending.trailers)
    if ending.status:
        context.abort(STATUSES[ending.status], ending.message)
