"""One call of PB's API: the request, whose project makes it, when, and the headers its answer will carry."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from catalog_probe.mockserver.core import strict_json
from catalog_probe.mockserver.core.bodies import BodyTooLarge, read_body
from catalog_probe.mockserver.pb.errors import TOO_LARGE, PbError, invalid

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request

    from catalog_probe.mockserver.core.sessions import Session
    from catalog_probe.mockserver.core.world import Context
    from catalog_probe.mockserver.pb.auth.keys import Project
    from catalog_probe.mockserver.pb.names import Names

MAX_BODY = 64 * 1024 * 1024
"""The documents state no size; this only keeps the mock's memory bounded."""


@dataclass(slots=True)
class Call:
    """What a handler gets. `project` is authenticated by the time a handler runs."""

    request: Request
    context: Context
    names: Names
    project: Project
    params: Mapping[str, str]
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def session(self) -> Session:
        """The private state of this client."""
        return self.context.session

    @property
    def now(self) -> float:
        """When this call happens."""
        return self.context.now

    @property
    def version(self) -> str:
        """The API version in the path: `v1` or `v1beta` (2:9)."""
        path: str = self.request.scope["path"]
        return path.removeprefix(self.request.scope.get("root_path", "")).split("/")[1]


class JsonAnswer(Response):
    """A JSON body in ASCII: half a surrogate pair, which JSON can spell and UTF-8 cannot, is sent back as it came."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """The body."""
        return as_json(content)


def as_json(value: Any) -> bytes:
    """A value as compact JSON."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode()


async def read_object(call: Call) -> dict[str, Any]:
    """The body as a JSON object, or 400 (2:7.4 "malformed body"); an empty body is an empty object."""
    try:
        raw = await read_body(call.request, MAX_BODY)
    except BodyTooLarge:
        raise PbError(TOO_LARGE, f"Request payload size exceeds the limit: {MAX_BODY} bytes.") from None
    try:
        body = strict_json.loads(raw or b"{}")
    except ValueError as error:
        raise invalid(f"Invalid JSON payload received: {error}") from None
    if not isinstance(body, dict):
        raise invalid("Invalid JSON payload received: the root is not an object.")
    return body
