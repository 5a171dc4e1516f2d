"""One call of PC's API: the request, who makes it, when, and the headers its answer will carry whatever happens."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core import strict_json
from catalog_probe.mockserver.core.bodies import BodyTooLarge, read_body
from catalog_probe.mockserver.pc.errors import INVALID_JSON, INVALID_TYPE, TOO_LARGE, UNSUPPORTED_CONTENT_TYPE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request

    from catalog_probe.mockserver.core.buckets import TokenBucket
    from catalog_probe.mockserver.core.sessions import Session
    from catalog_probe.mockserver.core.world import Context
    from catalog_probe.mockserver.pc.auth.keys import Key, Project
    from catalog_probe.mockserver.pc.names import Names

MAX_BODY = 64 * 1024 * 1024
"""The documents give no limit; this one keeps the mock small."""

MEDIA_TYPES = ("application/json",)
"""Of all bodies but those of files, which are multipart (2:7.5)."""


@dataclass(slots=True)
class Call:
    """What a handler gets. `key` is authenticated, and allowed here, by the time a handler runs."""

    request: Request
    context: Context
    names: Names
    key: Key
    project: Project
    params: Mapping[str, str]
    meters: dict[str, TokenBucket] = field(default_factory=dict)
    """The limits that the answer tells of, as they are when it is sent: family -> bucket."""

    @property
    def session(self) -> Session:
        """The private state of this client."""
        return self.context.session

    @property
    def now(self) -> float:
        """When this call happens."""
        return self.context.now


async def read_object(call: Call) -> dict[str, Any]:
    """The body as a JSON object, or 400: another media type, or nothing that can be parsed (2:7.5)."""
    media_type = call.request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type not in MEDIA_TYPES:
        message = f"Unsupported content type: '{media_type}'. This endpoint accepts only '{MEDIA_TYPES[0]}'."
        raise UNSUPPORTED_CONTENT_TYPE(message)
    try:
        raw = await read_body(call.request, MAX_BODY)
    except BodyTooLarge:
        raise TOO_LARGE("The request body is too large.") from None
    try:
        body = strict_json.loads(raw)
    except ValueError:
        raise INVALID_JSON("We could not parse the JSON body of your request.") from None
    if not isinstance(body, dict):
        raise INVALID_TYPE("Invalid type for the body: expected an object.")
    return body
