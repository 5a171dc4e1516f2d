"""Pages of a list, with the parameters of official clients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.pb.errors import NO_PAGE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from catalog_probe.mockserver.pb.call import Call

DEFAULT_PAGE_SIZE = 50


def make_page(call: Call, name: str, items: Sequence[Any]) -> dict[str, Any]:
    """Return the requested page under `name`, and the token of the next one."""
    size = _read_number(call, "pageSize") or DEFAULT_PAGE_SIZE
    start = _read_number(call, "pageToken")
    page: dict[str, Any] = {name: list(items[start : start + size])}
    if start + size < len(items):
        page["nextPageToken"] = str(start + size)
    return page


def _read_number(call: Call, name: str) -> int:
    text = call.request.query_params.get(name) or "0"
    if not (text.isascii() and text.isdecimal()):
        raise NO_PAGE(name=name, value=text)
    return int(text)
