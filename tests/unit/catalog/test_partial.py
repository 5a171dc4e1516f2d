"""Whether a verdict rests on a part of what its record states."""

from __future__ import annotations

import pytest

from catalog_probe.catalog.evidence.results import Result
from catalog_probe.catalog.evidence.verdicts.partial import is_partial
from catalog_probe.catalog.model import Aspect, Finding, Outcome, Severity
from catalog_probe.catalog.model.codes import FindingCode
from catalog_probe.catalog.model.observation import Observation


def result(*observations: Observation, code: str = FindingCode.UNDOCUMENTED_HEADER) -> Result:
    told = Finding(code, Aspect.STATE, Severity.INFO, "")
    return Result("pa/errors/x/y", {}, Outcome.CONFORMS, findings=(told,), observations=observations)


def observation(endpoint: str = "a", label: str = "answer", seen: str = "status", **unseen: str) -> Observation:
    return Observation(endpoint, label, matched=(seen,), not_observed=unseen)


@pytest.mark.parametrize(
    ("observations", "part"),
    [
        ([], False),
        ([observation()], False),
        ([observation(message="no-body")], True),
        ([observation(message="not-shown")], False),
        ([observation(message="no-body"), observation("b", seen="message")], False),
        ([observation(message="no-body"), observation("b", "other", seen="message")], True),
        ([observation(message="no-body"), Observation("b", "answer", mismatched={"message": "absent"})], False),
        ([observation(), observation("b", message="no-body")], True),
    ],
)
def test_what_was_looked_for_and_seen_nowhere_is_missing(observations: list[Observation], part: bool) -> None:
    assert is_partial(result(*observations)) is part


def test_so_is_what_nobody_looked_at() -> None:
    assert is_partial(result(observation(), code=FindingCode.NOT_OBSERVED))
