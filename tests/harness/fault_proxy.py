"""A proxy on loopback between the probes and the mock, which applies faults to the mock's answers."""

from __future__ import annotations

import json
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from catalog_probe.mockserver.app import create_app
from catalog_probe.mockserver.core.world import CLOSE_EXTENSION
from tests.harness.engines import mock_target_at
from tests.harness.fault_changes import parse_json
from tests.harness.faults import Act, Answer, Ending, Fault, FaultSelector, Frame
from tests.harness.grpc_relay import relaying
from tests.harness.serving import RESET_EXTENSION, serving

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from catalog_probe.probes.targets.target import Target

BLOCK_END = b"\n\n"
"""Ends a block of an event stream."""

DISCONNECTS = ("http.disconnect", "websocket.disconnect")

Item = TypeVar("Item")


class FaultServer:
    """A server on loopback with faults in front of a mock, one set of faults after another.

    Starting a server takes longer than most probes, so one serves all. HTTP and WebSockets go to a mock in this
    process, new for each set. gRPC goes to the mock at `grpc_host`, and is out of reach if that is empty.
    """

    def __init__(self) -> None:
        self.base = ""
        self.grpc_host = ""
        self._selector = FaultSelector(())
        self._app: Any = None

    def target_behind(self, *faults: Fault, **changes: Any) -> Target:
        """Return the mock target behind these faults, applied in this order; `changes` are made to each provider."""
        self._selector = FaultSelector(faults)
        self._app = FaultProxy(create_app(), self._selector)
        target = mock_target_at(self.base, **changes)
        if not self.grpc_host:
            return target
        pd = target.providers["pd"]
        pd = replace(pd, addresses={**pd.addresses, "grpc_host": self.grpc_host})
        return replace(target, providers={**target.providers, "pd": pd})

    def selector(self) -> FaultSelector:
        """Return the selector of the current faults."""
        return self._selector

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve one request or one WebSocket."""
        await self._app(scope, receive, send)


@contextmanager
def serving_faults(grpc_host: str = "") -> Iterator[FaultServer]:
    """Serve faults until the `with` block ends."""
    fault_server = FaultServer()
    with serving(fault_server) as fault_server.base, ExitStack() as stack:
        if grpc_host:
            fault_server.grpc_host = stack.enter_context(relaying(grpc_host, fault_server.selector))
        yield fault_server


class FaultProxy:
    """An ASGI app in front of another; an answer without faults passes through unchanged and at once."""

    def __init__(self, app: Any, selector: FaultSelector) -> None:
        self._app = app
        self._selector = selector

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve one request or one WebSocket."""
        if scope["path"].startswith("/__mock__"):
            await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        request = self._selector.receive(scope["type"], scope.get("method", "GET"), scope["path"], headers)
        faults = self._selector.select_faults(request)
        if not faults:
            await self._app(scope, receive, send)
            return
        proxied = (_ProxiedSocket if scope["type"] == "websocket" else _ProxiedHttp)(faults, scope, send)
        is_gone = False

        async def receive_and_watch() -> Any:
            nonlocal is_gone
            message = await receive()
            is_gone = is_gone or message["type"] in DISCONNECTS
            return message

        await self._app(scope, receive_and_watch, proxied.send)
        while proxied.broken and not is_gone:
            await receive_and_watch()  # if the app returned without an answer, the server would make its own


class _ProxiedAnswer:
    """What HTTP and WebSockets share: the faults of an answer by its status, and how a whole answer is sent."""

    def __init__(self, faults: tuple[Fault, ...], scope: Any, send: Any) -> None:
        self.broken = False
        self._faults = faults
        self._scope = scope
        self._send = send
        self._ended = False
        self._sent_count = 0
        self._status = 0
        self._headers: dict[str, str] = {}
        self._body = b""

    def _begin(self, message: Any) -> None:
        self._status = message.get("status", 101)
        pairs = message.get("headers") or ()
        self._headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in pairs}
        self._faults = tuple(fault for fault in self._faults if fault.scope.matches_status(self._status))

    def _apply_faults(self, body: bytes | None) -> Answer:
        """Return the answer after all faults."""
        answer = Answer(self._status, self._headers, body)
        for fault in self._faults:
            if fault.value is not None and answer.body:
                answer = answer.with_changes(body=_encode(_edit_json(fault.value, answer.body)))
            if fault.answer is not None:
                answer = fault.answer(answer)
        return answer

    @property
    def _act(self) -> Act | None:
        return next((fault.act for fault in self._faults if fault.act is not None), None)

    @property
    def _cut_after(self) -> int | None:
        return next((fault.cut_after for fault in self._faults if fault.cut_after is not None), None)

    def _break(self, how: str, extension: str) -> None:
        self._ended = self.broken = True
        self._scope["extensions"][extension][how]()

    async def _send_whole(self, answer: Answer, kind: str = "http.response", *, half: bool = False) -> None:
        """Send an answer at once, or the first half of it."""
        content = b"" if answer.body is None or answer.status in (204, 304) else answer.body
        headers = {name: value for name, value in answer.headers.items() if name != "content-length"}
        if answer.status not in (204, 304):
            headers["content-length"] = str(len(content))
        await self._send({"type": f"{kind}.start", "status": answer.status, "headers": _pairs(headers)})
        part = content[: len(content) // 2] if half else content
        await self._send({"type": f"{kind}.body", "body": part, "more_body": half})


class _ProxiedHttp(_ProxiedAnswer):
    """One HTTP answer; an event stream is passed on block by block as it comes."""

    def __init__(self, faults: tuple[Fault, ...], scope: Any, send: Any) -> None:
        super().__init__(faults, scope, send)
        self._streaming = False

    async def send(self, message: Any) -> None:
        """Take one message of the app."""
        if self._ended:
            return
        if message["type"] == "http.response.start":
            await self._start(message)
        elif message["type"] == "http.response.body":
            self._body += message.get("body", b"")
            await (self._stream if self._streaming else self._collect)(more=message.get("more_body", False))

    async def _start(self, message: Any) -> None:
        self._begin(message)
        if self._act is Act.HANG:
            self._ended = self.broken = True
        elif self._act is not None:
            self._break(self._act.value, RESET_EXTENSION if self._act is Act.RESET else CLOSE_EXTENSION)
        elif "text/event-stream" in self._headers.get("content-type", ""):
            head = self._apply_faults(None)
            self._streaming = head.body is None
            if self._streaming:
                await self._send({**message, "status": head.status, "headers": _pairs(head.headers)})
            else:
                self._ended = True
                await self._send_whole(head)

    async def _collect(self, *, more: bool) -> None:
        if not more:
            half = self._cut_after is not None
            await self._send_whole(self._apply_faults(self._body), half=half)
            if half:
                self._break("close", CLOSE_EXTENSION)

    async def _stream(self, *, more: bool) -> None:
        *blocks, self._body = self._body.split(BLOCK_END)
        for block in blocks:
            for changed in self._edit_block(block.decode()):
                await self._send(
                    {"type": "http.response.body", "body": changed.encode() + BLOCK_END, "more_body": True}
                )
            self._sent_count += 1
            if self._sent_count == self._cut_after:
                self._break("close", CLOSE_EXTENSION)
                return
        if not more:
            await self._send({"type": "http.response.body", "body": self._body})

    def _edit_block(self, block: str) -> list[str]:
        blocks = [block]
        for fault in self._faults:
            if fault.value is not None:
                blocks = [_edit_data(fault.value, block) for block in blocks]
            if fault.event is not None:
                blocks = _edit_all(fault.event, blocks, self._sent_count)
        return blocks


class _ProxiedSocket(_ProxiedAnswer):
    """The mock's side of one WebSocket, from the answer to the handshake to the close."""

    async def send(self, message: Any) -> None:
        """Take one message of the app."""
        if self._ended:
            return
        match message["type"]:
            case "websocket.accept":
                await self._accept(message)
            case "websocket.http.response.start":
                self._begin(message)
            case "websocket.http.response.body":
                self._body += message.get("body", b"")
                if not message.get("more_body", False):
                    await self._send_whole(self._apply_faults(self._body), "websocket.http.response")
            case "websocket.send":
                await self._send_message(message)
            case "websocket.close":
                await self._close(message)

    async def _accept(self, message: Any) -> None:
        self._begin(message)
        head = self._apply_faults(None)
        if self._act is Act.HANG:
            self._ended = self.broken = True
        elif self._act is not None:
            self._break("close", CLOSE_EXTENSION)
        elif head.body is not None:
            self._ended = True
            await self._send_whole(head, "websocket.http.response")
        else:
            await self._send({**message, "headers": _pairs(head.headers)})

    async def _send_message(self, message: Any) -> None:
        frame: Frame = message["bytes"] if message.get("text") is None else message["text"]
        frames = [frame]
        for fault in self._faults:
            if fault.value is not None:
                frames = [_edit_json(fault.value, frame) for frame in frames]
            if fault.frame is not None:
                frames = _edit_all(fault.frame, frames, self._sent_count)
        for frame in frames:
            await self._send({"type": "websocket.send", "text" if isinstance(frame, str) else "bytes": frame})
        self._sent_count += 1
        if self._sent_count == self._cut_after:
            self._break("close", CLOSE_EXTENSION)

    async def _close(self, message: Any) -> None:
        ending: Ending | None = Ending(message.get("code", 1000), message.get("reason") or "")
        for fault in self._faults:
            if fault.ending is not None and ending is not None:
                ending = fault.ending(ending)
        if ending is not None:
            await self._send({**message, "code": ending.status, "reason": ending.message})


def _edit_all(edit: Callable[[Item, int], Iterable[Item]], items: list[Item], before: int) -> list[Item]:
    return [edited for item in items for edited in edit(item, before)]


def _edit_json(edit: Callable[[Any], Any], raw: Frame) -> Frame:
    """Return the JSON text of the edited value; text that is no JSON or not changed stays byte for byte."""
    value = parse_json(raw)
    edited = edit(value) if value is not None else value
    if edited == value:
        return raw
    text = json.dumps(edited)
    return text.encode() if isinstance(raw, bytes) else text


def _edit_data(edit: Callable[[Any], Any], block: str) -> str:
    """Edit the value in each data line of an event stream block."""
    start = "data: "
    return "\n".join(
        f"{start}{_edit_json(edit, line.removeprefix(start))!s}" if line.startswith(start) else line
        for line in block.split("\n")
    )


def _encode(frame: Frame) -> bytes:
    return frame if isinstance(frame, bytes) else frame.encode()


def _pairs(headers: Any) -> list[tuple[bytes, bytes]]:
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
