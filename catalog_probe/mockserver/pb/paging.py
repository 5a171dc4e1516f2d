"""One page of a listing: `pageSize` and `pageToken`, as official clients send them; the documents show neither."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.pb.errors import NO_PAGE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from catalog_probe.mockserver.pb.call import Call

PAGE_SIZE = 50


def cut_page(call: Call, name: str, items: Sequence[Any]) -> dict[str, Any]:
    """The page that is asked for, under `name`, and where the next one begins."""
    size = _read_number(call, "pageSize") or PAGE_SIZE
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
