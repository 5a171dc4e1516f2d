"""Which assumptions about requests one request rests on: a field that it does not hold cannot be why it was refused."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

from catalog_probe.catalog.text.json_pointer import ABSENT, find

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Request
    from catalog_probe.catalog.reading.expected import Expected


def of_this_request(expected: Expected, request: Request) -> Expected:
    """The expectation with those of its assumptions about requests (`body:/tools`, `query:order`) that this one holds.

    A path, a header and a body as a whole are no part that a request may lack: what is assumed of them always counts.
    So does a field of a body that is kept as text, in which nobody can look it up.
    """
    asked = {within: reason for within, reason in expected.asked.items() if _holds(request, within)}
    return replace(expected, asked=asked)


def _holds(request: Request, within: str) -> bool:
    aspect, _, place = within.partition(":")
    if aspect == "query":
        return place in dict(parse_qsl(urlsplit(request.url).query, keep_blank_values=True))
    if aspect == "body" and place:
        return isinstance(request.body, str) or find(request.body, place) is not ABSENT
    return True
