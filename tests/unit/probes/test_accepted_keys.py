"""A success in place of a documented permission refusal may be due to the key: the cells for which that is so."""

from __future__ import annotations

import pytest

from catalog_probe.catalog.model import Exchange, Outcome, Request, Response
from catalog_probe.catalog.recognition.known import Known, KnownAnswer
from catalog_probe.probes.judging.inconclusive.accepted_keys import accepted_keys
from catalog_probe.probes.judging.verdicts.verdict import Verdict
from tests.unit.probes.comparing import wanted

REQUEST = Request("GET", "https://x")
REFUSAL, OTHER = wanted(label="answer", status=403), wanted(label="other", address="pa/errors/x/other")
KNOWN = Known(
    (
        KnownAnswer(REFUSAL, None, permission=True, of_the_key=False),
        KnownAnswer(OTHER, None, permission=False, of_the_key=False),
    )
)
HERE, THERE = "pa/endpoints/a/here", "pa/endpoints/a/there"


def let(exchanges: list[Exchange], outcome: Outcome = Outcome.DRIFTED) -> list[tuple[str, str]]:
    places = [("other", HERE), ("answer", HERE), ("answer", THERE)]
    verdict = Verdict(outcome, cells={place: Verdict(outcome) for place in places})
    return list(accepted_keys(verdict, (REFUSAL, OTHER), exchanges, KNOWN, "pa"))


def answered(status: int | None, label: str = "answer", endpoint: str = HERE) -> Exchange:
    return Exchange(label, REQUEST, Response(status), endpoint=endpoint)


@pytest.mark.parametrize(
    ("status", "through"),
    [(199, False), (200, True), (204, True), (299, True), (300, False), (403, False), (500, False), (None, False)],
)
def test_a_success_is_let_through(status: int | None, through: bool) -> None:
    assert let([answered(status)]) == ([("answer", HERE)] if through else [])


def test_each_cell_is_let_through_by_its_own_answer() -> None:
    assert let([answered(404), answered(200, endpoint=THERE)]) == [("answer", THERE)]
    assert let([Exchange("answer", REQUEST, endpoint=HERE), answered(200, endpoint=THERE)]) == [("answer", THERE)]


def test_what_does_not_drift_or_refuses_for_another_reason_is_not() -> None:
    assert let([answered(200)], Outcome.CONFORMS) == []
    assert let([answered(200, "other")]) == []
