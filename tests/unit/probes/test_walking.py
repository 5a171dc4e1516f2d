"""Reading the cursor of a page."""

from __future__ import annotations

import pytest

from catalog_probe.catalog.model import Exchange, Request, Response
from catalog_probe.probes.recipes.probe import ProbeStopped
from tests.harness.recipes import load_recipes

read_cursor = load_recipes("pa").walking.read_cursor


def make_page(body: object) -> Exchange:
    return Exchange("page_1", Request("GET", "https://provider.example/list"), Response(200, {}, body, "json"))


def test_cursor_is_opaque(subtests: pytest.Subtests) -> None:
    cases: list[tuple[object, str]] = [("page_x", "page_x"), (17, "17")]
    for value, copied in cases:
        with subtests.test(value=value):
            assert read_cursor(make_page({"next_page": value}), "next_page") == copied


def test_missing_cursor_stops_the_probe(subtests: pytest.Subtests) -> None:
    cases: list[object] = [{}, {"next_page": None}, {"next_page": True}, {"next_page": ["x"]}, [], None]
    for body in cases:
        with subtests.test(body=body), pytest.raises(ProbeStopped, match="the page has no next_page to walk by"):
            read_cursor(make_page(body), "next_page")
