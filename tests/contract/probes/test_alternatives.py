"""Each alternative that the documents allow conforms; any other value differs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.model import Outcome, Response, Severity
from catalog_probe.catalog.model.assertion import Basis
from catalog_probe.catalog.reading.assertions import asserted_expectations
from catalog_probe.catalog.text.json_values import ABSENT, find_value
from tests.contract.catalog.envelope_examples import ENVELOPES
from tests.harness.captures import judge_response
from tests.harness.engines import catalog
from tests.harness.spoiling import SPOILED, set_value

if TYPE_CHECKING:
    import pytest

    from catalog_probe.catalog.model.assertion import Assertion
    from catalog_probe.catalog.reading.expectations import Expected

SAMPLES = {"seconds": "7", "integer": "7", "rfc3339": "2126-11-21T00:00:00Z", "duration": "7s"}


@dataclass(frozen=True)
class Choice:
    """One label of a record with what is left to choice under it."""

    expected: Expected

    @property
    def open_assertions(self) -> list[Assertion]:
        return [assertion for assertion in self.expected.assertions.values() if assertion.alternatives]

    def answer(self, values: dict[str, Any]) -> Response:
        """The documented answer, with these values in the places of what is left to choice."""
        expected, envelope = self.expected, self.expected.envelope
        body = ENVELOPES[envelope.name].good[0]
        for aspect, value in expected.wire.items():
            body = set_value(body, envelope.wire[aspect], value)
        if find_value(body, envelope.wire.get("http_status", "/nowhere")) is not ABSENT:
            body = set_value(body, envelope.wire["http_status"], expected.body_status)
        status = expected.status
        for assertion in self.open_assertions:
            value = values.get(str(assertion.key), assertion.documented)
            if assertion.key.local_key == "status":
                status = value
            else:
                body = set_value(body, assertion.key.location or envelope.wire[assertion.key.aspect], value)
        headers = {
            rule.name: rule.value or SAMPLES.get(rule.format or "", "req_1")
            for rule in expected.headers
            if rule.rule != "absent"
        }
        return Response(status, headers, body, "json")


@cache
def choices() -> tuple[Choice, ...]:
    return tuple(
        Choice(expected)
        for record in catalog().records
        for expected in asserted_expectations(record, catalog().__getitem__)
        if any(assertion.alternatives for assertion in expected.assertions.values()) and expected.alternative is None
    )


def test_alternatives_exist_for_each_aspect() -> None:
    aspects = {assertion.key.aspect for choice in choices() for assertion in choice.open_assertions}
    assert aspects == {"status", "type", "code", "param"}
    with_alternatives = {str(record.address) for record in catalog().records if record.data.get("alternatives")}
    assert with_alternatives <= {choice.expected.address for choice in choices()}


def test_each_alternative_conforms(subtests: pytest.Subtests) -> None:
    for member in [0, 1]:
        with subtests.test(member=member):
            for choice in choices():
                values = {str(assertion.key): assertion.alternatives[member] for assertion in choice.open_assertions}
                # one step is not the whole record, so only its own verdict counts
                (verdict,) = judge_response(choice.answer(values), choice.expected).step_verdicts.values()
                assert verdict.outcome is Outcome.CONFORMS, (choice.expected.address, verdict.reason, verdict.findings)
                (observation,) = verdict.observations
                assert {assertion.key.local_key for assertion in choice.open_assertions} <= set(observation.matched)


def test_a_value_beyond_the_alternatives_is_drift_if_they_are_documented() -> None:
    for choice in choices():
        for assertion in choice.open_assertions:
            local_key = assertion.key.local_key
            other_value: Any = 418 if assertion.key.aspect == "status" else SPOILED
            verdict = judge_response(choice.answer({str(assertion.key): other_value}), choice.expected)
            (finding,) = [finding for finding in verdict.findings if finding.assertion == str(assertion.key)]
            documented = assertion.basis is Basis.DOCUMENTED
            assert finding.severity is (Severity.MUST if documented else Severity.SHOULD)
            assert (verdict.outcome is Outcome.DRIFTED) is documented, (
                choice.expected.address,
                local_key,
                verdict.reason,
            )


def test_without_alternatives_the_second_value_mismatches() -> None:
    """Shows that `test_each_alternative_conforms` can fail."""
    for choice in choices():
        assertions = {key: replace(assertion, alternatives=()) for key, assertion in choice.expected.assertions.items()}
        strict = replace(choice.expected, assertions=assertions)
        second = choice.answer({str(assertion.key): assertion.alternatives[1] for assertion in choice.open_assertions})
        (observation,) = judge_response(second, strict).observations
        assert not {assertion.key.local_key for assertion in choice.open_assertions} & set(observation.matched), (
            choice.expected.address
        )
