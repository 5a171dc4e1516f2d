"""One page of a listing: `pageSize` and `pageToken`, as such APIs have them; the documents show neither."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.pb.errors import OUT_OF_RANGE, PbError, invalid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from catalog_probe.mockserver.pb.call import Call

MAX_PAGE = 1_000
DEFAULT_PAGE = 50


def page(call: Call, name: str, found: Sequence[Any]) -> dict[str, Any]:
    """The page that is asked for, under `name`, and where the next one begins.

    Raises:
        PbError: there is no such page.
    """
    size = min(_whole_number(call, "pageSize", DEFAULT_PAGE), MAX_PAGE)
    start = _whole_number(call, "pageToken", 0)
    if start > len(found):
        raise PbError(OUT_OF_RANGE, "pageToken: lies behind the last of them.")
    shown: dict[str, Any] = {name: list(found[start : start + size])}
    if start + size < len(found):
        shown["nextPageToken"] = str(start + size)
    return shown


def _whole_number(call: Call, name: str, default: int) -> int:
    text = call.request.query_params.get(name)
    if not text:
        return default
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise invalid(f"{name}: {text!r} is not a page of this listing")
    return int(text) or default
