"""Chromium driven by Playwright, without network, and waiting for its pages."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Dialog, Page, Request, ViewportSize

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()

WIDE: ViewportSize = {"width": 1360, "height": 900}
NARROW: ViewportSize = {"width": 360, "height": 780}
"""Viewports, in CSS pixels."""

ColorScheme = Literal["light", "dark"]

Visit = Callable[..., "Page"]
"""Opens an address as a fresh page, in a viewport and with options of its media."""


def find_chromium() -> str | None:
    """Return the path of Chromium, from the variable CHROMIUM or from PATH."""
    named = os.environ.get("CHROMIUM")
    return named or next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@contextmanager
def chromium() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


class Tabs:
    """Tabs that are reused for one page after another, and the complaints and requests of their pages.

    A new tab takes two or three processes, which is slower than opening the page.
    """

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._idle: list[Page] = []
        self._busy: list[Page] = []
        self._trouble: list[str] = []

    def open(self, address: str, viewport: ViewportSize = WIDE, color_scheme: ColorScheme = "light") -> Page:
        """Open a page in a tab that holds no other."""
        tab = self._idle.pop() if self._idle else self._new()
        self._busy.append(tab)
        tab.set_viewport_size(viewport)
        tab.emulate_media(media="null", color_scheme=color_scheme)
        tab.goto(address)
        return tab

    def close_all(self) -> list[str]:
        """Close all pages and return their complaints; a tab that cannot leave its page is not reused."""
        for tab in (busy := self._busy)[:]:
            busy.remove(tab)
            tab.goto("about:blank")
            self._idle.append(tab)
        trouble, self._trouble = self._trouble, []
        return trouble

    def _new(self) -> Page:
        tab = self._browser.new_page()
        tab.on("console", lambda message: self._trouble.append(f"console: {message.text}"))
        tab.on("pageerror", lambda error: self._trouble.append(f"error: {error}"))
        tab.on("dialog", self._refuse)
        tab.on("request", self._note)
        return tab

    def _refuse(self, dialog: Dialog) -> None:
        self._trouble.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _note(self, asked: Request) -> None:
        if not asked.url.startswith(("file:", "data:")):
            self._trouble.append(asked.url)


def until(tab: Page, condition: str) -> None:
    """Wait for a state of the page. As a function: an expression is passed to `eval` again and again, which the
    report's policy refuses.
    """
    tab.wait_for_function(f"() => {condition}")


def wait_until_arrived(tab: Page) -> None:
    """Wait until the page has loaded and the focus is on what its address names."""
    named = "document.getElementById(decodeURIComponent(location.hash.slice(1)))"
    until(tab, f"document.readyState === 'complete' && {named}?.contains(document.activeElement)")


def list_addresses(tab: Page) -> list[str]:
    """The addresses in the list of records."""
    rows = tab.eval_on_selector_all("#list tr.row", "rows => rows.map(row => row.dataset.address)")
    return list(rows)
