"""The search of report.html, which reads queries as the catalog does."""

from __future__ import annotations

import json
from urllib.parse import quote

import pytest

from catalog_probe.catalog.model.errors import CatalogError
from catalog_probe.catalog.search import SearchEntry, parse_query
from catalog_probe.catalog.search import split_names as text_of
from tests.system.browser.chromium import Visit, list_addresses, until


def test_search_finds_all_words(visit: Visit, report: str) -> None:
    tab = visit(report)
    tab.fill("#f-q", "/NOT_FOUND verified compliance")
    assert list_addresses(tab) == [
        "pa/endpoints/compliance/not_found",
        "pa/errors/compliance/not_found",
        "pa/errors/compliance/not_found_2",
    ]
    assert tab.inner_text("#count") == "3 of 418 records"
    tab.fill("#f-q", "nothing like this")
    assert list_addresses(tab) == []


def test_a_query_narrows_and_is_remembered_in_the_address(visit: Visit, report: str) -> None:
    tab = visit(report)
    tab.fill("#f-q", "provider:pc outcome:drifted")
    expected = [
        "pc/errors/general/missing_max_tokens",
        "pc/errors/oauth/invalid_request",
        "pc/errors/stream/api_error",
        "pc/errors/websocket/api_error",
    ]
    assert sorted(list_addresses(tab)) == expected
    # Playwright hears of a new address later than the page has it: `tab.url` may still be the one before.
    assert sorted(list_addresses(visit(tab.evaluate("location.href")))) == expected
    tab.click("text=Clear")
    assert tab.inner_text("#count") == "418 of 418 records"
    assert tab.evaluate("location.href") == report


FOUND = {
    "kind:rate_limits": 8,
    "seen:never": 38,
    "seen:>1": 9,
    "tag:live_verified provider:pd": 55,
    "is:still-drifting": 3,
    "is:new provider:pc": 2,
    "provider:pa kind:errors family:admin": 9,
    "reason:read-timeout": 3,
    "no answer within": 3,
    "outcome:inconclusive": 3,
    "is:drifted": 9,
    'is:"still drifting"': 3,
    "is:not_probed": 38,
    "outcome:not_probed": 38,
    "label:answer is:drifted provider:pc": 4,
    "observed:422": 1,
    "cause:pa-a2465948": 3,
    "finding:header-differs,status-differs": 5,
    "x-envoy-upstream-service-time": 1,
    "outcome:drifted -provider:pc": 5,
    "status:529": 13,
}
"""The number of records that a query finds."""


def test_everything_can_be_searched_for(visit: Visit, report: str) -> None:
    tab = visit(report)
    found = {}
    for query in FOUND:
        tab.evaluate("query => { location.hash = `?q=${query}` }", quote(query))
        until(tab, f"document.getElementById('f-q').value === {json.dumps(query)}")
        found[query] = len(list_addresses(tab))
    assert found == FOUND


def test_a_field_that_is_none_finds_nothing_and_says_so(visit: Visit, report: str) -> None:
    tab = visit(report)
    tab.fill("#f-q", "stauts:429")
    assert tab.inner_text("#count") == "0 of 418 records. No field is called stauts."


def test_every_state_and_code_that_the_page_shows_can_be_asked_for(visit: Visit, report: str) -> None:
    tab = visit(report)
    shown_words = tab.eval_on_selector_all(
        ".told[aria-labelledby^=is-] h2, td.outcome, .cause code, .finding code.code, .finding .label, .reason code",
        "all => all.map(each => (each.firstChild || each).textContent.trim()).filter(Boolean)",
    )
    for word in sorted({*shown_words}):
        tab.fill("#f-q", f'"{word}"')
        assert tab.inner_text("#count").partition(" ")[0] != "0", word
    sections = tab.eval_on_selector_all(
        ".told[aria-labelledby^=is-] h2", "all => all.map(each => each.firstChild.data)"
    )
    outcomes = tab.evaluate("Object.values(index.outcomes).map(([, word]) => word)")
    for word in (*sections, *outcomes):
        tab.fill("#f-q", f'is:"{word.strip().lower()}"')
        assert tab.inner_text("#count").endswith(" of 418 records"), word


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("is:drifting", "is:drifting names nothing: write our-fault, regressed, new-drift,"),
    ],
)
def test_a_word_that_a_field_does_not_know_is_named(visit: Visit, report: str, query: str, said: str) -> None:
    tab = visit(report)
    tab.fill("#f-q", query)
    assert tab.inner_text("#count").startswith(f"0 of 418 records. {said}")


def test_each_search_brings_its_results_into_view(visit: Visit, report: str) -> None:
    tab = visit(report)
    for query in ("is:drifted", "provider:pa"):
        tab.evaluate("scrollTo(0, 0)")
        tab.keyboard.press("/")
        tab.keyboard.type(query)
        assert tab.evaluate("tbody.querySelector('tr.row').getBoundingClientRect().bottom <= innerHeight"), query
        # the next search begins where the field is at the lower edge of the window
        tab.evaluate("document.activeElement.blur(); form.scrollIntoView({ block: 'end' })")
        tab.keyboard.press("/")
        assert tab.evaluate("tbody.querySelector('tr.row').getBoundingClientRect().bottom <= innerHeight"), query
        tab.keyboard.press("Escape")
        tab.keyboard.press("Escape")


def test_the_search_suggests_fields_and_what_they_hold(visit: Visit, report: str) -> None:
    tab = visit(report)

    def suggestions(text: str) -> list[str]:
        tab.fill("#f-q", text)
        values = tab.eval_on_selector_all("#suggestions option", "options => options.map(each => each.value)")
        return list(values)

    assert suggestions("provider:pa st") == ["provider:pa status:"]
    assert "status:429" in suggestions("status:")
    assert suggestions("-is:fl") == ["-is:flaky"]


QUERIES = """
status:429 provider:pa
status:4*
STATUS:404,429 -provider:pb
"not found"
not found
seen:<3
seen:never -tag:beta
header:x-should-*
endpoint:*/messages/*
message:"no model"
family:general type:*_error
a.b(c
param:
-
""
code:[x]
tag:unverified,live_verified kind:endpoints
provider:anthropic
/v1/messages
https://pa.example/v1/messages retry:no
404->400
404→400
"""


def test_the_page_and_the_catalog_read_a_query_alike(visit: Visit, report: str) -> None:
    """The script has the rules of catalog_probe/catalog/search.py: over the same facets both find the same."""
    tab = visit(report)
    rows = tab.evaluate("records.map(r => [r.address, r.title, r.age, r.facetIds.map(id => index.facets[id])])")
    spoken = {
        address: SearchEntry(frozenset(facets), text_of("\n".join((address, title, *facets)).lower()), age)
        for address, title, age, facets in rows
    }
    for query in QUERIES.splitlines():
        terms = parse_query(query)
        found = tab.evaluate(
            "q => records.filter(r => matchesQuery(r, parseQuery(q).terms)).map(r => r.address)", query
        )
        assert found == [address for address, item in spoken.items() if item.matches(terms)], query


REFUSED_QUERIES = ("a:b", "status:abc", "seen:soon", "-kind:error")


def test_the_page_and_the_catalog_refuse_alike(visit: Visit, small_report: str) -> None:
    tab = visit(small_report)
    for query in REFUSED_QUERIES:
        with pytest.raises(CatalogError):
            parse_query(query)
        tab.fill("#f-q", query)
        assert tab.inner_text("#count").startswith("0 of "), query
        assert tab.inner_text("#count").count(". ") == 1, f"it says what is wrong with {query}"
