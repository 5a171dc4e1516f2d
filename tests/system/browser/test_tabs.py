"""Browser tabs of the tests are fresh, and their complaints are collected."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.system.browser.chromium import NARROW, WIDE

if TYPE_CHECKING:
    from pathlib import Path

    from tests.system.browser.chromium import Tabs

TROUBLE = """<!doctype html><script>
window.left = 1; console.log("said"); alert("asked");
new Image().src = "http://127.0.0.1:9/"; throw new Error("thrown");
</script>"""
STATE = """() => [window.left, innerWidth,
  matchMedia('print').matches, matchMedia('(prefers-color-scheme: dark)').matches,
  document.hasFocus(), document.querySelectorAll(':hover').length]"""


def test_a_tab_is_fresh_and_reports_the_complaints_of_its_page(tabs: Tabs, tmp_path: Path) -> None:
    (tmp_path / "bad.html").write_text(TROUBLE, "utf-8")
    (tmp_path / "good.html").write_text("<!doctype html><p>fine</p>", "utf-8")
    good = (tmp_path / "good.html").as_uri()
    bad = tabs.open((tmp_path / "bad.html").as_uri(), NARROW, color_scheme="dark")
    bad.emulate_media(media="print")
    bad.mouse.move(9, 9)
    assert bad.evaluate(STATE)[:4] == [1, NARROW["width"], True, True]
    assert tabs.open(good) is not bad, "a page that is still open keeps its tab"
    told = tabs.close_all()
    for each in ("console: said", "dialog: asked", "error: thrown", "http://127.0.0.1:9/"):
        assert each in told, each
    again = {tabs.open(good), tabs.open(good)}
    assert bad in again
    assert {*map(tuple, (each.evaluate(STATE) for each in again))} == {(None, WIDE["width"], False, False, True, 0)}
    assert tabs.close_all() == []
