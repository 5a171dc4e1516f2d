"""`identify` on published answers: its row is recognised, another host's is not."""

from __future__ import annotations

import pytest

from tests.harness.captures import CAPTURES, list_answers, load_vocabulary, make_response
from tests.harness.recognising import DISGUISES, Grade, disguise, grade, identify_capture, is_right, read_captures

pytestmark = pytest.mark.skipif(not CAPTURES.exists(), reason="../shared/captures is not here")

SHARE = 0.95
NAMED_SHARE = 0.85
PROVIDERS = ("pa", "pb", "pc", "pd")


@pytest.mark.parametrize("with_headers", [True, False])
def test_most_captures_are_recognised_and_none_wrongly(with_headers: bool) -> None:
    own = [capture for capture in read_captures(CAPTURES) if capture["provider"] != "none"]
    marks = {capture["id"]: grade(capture if with_headers else {**capture, "headers": None}) for capture in own}
    assert [name for name, given in marks.items() if given is Grade.WRONG] == []
    labelled = [capture["id"] for capture in own if isinstance(capture["expect"], dict)]
    unnamed = [name for name in labelled if marks[name] is Grade.LEFT]
    assert len(unnamed) <= (1 - NAMED_SHARE) * len(labelled), unnamed


def test_a_capture_held_to_another_section_is_wrong() -> None:
    """The measure counts the section: an answer of one section held to the same row of another is wrong."""
    own = [
        capture
        for capture in read_captures(CAPTURES)
        if isinstance(capture["expect"], dict) and grade(capture) is Grade.NAMED
    ]
    moved = [{**capture, "expect": {**capture["expect"], "section": "7.2"}} for capture in own]
    assert len(moved) > 30
    assert {grade(capture) for capture in moved} == {Grade.WRONG}


@pytest.mark.parametrize("how", DISGUISES)
def test_nearly_all_captures_are_recognised_however_they_are_pasted(how: str) -> None:
    own = [capture for capture in read_captures(CAPTURES) if capture["provider"] != "none" and is_right(capture)]
    same = disguise(own, how)
    wrong = [(capture["id"], identify_capture(capture).records[:1]) for capture in same if not is_right(capture)]
    assert len(same) > 70
    assert len(wrong) <= (1 - SHARE) * len(same), wrong


def test_captures_held_to_other_rows_are_wrong() -> None:
    """Held to the row of another answer, most answers are wrong."""
    own = [capture for capture in read_captures(CAPTURES) if isinstance(capture["expect"], dict)]
    exchanged = [
        {**capture, "expect": other["expect"]}
        for capture, other in zip(own, own[len(own) // 2 :] + own[: len(own) // 2], strict=True)
        if capture["expect"] != other["expect"]
    ]
    assert sum(map(is_right, exchanged)) < 0.1 * len(exchanged)


def test_identify_names_what_the_judge_matches_exactly() -> None:
    """Two machines, for two questions: how sure the judge must be, and what helps a person. They never disagree."""
    both = 0
    for capture in list_answers():
        response = make_response(capture)
        exact = {
            match.address
            for match in load_vocabulary(capture["provider"].lower()).match_answers(response.status, response.body)
        }
        if exact:
            both += 1
            assert exact & {*identify_capture(capture).records}, capture["id"]
    assert both > 30


def test_answers_of_other_hosts_are_never_named_with_certainty() -> None:
    others = [capture for capture in read_captures(CAPTURES) if capture["provider"] == "none"]
    results = [identify_capture({**other, "provider": provider}) for other in others for provider in PROVIDERS]
    assert not any(result.record for result in results)
    assert sum(bool(result.candidates) for result in results) <= 2
