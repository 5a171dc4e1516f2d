"""Real answers that people published are recognised as their rows, and those of other hosts with no certainty."""

from __future__ import annotations

import pytest

from tests.harness.captures import CAPTURES, known, of_providers, response_of
from tests.harness.recognising import WORN, Mark, identified, mark, of_file, right, worn

pytestmark = pytest.mark.skipif(not CAPTURES.exists(), reason="../shared/captures is not here")

SHARE = 0.95
NAMED_SHARE = 0.85
PROVIDERS = ("pa", "pb", "pc", "pd")


@pytest.mark.parametrize("with_headers", [True, False])
def test_none_is_named_wrongly_and_most_are_named(with_headers: bool) -> None:
    own = [each for each in of_file(CAPTURES) if each["provider"] != "none"]
    marks = {each["id"]: mark(each if with_headers else {**each, "headers": None}) for each in own}
    assert [name for name, each in marks.items() if each is Mark.WRONG_KEY] == []
    labelled = [each["id"] for each in own if isinstance(each["expect"], dict)]
    unnamed = [name for name in labelled if marks[name] is Mark.LEFT]
    assert len(unnamed) <= (1 - NAMED_SHARE) * len(labelled), unnamed


def test_one_section_is_not_another() -> None:
    """The measure counts the section: an answer of one section held to the same row of another is wrong."""
    own = [each for each in of_file(CAPTURES) if isinstance(each["expect"], dict) and mark(each) is Mark.NAMED]
    moved = [{**each, "expect": {**each["expect"], "section": "7.2"}} for each in own]
    assert len(moved) > 30
    assert {mark(each) for each in moved} == {Mark.WRONG_KEY}


@pytest.mark.parametrize("how", WORN)
def test_nearly_all_are_told_right_however_they_are_handed_over(how: str) -> None:
    own = [each for each in of_file(CAPTURES) if each["provider"] != "none" and right(each)]
    same = worn(own, how)
    wrong = [(each["id"], identified(each).records[:1]) for each in same if not right(each)]
    assert len(same) > 70
    assert len(wrong) <= (1 - SHARE) * len(same), wrong


def test_the_measure_itself_can_fail() -> None:
    """Held to the row of another answer, most answers are wrong."""
    own = [each for each in of_file(CAPTURES) if isinstance(each["expect"], dict)]
    exchanged = [
        {**one, "expect": other["expect"]}
        for one, other in zip(own, own[len(own) // 2 :] + own[: len(own) // 2], strict=True)
        if one["expect"] != other["expect"]
    ]
    assert sum(map(right, exchanged)) < 0.1 * len(exchanged)


def test_what_the_judge_recognises_to_the_letter_is_among_what_is_named() -> None:
    """Two machines, for two questions: how sure the judge must be, and what helps a person. They never disagree."""
    both = 0
    for each in of_providers():
        response = response_of(each)
        exact = {one.address for one in known(each["provider"].lower()).match_answers(response.status, response.body)}
        if exact:
            both += 1
            assert exact & {*identified(each).records}, each["id"]
    assert both > 30


def test_no_answer_of_another_host_is_named_with_certainty() -> None:
    others = [each for each in of_file(CAPTURES) if each["provider"] == "none"]
    found = [identified({**each, "provider": provider}) for each in others for provider in PROVIDERS]
    assert not any(each.record for each in found)
    assert sum(bool(each.candidates) for each in found) <= 2
