"""Of several results of one record the one that saw more is kept, then the later one; of a run's own, the fault."""

from __future__ import annotations

from itertools import permutations

import pytest

from catalog_probe.catalog.evidence.completeness import deduplicate_results
from catalog_probe.catalog.evidence.results import Result
from catalog_probe.catalog.model import Attempt, Outcome, Reason

RECORD, SELF_TEST = "pa/errors/general/x", "pa/harness/self_test/inference"
TRIED = (Attempt("", 1.0, ()),)


def result(outcome: Outcome, at: str = "", record: str = RECORD, *, tried: bool = False, detail: str = "") -> Result:
    reason = Reason("budget", detail) if detail else None
    return Result(record, {}, outcome, reason, attempts=TRIED if tried else (), observed_at=at)


@pytest.mark.parametrize(
    "better_first",
    [
        (result(Outcome.CONFORMS, "1"), result(Outcome.INCONCLUSIVE, "2", tried=True)),
        (result(Outcome.DRIFTED, "1"), result(Outcome.HARNESS_ERROR, "2")),
        (result(Outcome.INCONCLUSIVE, "1", tried=True), result(Outcome.INCONCLUSIVE, "2")),
        (result(Outcome.DRIFTED, "2", tried=True), result(Outcome.CONFORMS, "1", tried=True)),
        (result(Outcome.NOT_PROBED, detail="b"), result(Outcome.NOT_PROBED, detail="a")),
        (result(Outcome.HARNESS_ERROR, "1", SELF_TEST), result(Outcome.DRIFTED, "2", SELF_TEST, tried=True)),
        (result(Outcome.DRIFTED, "2", SELF_TEST), result(Outcome.CONFORMS, "1", SELF_TEST)),
    ],
)
def test_one_of_two_is_kept_whichever_comes_first(better_first: tuple[Result, Result]) -> None:
    for order in permutations(better_first):
        assert deduplicate_results(order) == [better_first[0]]


def test_each_stands_in_the_place_of_the_first_of_its_record() -> None:
    records = [f"pa/errors/general/{slug}" for slug in "cab"]
    results = [result(Outcome.CONFORMS, at, record) for at in "12" for record in records]
    assert deduplicate_results(results) == results[3:]
