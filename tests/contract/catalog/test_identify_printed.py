"""`identify` on answers as clients print them: no wrong record, no wrong advice, and nearly all named."""

from __future__ import annotations

from tests.harness.printed_answers import (
    Grade,
    grade_printed,
    identify_printed,
    is_advice_right,
    read_printed_answers,
)


def test_printed_answers_are_named_by_their_labels() -> None:
    answers = read_printed_answers()
    identities = [identify_printed(answer) for answer in answers]
    grades = [grade_printed(answer, identity) for answer, identity in zip(answers, identities, strict=True)]
    failures = [
        (grade, answer, identity.reasons)
        for grade, answer, identity in zip(grades, answers, identities, strict=True)
        if grade is Grade.WRONG or not is_advice_right(answer, identity)
    ]
    assert not failures
    assert grades.count(Grade.RIGHT) + grades.count(Grade.NONE) >= 0.9 * len(answers)
    assert grades.count(Grade.UNKNOWN) <= 0.03 * len(answers)


def test_exchanged_labels_are_wrong() -> None:
    """The measure compares with the label: held to the label of another answer, most are wrong."""
    answers = [answer for answer in read_printed_answers() if answer["record"] is not None]
    exchanged = [
        {**answer, "record": other["record"]} for answer, other in zip(answers, answers[5:] + answers[:5], strict=True)
    ]
    grades = [grade_printed(answer, identify_printed(answer)) for answer in exchanged]
    assert grades.count(Grade.RIGHT) + grades.count(Grade.FEW) < 0.1 * len(grades)
