"""A provider's front door on HTTP: finds the row of the endpoint, and makes answers of refusals."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Generic, TypeVar

from starlette.requests import Request

from catalog_probe.mockserver.core.calls import Call
from catalog_probe.mockserver.core.errors import Refusal
from catalog_probe.mockserver.core.routing import Found, Router, Row

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.responses import Response
    from starlette.types import Receive, Scope, Send

AnyCall = TypeVar("AnyCall", bound=Call)


class Gateway(ABC, Generic[AnyCall, Row]):
    """The ASGI app of one host of a provider, which fills in how it admits, answers and refuses."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._router = Router(rows)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        call = self.open(Request(scope, receive))
        try:
            response = await self.answer(call, self._router.find(scope))
        except Refusal as refusal:
            response = self.refuse(call, refusal)
        self.dress(call, response)
        await response(scope, receive, send)

    @abstractmethod
    def open(self, request: Request) -> AnyCall:
        """The call that a request is, before anybody knows whose it is."""

    @abstractmethod
    async def answer(self, call: AnyCall, found: Found[Row]) -> Response:
        """Admit the call and let its handler answer, or raise the refusal."""

    @abstractmethod
    def refuse(self, call: AnyCall, refusal: Refusal) -> Response:
        """The answer that a refusal is on this host (2:7.1)."""

    def dress(self, call: AnyCall, response: Response) -> None:
        """Give the answer the headers of the call."""
        response.headers.update(call.headers)
