"""Judges answers to our own requests, and tests that the judge sees drift. Pure.

The self-test compares an answer to a control with an assertion that is false on purpose. A judge that sees no drift
there would see none anywhere. Each day another part of the answer is false: the status, a header, a field or the body.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from catalog_probe.catalog.envelopes import load_envelope
from catalog_probe.catalog.evidence.completeness import self_test_address
from catalog_probe.catalog.evidence.results import Result
from catalog_probe.catalog.files.manifest import manifest
from catalog_probe.catalog.model import Attempt, Outcome, Reason
from catalog_probe.catalog.model.assertion import Assertion, AssertionKey, Basis
from catalog_probe.catalog.model.exchange import CONTROL
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.catalog.reading.expectations import Expected
from catalog_probe.catalog.reading.response_headers import HeaderRule
from catalog_probe.catalog.recognition.vocabulary import ProviderVocabulary
from catalog_probe.probes.judging.attempts import conclude_record
from catalog_probe.probes.judging.comparison.findings import quote
from catalog_probe.probes.judging.inconclusive.evidence import Evidence, KeyEvidence
from catalog_probe.probes.judging.inconclusive.foreign import is_refusal_in_text
from catalog_probe.probes.judging.inconclusive.provisional import ProbedRecord, finish_verdict, gather_key_evidence
from catalog_probe.probes.judging.inconclusive.table import ACCOUNT_RULE, TRANSIENT_RULES, find_reason
from catalog_probe.probes.judging.judge import judge
from catalog_probe.probes.judging.verdict import Verdict

if TYPE_CHECKING:
    from datetime import date

    from catalog_probe.catalog.model import Exchange, Json
    from catalog_probe.probes.calls import Call


SUCCESS_STATUS = 200
UNAUTHORIZED_STATUS = 401

_NO_RECORDS = ProviderVocabulary()


def expect_control(provider: str) -> Expected:
    """Return what a control must be answered with: 200 and JSON. The expectation belongs to no record."""
    return Expected(CONTROL, provider, load_envelope("json"), SUCCESS_STATUS)


def expect_proof(control: Call, provider: str) -> Expected:
    """Return what a control must be answered with, and the fields that prove that the provider answered.

    The manifest names the fields, e.g. `/data` for `GET /v1/models`.
    """
    return _cached_proof(control.method, control.path, provider)


@lru_cache(maxsize=128)
def _cached_proof(method: str, path: str, provider: str) -> Expected:
    controls = manifest(provider).controls.values()
    proof = next((control.proof for control in controls if (control.method, control.path) == (method, path)), ())
    return replace(expect_control(provider), fields=dict.fromkeys(proof, True))


def explain_account(exchange: Exchange, provider: str, vocabulary: ProviderVocabulary) -> Reason | None:
    """Return why an answer is no success although key and host work, e.g. the account has no credit."""
    return find_reason(_make_evidence(exchange, provider, vocabulary), [ACCOUNT_RULE])


def explain_transient(exchange: Exchange, provider: str) -> Reason | None:
    """Return why an answer is transient or a gateway's, and says nothing of the request, e.g. 503 with a page."""
    return find_reason(_make_evidence(exchange, provider, _NO_RECORDS), TRANSIENT_RULES)


def explain_silence(exchange: Exchange, provider: str) -> Reason | None:
    """Return why an answer says nothing of the key or the account.

    A refusal in plain text is an edge's and may be gone in a while, e.g. 403 `error code: 1020`. A 401 in plain text is
    about the key.
    """
    response, reason = exchange.response, explain_transient(exchange, provider)
    if reason is not None or response is None or response.status == UNAUTHORIZED_STATUS:
        return reason
    is_plain_text = is_refusal_in_text(expect_control(provider), response)
    return Reason(ReasonCode.GATEWAY_PAGE, quote(response)) if is_plain_text else None


def _make_evidence(exchange: Exchange, provider: str, vocabulary: ProviderVocabulary) -> Evidence:
    return Evidence(expect_control(provider), exchange, Verdict(Outcome.DRIFTED), vocabulary, live=True)


# A header and a field that no provider has.
UNKNOWN_NAME = "catalog-probe-self-test"

SOURCE = "false on purpose"

# The status that a false expectation documents: no control is answered with it.
TEAPOT = 418

# Returns the expectation with something false in it, the key of the false assertion, and what it says.
Falsification = Callable[[Expected], tuple[Expected, AssertionKey, "Json"]]


def self_test(
    lane: str, expected: Expected, control: Exchange, vocabulary: ProviderVocabulary, today: date, at: str
) -> Result:
    """Return the result of a lane's self-test, which must be a drift; `expected` is the true expectation."""
    false_expected = falsify(expected, today)
    exchange = replace(control, label=CONTROL)
    attempt_verdict = judge([false_expected], Attempt(at, control.elapsed_ms, (exchange,)), vocabulary)
    verdict = conclude_record([attempt_verdict.step_verdicts] * 2)  # a drift needs two attempts that agree
    probed = ProbedRecord(expected.provider, [false_expected], vocabulary, live=True, faults={CONTROL: SOURCE})
    verdict = finish_verdict(gather_key_evidence(probed, verdict, [exchange], KeyEvidence()))
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
    """Return the expectation of a control with one false assertion, another each day, e.g. status 418 for 200."""
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
