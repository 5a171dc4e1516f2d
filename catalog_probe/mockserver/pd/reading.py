"""Reads request bodies: content type (415), JSON (400, a bare string), the types of the fields (422) (2:7.6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core import strict_json
from catalog_probe.mockserver.core.bodies import BodyTooLarge, read_body
from catalog_probe.mockserver.pd.errors import UNSUPPORTED_MEDIA_TYPE, PdError, invalid, unreadable
from catalog_probe.mockserver.pd.generation import shape

if TYPE_CHECKING:
    from starlette.requests import Request

MAX_BODY = 20 * 1024 * 1024
"""The documents give PD no limit; the mock must have one."""


async def read_object(request: Request, wanted: shape.Shape) -> dict[str, Any]:
    """The body as an object of this shape."""
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/json":
        raise PdError(UNSUPPORTED_MEDIA_TYPE, "Expected request with `Content-Type: application/json`")
    try:
        text = (await read_body(request, MAX_BODY)).decode()
        body = strict_json.loads(text)
    except BodyTooLarge:
        raise invalid(f"The request body is larger than {MAX_BODY} bytes.") from None
    except ValueError as error:
        raise unreadable(f"Failed to parse the request body as JSON: {error}") from None
    shape.check(text, body, wanted)
    return {name: value for name, value in body.items() if value is not None}
