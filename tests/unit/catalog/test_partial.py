"""Whether a verdict rests on a part of what its record states."""

from __future__ import annotations

import pytest

from catalog_probe.catalog.evidence.results import Result
from catalog_probe.catalog.evidence.verdicts.partial import in_part
from catalog_probe.catalog.model import Aspect, Finding, Outcome, Severity
from catalog_probe.catalog.model.codes import FindingCode
from catalog_probe.catalog.model.look import Look


def result(*looks: Look, code: str = FindingCode.UNDOCUMENTED_HEADER) -> Result:
    told = Finding(code, Aspect.STATE, Severity.INFO, "")
    return Result("pa/errors/x/y", {}, Outcome.CONFORMS, findings=(told,), looks=looks)


def look(endpoint: str = "a", label: str = "answer", seen: str = "status", **unseen: str) -> Look:
    return Look(endpoint, label, as_stated=(seen,), unseen=unseen)


@pytest.mark.parametrize(
    ("looks", "part"),
    [
        ([], False),
        ([look()], False),
        ([look(message="no-body")], True),
        ([look(message="not-shown")], False),
        ([look(message="no-body"), look("b", seen="message")], False),
        ([look(message="no-body"), look("b", "other", seen="message")], True),
        ([look(message="no-body"), Look("b", "answer", otherwise={"message": "absent"})], False),
        ([look(), look("b", message="no-body")], True),
    ],
)
def test_what_was_looked_for_and_seen_nowhere_is_missing(looks: list[Look], part: bool) -> None:
    assert in_part(result(*looks)) is part


def test_so_is_what_nobody_looked_at() -> None:
    assert in_part(result(look(), code=FindingCode.NOT_LOOKED_AT))
