"""The docs site opened as a file: its search works, without network."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from typing import TYPE_CHECKING

import pytest

from tests.harness.command import CHECKOUT, DEADLINE_S
from tests.system.browser.chromium import Visit, until

if TYPE_CHECKING:
    from pathlib import Path

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
