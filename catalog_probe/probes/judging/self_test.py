"""The self-test: judges a control's answer against an assertion that is false on purpose. Pure.

A judge that sees no drift in it would see none anywhere. Each day another part of the answer is tested, so that within
a week each way in which most drifts show has been.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.envelopes import load_envelope
from catalog_probe.catalog.evidence.completeness import self_test_address
from catalog_probe.catalog.evidence.results import Result
from catalog_probe.catalog.model import Attempt
from catalog_probe.catalog.model.assertion import Assertion, AssertionKey, Basis
from catalog_probe.catalog.model.exchange import CONTROL
from catalog_probe.catalog.reading.expectations import Expected
from catalog_probe.catalog.reading.response_headers import HeaderRule
from catalog_probe.probes.judging.inconclusive.key_evidence import KeyEvidence
from catalog_probe.probes.judging.inconclusive.settling import ProbedRecord, add_record, settle_record
from catalog_probe.probes.judging.judge import judge
from catalog_probe.probes.judging.verdicts.attempts import conclude_record

if TYPE_CHECKING:
    from datetime import date

    from catalog_probe.catalog.model import Exchange, Json
    from catalog_probe.catalog.recognition.vocabulary import ProviderVocabulary

# A header and a field that no provider has.
UNKNOWN_NAME = "catalog-probe-self-test"

SOURCE = "false on purpose"

# A status that no control is answered with.
TEAPOT = 418

# Returns the expectation with something false in it, the key of the false assertion, and what it says.
Falsification = Callable[[Expected], tuple[Expected, AssertionKey, "Json"]]


def self_test(
    lane: str, expected: Expected, control: Exchange, vocabulary: ProviderVocabulary, today: date, at: str
) -> Result:
    """Return the result of a lane's self-test; `expected` is what the control is truly answered with."""
    false_expected = falsify(expected, today)
    exchange = replace(control, label=CONTROL)
    attempt_verdict = judge([false_expected], Attempt(at, control.elapsed_ms, (exchange,)), vocabulary)
    verdict = conclude_record([attempt_verdict.step_verdicts] * 2)  # a drift needs two attempts that agree
    probed = ProbedRecord(expected.provider, [false_expected], vocabulary, live=True, faults={CONTROL: SOURCE})
    verdict = settle_record(add_record(probed, verdict, [exchange], KeyEvidence()))
    return Result(
        record=self_test_address(lane),
        probed_record={},
        outcome=verdict.outcome,
        reason=verdict.reason,
        findings=verdict.findings,
        observations=verdict.observations,
        observed_at=at,
        lane=lane,
    )


def falsify(expected: Expected, today: date) -> Expected:
    """Return what is expected of a control with one false assertion, another each day."""
    falsification = FALSIFICATIONS[today.toordinal() % len(FALSIFICATIONS)]
    false_expected, key, documented = falsification(expected)
    assertion = Assertion(expected.address, key, documented, Basis.DOCUMENTED, source=SOURCE)
    return replace(false_expected, assertions={str(key): assertion})


def _falsify_status(expected: Expected) -> tuple[Expected, AssertionKey, Json]:
    return replace(expected, status=TEAPOT), AssertionKey(CONTROL, "status"), TEAPOT


def _falsify_header(expected: Expected) -> tuple[Expected, AssertionKey, Json]:
    rule = HeaderRule(UNKNOWN_NAME, "present")
    return replace(expected, headers=(rule,)), AssertionKey(CONTROL, "header", UNKNOWN_NAME), "present"


def _falsify_field(expected: Expected) -> tuple[Expected, AssertionKey, Json]:
    pointer = f"/{UNKNOWN_NAME}"
    return replace(expected, fields={pointer: True}), AssertionKey(CONTROL, "body", pointer), True


def _falsify_body(expected: Expected) -> tuple[Expected, AssertionKey, Json]:
    return replace(expected, envelope=load_envelope("empty")), AssertionKey(CONTROL, "body"), "empty"


FALSIFICATIONS: Sequence[Falsification] = (_falsify_status, _falsify_header, _falsify_field, _falsify_body)
