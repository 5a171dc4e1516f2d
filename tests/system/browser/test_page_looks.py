"""How report.html looks: screens, colour schemes, paper, accessibility."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.model import Outcome
from catalog_probe.reports import build
from catalog_probe.reports.page.markup import MAX_ENTRIES
from tests.system.browser.chromium import NARROW, WIDE, Visit, until, wait_until_arrived
from tests.unit.catalog.catalog_factories import write_run
from tests.unit.reports import sample

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page, ViewportSize

HOSTILE_RECORD = "pb/errors/http/unknown_field"
STREAM = "pc/errors/stream/api_error"
PLAIN = "pa/endpoints/messages/invalid_request"
REMARKED = "pa/errors/general/unknown_field"
CONFORMING = "pa/errors/general/not_found"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark(visit: Visit, report: str, scheme: str) -> None:
    tab = visit(report, color_scheme=scheme)
    red, green, blue = map(int, re.findall(r"\d+", tab.evaluate("getComputedStyle(document.body).backgroundColor"))[:3])
    assert (red + green + blue > 700) == (scheme == "light")


def test_nothing_is_wider_than_a_narrow_screen(visit: Visit, report: str) -> None:
    tab = visit(report, NARROW)
    assert width(tab) <= NARROW["width"]
    for address in (HOSTILE_RECORD, STREAM, CONFORMING):
        tab.evaluate("address => { location.hash = address }", address)
        wait_until_arrived(tab)
        assert width(tab) <= NARROW["width"], address
    tab.evaluate("location.hash = '?q=outcome:drifted'")
    until(tab, "document.getElementById('f-q').value === 'outcome:drifted'")
    assert width(tab) <= NARROW["width"]


def width(tab: Page) -> int:
    """Widths of the visible and the scrollable area, in CSS pixels."""
    return int(tab.evaluate("document.documentElement.scrollWidth"))


@pytest.mark.parametrize("viewport", [WIDE, NARROW], ids=["wide", "narrow"])
def test_a_finding_holds_all_that_it_shows(visit: Visit, small_report: str, viewport: ViewportSize) -> None:
    """Overflow covers the next finding: links miss their target, and tools see wrong colours."""
    spilt = visit(small_report, viewport).evaluate(
        """() => [...document.querySelectorAll('article.finding')].flatMap(article =>
        [...article.querySelectorAll('*')].filter(each => each.checkVisibility()
        && each.getBoundingClientRect().bottom > article.getBoundingClientRect().bottom + 1).map(() => article.id))"""
    )
    assert sorted(set(spilt)) == []


@pytest.mark.parametrize(
    ("viewport", "scheme", "address", "part"),
    [
        (WIDE, "light", "#?q=is:drifted", None),
        (WIDE, "light", "#?q=is:unheard-of", None),
        (WIDE, "light", "", None),
        (NARROW, "dark", "", None),
        (WIDE, "dark", f"#{PLAIN}", None),
        (NARROW, "light", f"#{PLAIN}", None),
        (WIDE, "light", f"#{REMARKED}", "tr.detail"),
        (NARROW, "dark", f"#{STREAM}", "article:focus-within"),
    ],
    ids=[
        "search",
        "wrong-search",
        "wide-light",
        "narrow-dark",
        "wide-dark-record",
        "narrow-light-record",
        "wide-light-record",
        "narrow-finding",
    ],
)
def test_axe_finds_nothing(
    visit: Visit, small_report: str, viewport: ViewportSize, scheme: str, address: str, part: str | None
) -> None:
    """The whole page folded and unfolded, in each scheme and on each screen, and what only links show."""
    from axe_playwright_python.sync_playwright import Axe

    tab = visit(small_report + address, viewport, color_scheme=scheme)
    if address and not address.startswith("#?"):
        wait_until_arrived(tab)
        tab.evaluate("for (const part of document.querySelectorAll('details')) part.open = true")
    tab.locator("button.copy:visible").first.click()  # for a moment it says "Copied"; the others keep their labels
    # Speech control finds a button by what it shows. axe has the rule, and does not run it unasked.
    found = Axe().run(tab, part, {"rules": {"label-content-name-mismatch": {"enabled": True}}})
    told = [
        f"{each['id']}: {node['target']} {node.get('failureSummary', '')}"
        for each in found.response["violations"]
        for node in each["nodes"][:3]
    ]
    assert told == []


def test_paper_names_each_record_of_each_cause_and_has_no_controls(visit: Visit, report: str) -> None:
    tab = visit(report)
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    tab.emulate_media(media="print")
    assert not tab.locator("#filters").is_visible()
    assert not tab.locator(".actions").first.is_visible()
    assert tab.locator(".new-drift .cause > details:not([open])").count() == 0
    assert tab.locator(".new-drift .finding > details[open]").count() == 0
    assert pages(tab) <= 12


@pytest.mark.parametrize("causes", [5, 50])
def test_fifty_findings_are_fewer_than_twelve_pages(visit: Visit, tmp_path: Path, causes: int) -> None:
    build.build(write_run(tmp_path, *sample.make_run_with_fifty_drifts(causes)))
    tab = visit((tmp_path / "report.html").as_uri())
    assert tab.inner_text("h1").endswith(f"PA drifts: {causes} new causes behind 50 records.")
    assert pages(tab) < 12
    opened = tab.locator(".new-drift .cause > details[open]")
    assert opened.count() == min(causes, MAX_ENTRIES), "printing opens each cause that is told"


def pages(tab: Page) -> int:
    """The pages of a tab on paper."""
    return len(re.findall(rb"/Type\s*/Page\b(?!s)", tab.pdf(format="A4")))


def test_every_outcome_has_a_colour_of_its_own(visit: Visit, report: str) -> None:
    tab = visit(report)
    seen = {
        outcome: tab.evaluate(
            "name => { const s = document.createElement('span'); s.className = 'o ' + name; document.body.append(s);"
            " const c = getComputedStyle(s);"
            " return [c.backgroundColor, c.backgroundImage, c.borderTopColor, c.boxShadow].join() }",
            str(outcome),
        )
        for outcome in Outcome
    }
    assert len(set(seen.values())) == len(Outcome)
