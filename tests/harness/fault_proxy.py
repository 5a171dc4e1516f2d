"""A proxy on loopback that stands between the probes and the mock, and does faults to what the mock answers."""

from __future__ import annotations

import json
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from catalog_probe.mockserver.app import create_app
from catalog_probe.mockserver.core.faults import CLOSE_EXTENSION
from tests.harness.engines import mock_target_at
from tests.harness.fault_changes import json_of
from tests.harness.faults import Act, Answer, Ending, Fault, Frame, Picking
from tests.harness.grpc_relay import relaying
from tests.harness.serving import RESET_EXTENSION, serving

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from catalog_probe.probes.targets.target import Target

BLANK = b"\n\n"
"""What ends a block of an event stream."""

GONE = ("http.disconnect", "websocket.disconnect")

Item = TypeVar("Item")


class Stand:
    """A place on loopback where faults stand before a mock, one set of them after another.

    Starting a server takes longer than most probes: one serves all. HTTP and WebSockets go to a mock in this process,
    new for each set; gRPC goes to the one at `grpc_host`, and is out of reach where that is empty.
    """

    def __init__(self) -> None:
        self.base = ""
        self.grpc_host = ""
        self._picking = Picking(())
        self._app: Any = None

    def behind(self, *faults: Fault, **changes: Any) -> Target:
        """The mock target behind these faults, done in this order; `changes` are made to each of its providers."""
        self._picking = Picking(faults)
        self._app = FaultProxy(create_app(), self._picking)
        target = mock_target_at(self.base, **changes)
        if not self.grpc_host:
            return target
        pd = target.providers["pd"]
        there = replace(pd, addresses={**pd.addresses, "grpc_host": self.grpc_host})
        return replace(target, providers={**target.providers, "pd": there})

    def picking(self) -> Picking:
        """The faults that stand there now."""
        return self._picking

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve one request or one WebSocket."""
        await self._app(scope, receive, send)


@contextmanager
def standing(grpc_host: str = "") -> Iterator[Stand]:
    """A stand, served until the `with` block ends."""
    stand = Stand()
    with serving(stand) as stand.base, ExitStack() as stack:
        if grpc_host:
            stand.grpc_host = stack.enter_context(relaying(grpc_host, stand.picking))
        yield stand


class FaultProxy:
    """An ASGI app in front of another; what no fault falls on passes through untouched and at once."""

    def __init__(self, app: Any, picking: Picking) -> None:
        self._app = app
        self._picking = picking

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve one request or one WebSocket."""
        if scope["path"].startswith("/__mock__"):
            await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        asked = self._picking.asked(scope["type"], scope.get("method", "GET"), scope["path"], headers)
        faults = self._picking.of(asked)
        if not faults:
            await self._app(scope, receive, send)
            return
        spoiling = (_Socket if scope["type"] == "websocket" else _Http)(faults, scope, send)
        gone = False

        async def heard() -> Any:
            nonlocal gone
            message = await receive()
            gone = gone or message["type"] in GONE
            return message

        await self._app(scope, heard, spoiling.send)
        while spoiling.broken and not gone:
            await heard()  # without an answer the server would make one of its own


class _Spoiling:
    """What HTTP and WebSockets share: the faults that fall on an answer of its status, and how it is sent whole."""

    def __init__(self, faults: tuple[Fault, ...], scope: Any, send: Any) -> None:
        self.broken = False
        self._faults = faults
        self._scope = scope
        self._send = send
        self._over = False
        self._told = 0
        self._status = 0
        self._headers: dict[str, str] = {}
        self._body = b""

    def _begin(self, message: Any) -> None:
        self._status = message.get("status", 101)
        pairs = message.get("headers") or ()
        self._headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in pairs}
        self._faults = tuple(fault for fault in self._faults if fault.where.answers(self._status))

    def _done(self, body: bytes | None) -> Answer:
        """The answer as the faults leave it."""
        answer = Answer(self._status, self._headers, body)
        for fault in self._faults:
            if fault.value is not None and answer.body:
                answer = answer.but(body=_bytes(_revalued(fault.value, answer.body)))
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
        self._over = self.broken = True
        self._scope["extensions"][extension][how]()

    async def _whole(self, answer: Answer, kind: str = "http.response", *, half: bool = False) -> None:
        """Send an answer at once, or the first half of it."""
        content = b"" if answer.body is None or answer.status in (204, 304) else answer.body
        headers = {name: value for name, value in answer.headers.items() if name != "content-length"}
        if answer.status not in (204, 304):
            headers["content-length"] = str(len(content))
        await self._send({"type": f"{kind}.start", "status": answer.status, "headers": _pairs(headers)})
        part = content[: len(content) // 2] if half else content
        await self._send({"type": f"{kind}.body", "body": part, "more_body": half})


class _Http(_Spoiling):
    """One HTTP answer on its way; an event stream is passed on block by block as it comes."""

    def __init__(self, faults: tuple[Fault, ...], scope: Any, send: Any) -> None:
        super().__init__(faults, scope, send)
        self._streaming = False

    async def send(self, message: Any) -> None:
        """Take one message of the app."""
        if self._over:
            return
        if message["type"] == "http.response.start":
            await self._start(message)
        elif message["type"] == "http.response.body":
            self._body += message.get("body", b"")
            await (self._stream if self._streaming else self._collect)(more=message.get("more_body", False))

    async def _start(self, message: Any) -> None:
        self._begin(message)
        if self._act is Act.HANG:
            self._over = self.broken = True
        elif self._act is not None:
            self._break(self._act.value, RESET_EXTENSION if self._act is Act.RESET else CLOSE_EXTENSION)
        elif "text/event-stream" in self._headers.get("content-type", ""):
            head = self._done(None)
            self._streaming = head.body is None
            if self._streaming:
                await self._send({**message, "status": head.status, "headers": _pairs(head.headers)})
            else:
                self._over = True
                await self._whole(head)

    async def _collect(self, *, more: bool) -> None:
        if not more:
            half = self._cut_after is not None
            await self._whole(self._done(self._body), half=half)
            if half:
                self._break("close", CLOSE_EXTENSION)

    async def _stream(self, *, more: bool) -> None:
        *blocks, self._body = self._body.split(BLANK)
        for block in blocks:
            for changed in self._events(block.decode()):
                await self._send({"type": "http.response.body", "body": changed.encode() + BLANK, "more_body": True})
            self._told += 1
            if self._told == self._cut_after:
                self._break("close", CLOSE_EXTENSION)
                return
        if not more:
            await self._send({"type": "http.response.body", "body": self._body})

    def _events(self, block: str) -> list[str]:
        blocks = [block]
        for fault in self._faults:
            if fault.value is not None:
                blocks = [_with_data(fault.value, each) for each in blocks]
            if fault.event is not None:
                blocks = _each(fault.event, blocks, self._told)
        return blocks


class _Socket(_Spoiling):
    """What the mock says on one WebSocket, from the answer to the handshake to the close."""

    async def send(self, message: Any) -> None:
        """Take one message of the app."""
        if self._over:
            return
        match message["type"]:
            case "websocket.accept":
                await self._accept(message)
            case "websocket.http.response.start":
                self._begin(message)
            case "websocket.http.response.body":
                self._body += message.get("body", b"")
                if not message.get("more_body", False):
                    await self._whole(self._done(self._body), "websocket.http.response")
            case "websocket.send":
                await self._say(message)
            case "websocket.close":
                await self._close(message)

    async def _accept(self, message: Any) -> None:
        self._begin(message)
        head = self._done(None)
        if self._act is Act.HANG:
            self._over = self.broken = True
        elif self._act is not None:
            self._break("close", CLOSE_EXTENSION)
        elif head.body is not None:
            self._over = True
            await self._whole(head, "websocket.http.response")
        else:
            await self._send({**message, "headers": _pairs(head.headers)})

    async def _say(self, message: Any) -> None:
        frame: Frame = message["bytes"] if message.get("text") is None else message["text"]
        frames = [frame]
        for fault in self._faults:
            if fault.value is not None:
                frames = [_revalued(fault.value, each) for each in frames]
            if fault.frame is not None:
                frames = _each(fault.frame, frames, self._told)
        for each in frames:
            await self._send({"type": "websocket.send", "text" if isinstance(each, str) else "bytes": each})
        self._told += 1
        if self._told == self._cut_after:
            self._break("close", CLOSE_EXTENSION)

    async def _close(self, message: Any) -> None:
        ending: Ending | None = Ending(message.get("code", 1000), message.get("reason") or "")
        for fault in self._faults:
            if fault.ending is not None and ending is not None:
                ending = fault.ending(ending)
        if ending is not None:
            await self._send({**message, "code": ending.status, "reason": ending.message})


def _each(change: Callable[[Item, int], Iterable[Item]], items: list[Item], before: int) -> list[Item]:
    return [made for item in items for made in change(item, before)]


def _revalued(change: Callable[[Any], Any], raw: Frame) -> Frame:
    """The JSON text of a changed value; what is no JSON, or stays as it is, stays byte for byte."""
    value = json_of(raw)
    changed = change(value) if value is not None else value
    if changed == value:
        return raw
    text = json.dumps(changed)
    return text.encode() if isinstance(raw, bytes) else text


def _with_data(change: Callable[[Any], Any], block: str) -> str:
    """A block of an event stream with another value in each line of data."""
    start = "data: "
    return "\n".join(
        f"{start}{_revalued(change, line.removeprefix(start))!s}" if line.startswith(start) else line
        for line in block.split("\n")
    )


def _bytes(frame: Frame) -> bytes:
    return frame if isinstance(frame, bytes) else frame.encode()


def _pairs(headers: Any) -> list[tuple[bytes, bytes]]:
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
