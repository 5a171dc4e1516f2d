"""The ASGI app of a provider's HTTP host: routing, and responses of refusals."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Generic, TypeVar

from starlette.requests import Request

from catalog_probe.mockserver.core.calls import Call
from catalog_probe.mockserver.core.errors import Refusal
from catalog_probe.mockserver.core.routing import RouteMatch, Router, Row

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.responses import Response
    from starlette.types import Receive, Scope, Send

AnyCall = TypeVar("AnyCall", bound=Call)


class Gateway(ABC, Generic[AnyCall, Row]):
    """The app of one host. A provider says how it opens, answers and refuses a call."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._router = Router(rows)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        call = self.open_call(Request(scope, receive))
        try:
            response = await self.answer(call, self._router.find(scope))
        except Refusal as refusal:
            response = self.refuse(call, refusal)
        self.add_headers(call, response)
        await response(scope, receive, send)

    @abstractmethod
    def open_call(self, request: Request) -> AnyCall:
        """Make the call of a request, before its caller is known."""

    @abstractmethod
    async def answer(self, call: AnyCall, match: RouteMatch[Row]) -> Response:
        """Check the caller and let the endpoint's handler answer, or raise the refusal."""

    @abstractmethod
    def refuse(self, call: AnyCall, refusal: Refusal) -> Response:
        """Make the response of a refusal, in the host's envelope."""

    def add_headers(self, call: AnyCall, response: Response) -> None:
        """Add the call's headers to its response."""
        response.headers.update(call.headers)
