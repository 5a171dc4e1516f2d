"""PD's front door on HTTP: the URL, the endpoint, the key, its rights, then the handler (2:7.6)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote_to_bytes

from catalog_probe.mockserver.core import calls, gateway, routing
from catalog_probe.mockserver.pd.access import admit, identify
from catalog_probe.mockserver.pd.causes import SCENARIOS
from catalog_probe.mockserver.pd.errors import BAD_URL, METHOD_NOT_ALLOWED, UNKNOWN_PATH, make_response
from catalog_probe.mockserver.pd.keys import NOBODY

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import Scope

    from catalog_probe.mockserver.core.errors import Refusal
    from catalog_probe.mockserver.core.routing import RouteMatch
    from catalog_probe.mockserver.pd.keys import Key
    from catalog_probe.mockserver.pd.models import Host

_BROKEN_ESCAPE = re.compile(rb"%(?![0-9A-Fa-f]{2})")


@dataclass(kw_only=True)
class Call(calls.Call):
    """What a handler gets. `key` is known, usable and allowed here by the time a handler runs."""

    host: Host
    key: Key = NOBODY


@dataclass(frozen=True)
class Endpoint(routing.Endpoint):
    """A row of the endpoint table, with the name under which ACLs speak of it; None lets any known key in."""

    acl: str | None = None


class Gateway(gateway.Gateway[Call, Endpoint]):
    """The ASGI app of the inference API on one host."""

    def __init__(self, host: Host, rows: Iterable[Endpoint]) -> None:
        super().__init__(rows)
        self._host = host

    def open_call(self, request: Request) -> Call:
        """The call that a request is."""
        return Call(request=request, host=self._host)

    async def answer(self, call: Call, match: RouteMatch[Endpoint]) -> Response:
        """Admit the call and let its handler answer."""
        check_url(call.request.scope)
        if match.row is None:
            raise (METHOD_NOT_ALLOWED if match.is_known_path else UNKNOWN_PATH)()
        call.params = match.params
        enter(call, match.row.acl)
        response: Response = await match.row.handler(call)
        return response

    def refuse(self, call: Call, refusal: Refusal) -> Response:
        """The answer that a refusal is."""
        return make_response(refusal)


def enter(call: Call, acl: str | None) -> None:
    """Let a call in whose key may use the endpoint, over HTTP or gRPC, or raise the failure that it suffers."""
    call.key = identify(call.request.headers)
    if acl is not None:
        admit(call.key, acl)
    call.context.raise_failure(SCENARIOS)


def check_url(scope: Scope) -> None:
    """Refuse a path whose escapes are broken or do not spell UTF-8: a bad URL is 400, not 404."""
    raw: bytes = scope.get("raw_path") or b""
    if _BROKEN_ESCAPE.search(raw):
        raise BAD_URL(reason="broken percent-encoding")
    try:
        unquote_to_bytes(raw).decode()
    except UnicodeDecodeError:
        raise BAD_URL(reason="invalid UTF-8") from None
