"""A browser, and reports to open in it."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from catalog_probe.reports import build
from tests.system.browser.chromium import Tabs, Visit, chromium, find_chromium
from tests.unit.catalog.catalog_factories import write_run
from tests.unit.reports import sample

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser

    from catalog_probe.catalog.evidence.results import Result, Run
    from tests.harness.once import Once


FOLDER = Path(__file__).parent


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep browser tests together at the place of the first, so that one browser serves them all."""
    ours = [item for item in items if FOLDER in item.path.parents]
    if ours:
        at = items.index(ours[0])
        others = [item for item in items[at:] if FOLDER not in item.path.parents]
        items[at:] = ours + others


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    if find_chromium() is None:
        reason = "no Chromium: `apt-get install chromium`, or name one in the variable CHROMIUM"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)
    with chromium() as running:
        yield running


@pytest.fixture(scope="package")
def all_tabs(browser: Browser) -> Tabs:
    return Tabs(browser)


@pytest.fixture
def tabs(all_tabs: Tabs) -> Iterator[Tabs]:
    """Tabs whose pages may complain."""
    yield all_tabs
    all_tabs.close_all()


@pytest.fixture(scope="session")
def report(once: Once) -> str:
    return once("report", partial(page_of, sample.make_full_run))


@pytest.fixture(scope="session")
def small_report(once: Once) -> str:
    """A report a tenth as large, for tests that visit every element."""
    return once("small-report", partial(page_of, sample.make_smaller_run))


def page_of(told: Callable[[], tuple[Run, list[Result]]], folder: Path) -> str:
    """Build the report of a run and return its address."""
    written = write_run(folder, *told())
    build.build(written)
    return (written / "report.html").as_uri()


@pytest.fixture
def visit(all_tabs: Tabs) -> Iterator[Visit]:
    """Open an address as a fresh page; a complaint or a network request fails the test."""
    yield all_tabs.open
    assert all_tabs.close_all() == []
