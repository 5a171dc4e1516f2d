"""The docs site opened as a file: its search works, without network."""

from __future__ import annotations

import html
import re
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import pytest

from tests.harness.command import CHECKOUT, DEADLINE_S
from tests.system.browser.chromium import Visit, until

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.harness.once import Once

FIELD = ".md-search__input"
RESULTS = ".md-search-result__item > a.md-search-result__link"


@pytest.fixture(scope="session")
def site(once: Once) -> str:
    """The address of the site's first page."""
    return once("docs-site", partial(build_into, CHECKOUT))


def build_into(checkout: Path, folder: Path) -> str:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    built = subprocess.run(command, cwd=checkout, capture_output=True, text=True, timeout=DEADLINE_S, check=False)
    assert built.returncode == 0, built.stderr
    return (folder / "index.html").as_uri()


def search(tab: Page, words: str) -> list[str]:
    """The pages that the site's search finds, the best first."""
    tab.click(FIELD)
    tab.keyboard.type(words)  # the search answers to keys, not to a value that a script sets
    until(tab, "/matching|No /.test(document.querySelector('.md-search-result__meta').textContent)")
    links = tab.eval_on_selector_all(RESULTS, "links => links.map(link => link.href)")
    return list(links)


@pytest.mark.parametrize(
    ("words", "page"),
    [
        ("identify retryable", "retryable.html"),
        ("status-differs", "reference/codes.html"),
        ("expect-all", "reference/commands.html"),
    ],
)
def test_the_search_of_a_site_that_is_opened_as_a_file_finds_pages(
    visit: Visit, site: str, words: str, page: str
) -> None:
    found = search(visit(site), words)
    assert any(page in address for address in found), found


def test_words_that_no_page_has_find_nothing(visit: Visit, site: str) -> None:
    assert search(visit(site), "xylophonequark") == []


def test_a_page_below_a_folder_finds_and_opens_another(visit: Visit, site: str) -> None:
    tab = visit(site.replace("index.html", "reference/exits.html"))
    assert search(tab, "retryable")
    tab.click(f"{RESULTS} >> nth=0")
    until(tab, "location.href.includes('.html') && !location.href.includes('exits.html')")


SCRIPT = re.compile(r"<script\b(?![^>]*\bsrc=).*?</script>", re.DOTALL)
LINK = re.compile(r'<(?:a|img|link|script)\b[^>]*?\b(?:href|src)="([^"]+)"')


def test_every_link_of_the_site_leads_to_a_page_and_a_place_in_it(site: str) -> None:
    root = Path(unquote(urlsplit(site).path)).parent
    texts = {page: SCRIPT.sub("", page.read_text(encoding="utf-8")) for page in root.rglob("*.html")}
    dead = set()
    for page, text in texts.items():
        if page.name == "404.html":  # a server shows it at any depth, so its links begin at the root
            continue
        for link in set(LINK.findall(text)):
            parts = urlsplit(html.unescape(link))
            if parts.scheme or parts.netloc or parts.query or parts.fragment.startswith("?"):
                continue
            linked = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            # a script draws the records of the report
            has_places = parts.fragment and linked in texts and linked.name != "report.html"
            if not linked.is_file() or (has_places and f'="{unquote(parts.fragment)}"' not in texts[linked]):
                dead.add((page.name, link))
    assert dead == set()
