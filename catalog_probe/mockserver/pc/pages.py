"""Lists, as the one page that clients read."""

from __future__ import annotations

from typing import Any

from starlette.responses import JSONResponse


def make_page(items: list[dict[str, Any]]) -> JSONResponse:
    """Return all items as one page."""
    ends = {"first_id": items[0]["id"] if items else None, "last_id": items[-1]["id"] if items else None}
    return JSONResponse({"object": "list", "data": items, **ends, "has_more": False})
