"""A provider's HTTP host: endpoint tables, credentials, calls and refusals."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from starlette.requests import Request
from starlette.routing import compile_path

from catalog_probe.mockserver.core import leniency
from catalog_probe.mockserver.core.errors import Refusal
from catalog_probe.mockserver.core.faults import ENDPOINT
from catalog_probe.mockserver.core.world import CLOSE_EXTENSION, Context, context_of

if TYPE_CHECKING:
    from starlette.responses import Response
    from starlette.types import Receive, Scope, Send

    from catalog_probe.mockserver.core.errors import ErrorRow
    from catalog_probe.mockserver.core.sessions import Session


@dataclass(frozen=True)
class Endpoint:
    """A row of an endpoint table; providers add the credential that it needs.

    Paths are written as in Starlette: `/v1/files/{file_id}`, `/v1/{rest:path}`.
    """

    method: str
    path: str
    handler: Callable[..., Any]
    section: str


class PathRow(Protocol):
    """A row that the router can find."""

    @property
    def method(self) -> str: ...

    @property
    def path(self) -> str: ...

    @property
    def handler(self) -> Callable[..., Any]: ...


Row = TypeVar("Row", bound=PathRow)


@dataclass(frozen=True, slots=True)
class RouteMatch(Generic[Row]):
    """The row of a request if there is one, its parameters, and the rows of its path."""

    row: Row | None = None
    params: dict[str, str] = field(default_factory=dict)
    rows_by_method: Mapping[str, Row] = field(default_factory=dict)

    @property
    def is_known_path(self) -> bool:
        """Whether the path has a row for any method, so that only the method is wrong."""
        return bool(self.rows_by_method)


class Router(Generic[Row]):
    """Finds the row of a request."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._fixed: dict[str, dict[str, Row]] = {}
        templates: dict[str, dict[str, Row]] = {}
        for row in rows:
            table = templates if "{" in row.path else self._fixed
            if row.method in table.setdefault(row.path, {}):
                raise ValueError(f"two rows for {row.method} {row.path}")
            table[row.path][row.method] = row
        self._patterns: list[tuple[re.Pattern[str], dict[str, Row]]] = [
            (compile_path(path)[0], methods) for path, methods in templates.items()
        ]

    def find(self, scope: Any) -> RouteMatch[Row]:
        """Match the scope's method and path below the mount; a HEAD request is a GET."""
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        path = scope["path"][len(scope.get("root_path", "")) :]
        if path in self._fixed:
            return RouteMatch(self._fixed[path].get(method), {}, self._fixed[path])
        for pattern, methods in self._patterns:
            match = pattern.match(path)
            if match:
                return RouteMatch(methods.get(method), match.groupdict(), methods)
        return RouteMatch()


Key = TypeVar("Key")

BEARER = "bearer "


def bearer_token(headers: Mapping[str, str]) -> str | None:
    """Return the bearer token of the Authorization header, if it has one."""
    authorization = headers.get("authorization", "")
    if not authorization.lower().startswith(BEARER):
        return None
    return authorization[len(BEARER) :].strip()


def find_key(keys: Mapping[str, Key], secret: str, usual: str) -> Key | None:
    """Return the key with this secret, or `usual` if the leniency accepts any."""
    return keys.get(secret) or (keys[usual] if leniency.get_current().accepts_key(secret) else None)


@dataclass(kw_only=True)
class Call:
    """What a handler gets; each provider adds the caller.

    Args:
        params: the values of each `{name}` in the path.
        headers: headers that the answer carries, even a refusal.
    """

    request: Request
    params: Mapping[str, str] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def context(self) -> Context:
        """The context that the mock opened for the request."""
        return context_of(self.request.scope)

    @property
    def session(self) -> Session:
        """The private state of this client."""
        return self.context.session

    @property
    def now(self) -> float:
        """When this call happens, in seconds since the epoch."""
        return self.context.now

    def abort_connection(self) -> None:
        """Close the connection without an answer, as a broken network does."""
        self.request.scope["extensions"][CLOSE_EXTENSION]["close"]()


AnyCall = TypeVar("AnyCall", bound=Call)


class Gateway(ABC, Generic[AnyCall, Row]):
    """The app of one host. A provider says how it opens, admits and refuses a call."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._router = Router(rows)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        call, match = self.open_call(Request(scope, receive)), self._router.find(scope)
        call.params = match.params
        try:
            row = self._admit_unless_armed(call, match)
            response: Response = await row.handler(call)
        except Refusal as refusal:
            response = self.refuse(call, refusal)
        self.add_headers(call, response)
        await response(scope, receive, send)

    def _admit_unless_armed(self, call: AnyCall, match: RouteMatch[Row]) -> Row:
        """Admit a call to its endpoint, or raise the armed error, which comes before the request's own faults."""
        try:
            return self.admit(call, match)  # also of a call that an armed error ends: its answer has the same headers
        finally:
            path = call.request.scope["path"]
            fault = call.context.take_fault(ENDPOINT, path, self.can_refuse) if match.row is not None else None
            if fault is not None:
                raise fault

    @abstractmethod
    def open_call(self, request: Request) -> AnyCall:
        """Make the call of a request, before its caller is known."""

    @abstractmethod
    def admit(self, call: AnyCall, match: RouteMatch[Row]) -> Row:
        """Return the endpoint whose handler answers the call, or raise the refusal.

        Each provider checks path, method, key and rights in an order of its own. If a call has several faults, that
        order decides which of them is told.
        """

    @abstractmethod
    def refuse(self, call: AnyCall, refusal: Refusal) -> Response:
        """Make the response of a refusal, in the host's envelope."""

    def can_refuse(self, row: ErrorRow) -> bool:
        """Whether the host's envelope can hold an error of this row."""
        return True

    def add_headers(self, call: AnyCall, response: Response) -> None:
        """Add the call's headers to its response."""
        response.headers.update(call.headers)
