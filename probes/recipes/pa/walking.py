"""Walk a list of PA page by page: on by the cursors that were returned, to its end, and back (1:2.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.model.exchange import SETUP
from catalog_probe.probes.recipes.probe import Probe, SetupFailed

from .compliance_requests import with_query

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.catalog.model import Exchange
    from catalog_probe.probes.calls import Call
    from catalog_probe.probes.recipes.recipe import Run

AFTER, BEFORE, PAGE = "after_id", "before_id", "page"
"""Labels of the requests that go on or back, and the names of their cursors."""

WHOLE_LABEL, FIRST_LABEL, END_LABEL = "whole", "page_1", "end"
"""Labels: the entries of two pages in one, the first page, and the last."""

MAX_PAGES = 10
"""Most pages fetched on the way to the end."""


def walk_by_ids(listing: Call) -> Run:
    """Fetch three entries at once, then by two pages of two, then back from the second page."""

    async def walk(probe: Probe) -> None:
        _demand_more_than(2, await probe.send(with_query(listing, ("limit", "3")), WHOLE_LABEL))
        pages = with_query(listing, ("limit", "2"))
        first = await probe.send(pages, FIRST_LABEL)
        second = await probe.send(with_query(pages, (AFTER, read_cursor(first, "last_id"))), AFTER)
        await probe.send(with_query(pages, (BEFORE, read_cursor(second, "first_id"))), BEFORE)

    return walk


async def walk_to_end(probe: Probe, listing: Call) -> None:
    """Go on by the last id of each page until a page is empty; that one is judged."""
    page = await probe.setup(listing)
    for _ in range(MAX_PAGES):
        last = as_object(page.body).get("last_id")
        if not isinstance(last, str):
            break
        going_on = with_query(listing, (AFTER, last))
        page = await probe.setup(going_on)
        if not list_entries(page.body):
            await probe.send(going_on, END_LABEL)
            return
    raise SetupFailed(f"no end of {listing.method} {listing.path} within {MAX_PAGES} pages")


def walk_by_pages(listing: Call, size: int) -> Run:
    """Fetch the entries of two pages at once, then page by page, `size` entries each, to the last."""

    async def walk(probe: Probe) -> None:
        _demand_more_than(size, await probe.send(with_query(listing, ("limit", str(2 * size))), WHOLE_LABEL))
        pages = with_query(listing, ("limit", str(size)))
        following = with_query(pages, (PAGE, read_cursor(await probe.send(pages, FIRST_LABEL), "next_page")))
        page = await probe.send(following, PAGE)
        for _ in range(MAX_PAGES):
            token = _parse_cursor(read_body(page).get("next_page"))
            if token is None:
                break
            following = with_query(pages, (PAGE, token))
            page = await probe.send(following, SETUP)
        await probe.send(following, END_LABEL)

    return walk


def _demand_more_than(size: int, exchange: Exchange) -> None:
    """Stop if one page holds all entries: then there is nothing to page through.

    Raises:
        SetupFailed: the account has no more.
    """
    number = len(list_entries(read_body(exchange)))
    if number <= size:
        request_line = f"{exchange.request.method} {exchange.request.url}"
        raise SetupFailed(f"{request_line}: {number} entries are no second page of {size}")


def read_cursor(exchange: Exchange, name: str) -> str:
    """Return the cursor of a page.

    Raises:
        SetupFailed: it returned none, so there is nothing to walk by.
    """
    token = _parse_cursor(read_body(exchange).get(name))
    if token is None:
        request_line = f"{exchange.request.method} {exchange.request.url}"
        raise SetupFailed(f"{request_line}: the page has no {name} to walk by")
    return token


def _parse_cursor(value: object) -> str | None:
    """Return a cursor as a query value; cursors are opaque (1:2.5), so a number is one as well."""
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else None


def read_body(exchange: Exchange) -> Mapping[str, Any]:
    """Return the body of an exchange, or an empty object."""
    return as_object(exchange.response.body if exchange.response is not None else None)


def as_object(body: Any) -> Mapping[str, Any]:
    return body if isinstance(body, dict) else {}


def list_entries(body: Any) -> list[Mapping[str, Any]]:
    """Return the entries of a page, assumed to be in `data`."""
    data = as_object(body).get("data")
    return [entry for entry in data if isinstance(entry, dict)] if isinstance(data, list) else []


def read_field(body: Any, number: int, field: str) -> str:
    """Return a field of the entry with this number, counted from 0.

    Raises:
        SetupFailed: the list has not so many entries.
    """
    entry = dict(enumerate(list_entries(body))).get(number, {})
    value = entry.get(field)
    if not isinstance(value, str):
        raise SetupFailed(f"the list has no entry {number + 1} with {field}")
    return value
