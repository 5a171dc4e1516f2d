"""The self-test: a control's answer, judged once more against an assertion that is false on purpose. Pure.

A judge that sees nothing wrong in it would see no drift either. Each day another side of the answer is lied about, so
that in a week each way in which most drifts show has been walked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.envelopes.envelope import envelope
from catalog_probe.catalog.evidence.harness_results import self_test_address
from catalog_probe.catalog.evidence.results import Result
from catalog_probe.catalog.model import Attempt
from catalog_probe.catalog.model.assertion import Assertion, AssertionKey, Basis
from catalog_probe.catalog.model.labels import CONTROL
from catalog_probe.catalog.reading.expected import Expected
from catalog_probe.catalog.reading.headers import HeaderRule
from catalog_probe.probes.judging.inconclusive.key_evidence import KeyEvidence
from catalog_probe.probes.judging.inconclusive.record import Probed, add_record, settle_record
from catalog_probe.probes.judging.judge import judge
from catalog_probe.probes.judging.verdicts.attempts import conclude_record

if TYPE_CHECKING:
    from datetime import date

    from catalog_probe.catalog.model import Exchange, Json
    from catalog_probe.catalog.recognition.vocabulary import ProviderVocabulary

NOWHERE = "catalog-probe-self-test"
"""A header and a field that no provider has."""

ON_PURPOSE = "false on purpose"
TEAPOT = 418
"""A status that no control is answered with."""

Lie = Callable[[Expected], tuple[Expected, AssertionKey, "Json"]]


def self_test(
    lane: str, expected: Expected, control: Exchange, known: ProviderVocabulary, today: date, at: str
) -> Result:
    """The result of a lane's self-test; `expected` is what the control is truly answered with."""
    lie = false_assertion(expected, today)
    exchange = replace(control, label=CONTROL)
    seen = judge([lie], Attempt(at, control.elapsed_ms, (exchange,)), known)
    drift = conclude_record([seen.step_verdicts] * 2)  # two attempts that agree, as a drift needs them
    probed = Probed(expected.provider, [lie], known, live=True, faults={CONTROL: ON_PURPOSE})
    final = settle_record(add_record(probed, drift, [exchange], KeyEvidence()))
    return Result(
        record=self_test_address(lane),
        probed_record={},
        outcome=final.outcome,
        reason=final.reason,
        findings=final.findings,
        observations=final.observations,
        observed_at=at,
        lane=lane,
    )


def false_assertion(expected: Expected, today: date) -> Expected:
    """What is expected of a control, with one lie in it: another each day."""
    lie, key, documented = LIES[today.toordinal() % len(LIES)](expected)
    stated = Assertion(expected.address, key, documented, Basis.DOCUMENTED, source=ON_PURPOSE)
    return replace(lie, assertions={str(key): stated})


def _status(expected: Expected) -> tuple[Expected, AssertionKey, Json]:
    return replace(expected, status=TEAPOT), AssertionKey(CONTROL, "status"), TEAPOT


def _header(expected: Expected) -> tuple[Expected, AssertionKey, Json]:
    rule = HeaderRule(NOWHERE, "present")
    return replace(expected, headers=(rule,)), AssertionKey(CONTROL, "header", NOWHERE), "present"


def _field(expected: Expected) -> tuple[Expected, AssertionKey, Json]:
    place = f"/{NOWHERE}"
    return replace(expected, fields={place: True}), AssertionKey(CONTROL, "body", place), True


def _body(expected: Expected) -> tuple[Expected, AssertionKey, Json]:
    return replace(expected, envelope=envelope("empty")), AssertionKey(CONTROL, "body"), "empty"


LIES: Sequence[Lie] = (_status, _header, _field, _body)
