"""Debian's Chromium, driven by Playwright, with nothing of the outside world in reach; and what to wait for in it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, ViewportSize

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()

WIDE: ViewportSize = {"width": 1360, "height": 900}
NARROW: ViewportSize = {"width": 360, "height": 780}
"""Viewports, in CSS pixels."""

Visit = Callable[..., "Page"]
"""Opens an address in a fresh tab, in a viewport and with options of the tab."""


def executable() -> str | None:
    """Where Chromium is: the variable CHROMIUM, or what the path holds."""
    named = os.environ.get("CHROMIUM")
    return named or next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@contextmanager
def chromium() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable(), args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


def until(tab: Page, condition: str) -> None:
    """Wait for a state of the page. As a function: an expression is passed to `eval` again and again, which the
    report's policy refuses.
    """
    tab.wait_for_function(f"() => {condition}")


def arrived(tab: Page) -> None:
    """Wait until the page has loaded and the focus is on what its address names."""
    named = "document.getElementById(decodeURIComponent(location.hash.slice(1)))"
    until(tab, f"document.readyState === 'complete' && {named}?.contains(document.activeElement)")


def shown(tab: Page) -> list[str]:
    """The addresses in the list of records."""
    rows = tab.eval_on_selector_all("#list tr.row", "rows => rows.map(row => row.dataset.address)")
    return list(rows)
