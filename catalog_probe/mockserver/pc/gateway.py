"""PC's front door: the URL, the method, the key, the beta header, the scope, then the endpoint (1:5.3, 2:7.5)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from catalog_probe.mockserver.core import calls, gateway, routing
from catalog_probe.mockserver.pc.access import admit, authenticate
from catalog_probe.mockserver.pc.causes import raise_failure
from catalog_probe.mockserver.pc.envelopes import make_response
from catalog_probe.mockserver.pc.errors import UNKNOWN_URL, WRONG_METHOD
from catalog_probe.mockserver.pc.keys import NOBODY, WORK, Key, Project
from catalog_probe.mockserver.pc.limits.headers import headers_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.requests import Request
    from starlette.responses import Response

    from catalog_probe.mockserver.core.buckets import TokenBucket
    from catalog_probe.mockserver.core.errors import Refusal
    from catalog_probe.mockserver.core.routing import Found
    from catalog_probe.mockserver.core.world import World

REQUEST_ID = "x-request-id"


@dataclass(kw_only=True)
class Call(calls.Call):
    """What a handler gets. `key` is authenticated, and allowed here, by the time a handler runs."""

    header_prefix: str
    key: Key = NOBODY
    project: Project = WORK
    meters: dict[str, TokenBucket] = field(default_factory=dict)
    """The limits that the answer tells of, as they are when it is sent: family of headers -> bucket."""

    def header_name(self, stem: str) -> str:
        """What the header is called that the documents call `PC-<stem>`."""
        return self.header_prefix + stem

    def header(self, stem: str) -> str | None:
        """The value of that header."""
        return self.request.headers.get(self.header_name(stem))


@dataclass(frozen=True)
class Endpoint(routing.Endpoint):
    """A row of the endpoint table, with the beta that it belongs to and the scope or the admin key that it needs."""

    beta: str | None = None
    scope: str | None = None
    admin: bool = False


class Gateway(gateway.Gateway[Call, Endpoint]):
    """The ASGI app of PC."""

    def __init__(self, world: World, rows: Iterable[Endpoint]) -> None:
        super().__init__(rows)
        self._header_prefix = world.settings["pc"]["header_prefix"]

    def open(self, request: Request) -> Call:
        """The call that a request is."""
        return Call(request=request, header_prefix=self._header_prefix)

    async def answer(self, call: Call, found: Found[Endpoint]) -> Response:
        """Admit the call and let its handler answer."""
        if not found.known_path:
            raise UNKNOWN_URL()
        call.headers[REQUEST_ID] = call.session.new_id("req_", 32)  # an unknown URL has none (2:7.1)
        if found.row is None:
            raise WRONG_METHOD(method=call.request.method)
        call.params = found.params
        authenticate(call)
        raise_failure(call.context)
        admit(call, found.row)
        response: Response = await found.row.handler(call)
        return response

    def refuse(self, call: Call, refusal: Refusal) -> Response:
        """The answer that a refusal is."""
        return make_response(refusal)

    def dress(self, call: Call, response: Response) -> None:
        """Say what is left of the limits."""
        super().dress(call, response)
        response.headers.update(headers_of(call.meters, call.now))
