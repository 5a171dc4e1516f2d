"""Whether a verdict rests on only a part of the assertions of its record."""

from __future__ import annotations

from catalog_probe.catalog.evidence.results import Result
from catalog_probe.catalog.evidence.verdicts.partial import is_partial
from catalog_probe.catalog.model import Aspect, Finding, Outcome, Severity
from catalog_probe.catalog.model.codes import FindingCode
from catalog_probe.catalog.model.observation import Observation


def make_result(*observations: Observation, code: str = FindingCode.UNDOCUMENTED_HEADER) -> Result:
    finding = Finding(code, Aspect.STATE, Severity.INFO, "")
    return Result("pa/errors/x/y", {}, Outcome.CONFORMS, findings=(finding,), observations=observations)


def make_observation(
    endpoint: str = "a", label: str = "answer", matched: str = "status", **not_observed: str
) -> Observation:
    return Observation(endpoint, label, matched=(matched,), not_observed=not_observed)


def test_an_assertion_observed_on_no_endpoint_makes_a_result_partial() -> None:
    cases: list[tuple[list[Observation], bool]] = [
        ([], False),
        ([make_observation()], False),
        ([make_observation(message="no-body")], True),
        ([make_observation(message="not-shown")], False),
        ([make_observation(message="no-body"), make_observation("b", matched="message")], False),
        ([make_observation(message="no-body"), make_observation("b", "other", matched="message")], True),
        ([make_observation(message="no-body"), Observation("b", "answer", mismatched={"message": "absent"})], False),
        ([make_observation(), make_observation("b", message="no-body")], True),
    ]
    for observations, part in cases:
        assert is_partial(make_result(*observations)) is part


def test_a_step_that_was_not_observed_makes_a_result_partial() -> None:
    assert is_partial(make_result(make_observation(), code=FindingCode.NOT_OBSERVED))
