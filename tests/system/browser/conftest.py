"""A browser, and reports to open in it."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from reports import build
from tests.system.browser.chromium import WIDE, Visit, chromium, executable
from tests.unit.reports import sample

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page, ViewportSize

    from catalog.evidence.results import Result, Run
    from tests.harness.once import Once


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if executable() is None:
        reason = "no Chromium: `apt-get install chromium`, or name one in the variable CHROMIUM"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)
    with chromium() as opened:
        yield opened


@pytest.fixture(scope="session")
def report(once: Once) -> str:
    return once("report", partial(page_of, sample.full))


@pytest.fixture(scope="session")
def small_report(once: Once) -> str:
    """A tenth of it, for what takes time on every element."""
    return once("small-report", partial(page_of, sample.some))


def page_of(told: Callable[[], tuple[Run, list[Result]]], folder: Path) -> str:
    """The address of the report on a run."""
    written = sample.write(folder, *told())
    build.build(written)
    return (written / "report.html").as_uri()


@pytest.fixture
def visit(browser: Browser) -> Iterator[Visit]:
    """Open an address in a fresh tab; whatever it complains of or asks for fails the test."""
    tabs, trouble = [], []

    def opened(address: str, viewport: ViewportSize = WIDE, **options: Any) -> Page:
        tab = browser.new_page(viewport=viewport, **options)
        tabs.append(tab)
        tab.on("console", lambda message: trouble.append(f"console: {message.text}"))
        tab.on("pageerror", lambda error: trouble.append(f"error: {error}"))
        tab.on("dialog", lambda dialog: trouble.append(f"dialog: {dialog.message}"))
        tab.on(
            "request", lambda asked: trouble.append(asked.url) if not asked.url.startswith(("file:", "data:")) else None
        )
        tab.goto(address)
        return tab

    yield opened
    for tab in tabs:
        tab.close()
    assert trouble == []
