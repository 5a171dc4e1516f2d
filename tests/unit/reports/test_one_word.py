"""Each thing has the same word in the page, terminal, summary, annotations and docs."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.model import Outcome
from catalog_probe.catalog.model.record_states import SECTIONS, RecordState
from catalog_probe.catalog.search import ALLOWED_VALUES, EXTRA_MARKS, RUN_FIELDS
from catalog_probe.reports.content.overview import Overview
from catalog_probe.reports.page import html
from catalog_probe.reports.views import summary, terminal
from tests.unit.reports import sample

if TYPE_CHECKING:
    from catalog_probe.catalog.evidence.results import Result, Run

DOCS = Path(__file__).parents[3] / "docs" / "report.md"

BANNED_WORDS = (
    *("could not look", "cannot be seen", "harness error", "harness_error", "not_probed", "unprobed"),
    *(
        "new drifts",
        "newly",
        "lost sight",
        "lost from sight",
        "regression",
        "known drift",
        "ongoing",
        "whitelisted",
        "waived",
    ),
    *("skipped", "xfail", "passed", "mismatch", "deviation", "divergent", "unverifiable", "non-conformant"),
)
"""What else a thing that has its word might be called."""


class Text(HTMLParser):
    """What a reader sees of a page: no style, no script."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.pieces: list[str] = []
        self._hidden = 0
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._hidden += tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in ("script", "style")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.pieces.append(data)

    @property
    def words(self) -> str:
        return " ".join(" ".join(self.pieces).split())


@pytest.fixture(scope="module")
def views_of_run() -> tuple[Run, list[Result], dict[str, str]]:
    run, results = sample.make_smaller_run()
    views = {
        "page": Text(html.render(run, results)).words,
        "terminal": " ".join(terminal.render(run, results).split()),
        "summary": summary.render(run, results),
    }
    return run, results, views


def test_each_section_has_one_heading_and_one_number(views_of_run: tuple[Run, list[Result], dict[str, str]]) -> None:
    run, results, views = views_of_run
    for section in Overview(run, results).sections:
        heading, number = section.name.heading, len(section.records)
        assert f"{number} {heading.lower()}" in views["page"], "in the tally"
        assert f"{number} {heading.lower()}" in views["summary"], "in the tally"
        if section.name is not RecordState.CONFORMS:
            pattern = rf"{heading} \({number}( records?, \d+ causes?)?\)"
            assert re.search(pattern, views["terminal"]), heading
            assert section.name in (RecordState.NOT_PROBED, RecordState.RESTRICTED) or re.search(
                pattern, views["summary"]
            ), heading
            assert f"{heading} {number} record" in views["page"], heading


def test_an_outcome_has_one_name(views_of_run: tuple[Run, list[Result], dict[str, str]]) -> None:
    run, results, views = views_of_run
    for outcome in {record.outcome for record in Overview(run, results).records}:
        for view, text in views.items():
            assert outcome.words in text, (outcome, view)


def find_banned_words(text: str) -> list[str]:
    """Which of those words stand in a text, as words of their own."""
    lower = text.lower()
    return [word for word in BANNED_WORDS if word in lower and re.search(rf"\b{word}\b", lower)]


def test_no_view_has_a_banned_word(views_of_run: tuple[Run, list[Result], dict[str, str]]) -> None:
    _, _, views = views_of_run
    for view, text in views.items():
        assert find_banned_words(text) == [], view


def test_the_docs_have_the_words_of_the_views() -> None:
    docs = DOCS.read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([a-z, ]+) \| ", docs.partition("| section |")[2], re.MULTILINE)
    names = [word for row in rows for word in row.split(", ")]
    assert names == [name.heading.lower() for name in SECTIONS], "in the order in which the page has them"
    assert [word for word in find_banned_words(docs) if f"`{word}" not in docs] == []


def test_queries_have_the_words_of_the_views() -> None:
    words = set(re.findall(r"[a-z-]+", RUN_FIELDS["is"].partition(":")[2]))
    assert {word for word in words if word in set(RecordState)} >= {
        RecordState.REGRESSED,
        RecordState.COVERAGE_LOST,
        RecordState.FLAKY,
        RecordState.FIXED,
    }
    assert set(ALLOWED_VALUES["is"]) == {*SECTIONS, *EXTRA_MARKS, *(outcome.query_word for outcome in Outcome)}
    of_outcomes = {outcome.query_word for outcome in Outcome}
    assert set(re.findall(r"[a-z-]+", RUN_FIELDS["outcome"])) <= of_outcomes
