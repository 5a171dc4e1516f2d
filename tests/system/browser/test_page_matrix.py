"""matrix.html in a real Chromium: runs beside each other, the queries over them, and where evidence is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from catalog.evidence.results_file import read_run
from catalog.model import Outcome
from catalog.model.look import Look
from reports import build
from reports.__main__ import main
from reports.across.comparison import KNOWN, Comparison
from tests.system.browser.chromium import NARROW, Visit, shown, until
from tests.unit.reports import sample
from tests.unit.reports.making import finding, result, run

if TYPE_CHECKING:
    from pathlib import Path

    from catalog.evidence.results import Result
    from tests.harness.once import Once

A, B, C, D = (f"pa/errors/general/{name}" for name in ("invalid_request", "not_found", "overloaded", "api_error"))
DRIFT = finding(assertion="answer/status")


def _results(letters: str) -> list[Result]:
    made = []
    for address, letter in zip((A, B, C, D), letters, strict=True):
        if letter == "d":
            looks = (Look("", "answer", ("type",), {"status": "422"}),)
            made.append(result(address, Outcome.DRIFTED, findings=(DRIFT,), looks=looks))
        elif letter == "c":
            made.append(result(address, looks=(Look("", "answer", ("status", "type")),)))
    return made


@pytest.fixture
def folders(once: Once) -> list[Path]:
    """Three runs: B is the odd one of the second, C of the third; D is nowhere as documented, and the last lacks A."""
    return once("runs-beside-each-other", made_in)


def made_in(out: Path) -> list[Path]:
    """Their folders, and beside them their matrix."""
    made = []
    for at, letters in enumerate(("cccd", "cdcd", "-cdd")):
        folder = sample.write(out / f"r{at}", run(run=f"r{at}", target=f"t{at}"), _results(letters))
        build.build(folder)
        made.append(folder)
    assert main(["matrix", *map(str, made), "--out", str(out)]) == 0
    return made


@pytest.fixture
def matrix(folders: list[Path]) -> str:
    return (folders[0].parent / "matrix.html").as_uri()


FOUND = {
    "count:1(drifted)": [C, B],
    "seq(conforms drifted)": [C, B],
    "seq(drifted conforms)": [B],
    "none(conforms)": [D],
    "any(absent)": [A],
    "count:1(drifted) any(drifted target:t1)": [B],
    "observed:422 -none(conforms)": [C, B],
}
"""The records that a query finds."""


def test_queries_find_the_odd_ones(visit: Visit, matrix: str) -> None:
    tab = visit(matrix)
    found = {}
    for query in FOUND:
        tab.evaluate("query => { location.hash = `?q=${query}` }", quote(query))
        until(tab, f"document.getElementById('f-q').value === {json.dumps(query)}")
        found[query] = shown(tab)
    assert found == {query: sorted(each) for query, each in FOUND.items()}


def test_the_page_and_the_command_read_a_query_alike(visit: Visit, matrix: str, folders: list[Path]) -> None:
    comparison = Comparison([read_run(folder / "results.jsonl") for folder in folders])
    tab = visit(matrix)
    for query in (
        *("status:4*", "general -overloaded", "any(for:provider)", "all(run:r*)", "count:2(run:r0,r1)", "seen:never"),
        *("any(finding:status-*)", "none(absent) count:<2(drifted)", "-any(drifted)", "cause:pa-*", "seq(-absent)"),
    ):
        tab.fill("#f-q", query)
        assert shown(tab) == [str(row.address) for row in comparison.found(query)], query
    assert set(tab.evaluate("index.fields")) == set(KNOWN)


def test_a_cell_leads_to_the_evidence_of_its_run(visit: Visit, matrix: str) -> None:
    tab = visit(matrix)
    tab.click(f"#list tr[data-address='{B}'] td:nth-child(3) a")
    tab.wait_for_url(f"**/r1/report.html#{B}")
    assert "documented 400, observed 422" in tab.inner_text("main")


def test_a_record_opens_to_its_assertions(visit: Visit, matrix: str) -> None:
    tab = visit(matrix)
    tab.click(f"#list tr[data-address='{B}'] th a")
    tab.wait_for_selector("tr.detail .across")
    cells = tab.locator("tr.detail .across tbody tr").first.locator("th, td").all_inner_texts()
    assert cells == ["answer/status", "as stated", "422", "as stated"]
    tab.keyboard.press("Escape")
    assert tab.locator("tr.detail").count() == 0


def test_a_family_leads_to_what_does_not_conform_in_its_run(visit: Visit, matrix: str) -> None:
    tab = visit(matrix)
    tab.click(".across-families tbody td:nth-child(3) .few")
    until(tab, "document.getElementById('f-q').value !== ''")
    assert shown(tab) == [D, B]


def test_it_says_what_is_wrong_with_a_query(visit: Visit, matrix: str) -> None:
    tab = visit(matrix)
    tab.fill("#f-q", "is:new")
    assert tab.inner_text("#count") == "0 of 4 records. No field is called is."


def test_a_narrow_screen_does_not_scroll_sideways(visit: Visit, matrix: str) -> None:
    tab = visit(matrix, viewport=NARROW)
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
