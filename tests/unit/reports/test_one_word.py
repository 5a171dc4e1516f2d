"""One thing has one word, wherever it is told: in the page, the terminal, the summary, the annotations and the docs."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.model import Outcome
from catalog_probe.catalog.model.outcome import OUTCOME_WORDS
from catalog_probe.catalog.search.query import RUN_FIELDS
from catalog_probe.catalog.search.values import ALLOWED_VALUES, EXTRA_MARKS, SECTIONS
from catalog_probe.reports.content.overview import Overview
from catalog_probe.reports.content.sections import MEANINGS, SectionName
from catalog_probe.reports.content.words import OUTCOMES
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


@pytest.fixture(scope="module", params=["full", "fifty"])
def told(request: pytest.FixtureRequest) -> tuple[Run, list[Result], dict[str, str]]:
    described, results = sample.make_full_run() if request.param == "full" else sample.make_run_with_fifty_drifts(5)
    views = {
        "page": Text(html.render(described, results)).words,
        "terminal": " ".join(terminal.render(described, results).split()),
        "summary": summary.render(described, results),
    }
    return described, results, views


def test_each_section_has_one_heading_and_one_number(told: tuple[Run, list[Result], dict[str, str]]) -> None:
    described, results, views = told
    for section in Overview(described, results).sections:
        heading, number = section.name.heading, len(section.records)
        assert f"{number} {heading.lower()}" in views["page"], "in the tally"
        assert f"{number} {heading.lower()}" in views["summary"], "in the tally"
        if section.name is not SectionName.CONFORMS:
            pattern = rf"{heading} \({number}( records?, \d+ causes?)?\)"
            assert re.search(pattern, views["terminal"]), heading
            assert section.name in (SectionName.NOT_PROBED, SectionName.RESTRICTED) or re.search(
                pattern, views["summary"]
            ), heading
            assert f"{heading} {number} record" in views["page"], heading


def test_an_outcome_has_one_name(told: tuple[Run, list[Result], dict[str, str]]) -> None:
    described, results, views = told
    for outcome in {record.outcome for record in Overview(described, results).records}:
        for view, text in views.items():
            assert OUTCOMES[outcome] in text, (outcome, view)


def find_banned_words(text: str) -> list[str]:
    """Which of those words stand in a text, as words of their own."""
    lower = text.lower()
    return [word for word in BANNED_WORDS if word in lower and re.search(rf"\b{word}\b", lower)]


def test_no_other_word_is_used(told: tuple[Run, list[Result], dict[str, str]]) -> None:
    _, _, views = told
    for view, text in views.items():
        assert find_banned_words(text) == [], view


def test_the_docs_have_the_words_of_the_views() -> None:
    docs = DOCS.read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([a-z, ]+) \| ", docs.partition("| section |")[2], re.MULTILINE)
    names = [each for row in rows for each in row.split(", ")]
    assert names == [name.heading.lower() for name in SectionName], "in the order in which the page has them"
    assert [each for each in find_banned_words(docs) if f"`{each}" not in docs] == []


def test_a_query_speaks_of_sections_and_outcomes_as_the_views_do() -> None:
    assert set(MEANINGS) == set(SectionName)
    words = set(re.findall(r"[a-z-]+", RUN_FIELDS["is"].partition(":")[2]))
    assert {each for each in words if each in set(SectionName)} >= {
        SectionName.REGRESSED,
        SectionName.LOST,
        SectionName.FLAKY,
        SectionName.FIXED,
    }
    assert tuple(SectionName) == SECTIONS
    assert set(ALLOWED_VALUES["is"]) == {*SectionName, *EXTRA_MARKS, *OUTCOME_WORDS.values()} - {
        "not probed",
        "our fault",
    }
    of_outcomes = {OUTCOMES[outcome].replace(" ", "-") for outcome in Outcome}
    assert set(re.findall(r"[a-z-]+", RUN_FIELDS["outcome"])) <= of_outcomes
