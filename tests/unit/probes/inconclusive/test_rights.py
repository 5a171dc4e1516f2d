"""Keys with more or fewer rights than a record expects: which mismatches may be due to that."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.model import Outcome, Reason, Response
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.catalog.recognition.vocabulary import DocumentedAnswer, ProviderVocabulary
from catalog_probe.probes.judging.inconclusive.account import (
    explain_refusal_of_key,
    find_accepted_key,
    find_refused_key,
    find_repeated_refusal,
    is_accepted_key,
)
from catalog_probe.probes.judging.inconclusive.evidence import (
    Fingerprint,
    KeyEvidence,
    TargetFacts,
)
from catalog_probe.probes.judging.verdict import Verdict
from tests.unit.probes.comparing import make_expected
from tests.unit.probes.inconclusive.evidence_making import MISMATCH, error_body, load_expected, make_evidence
from tests.unit.probes.judging_one import HEADERS, load_vocabulary

if TYPE_CHECKING:
    import pytest

FORBIDDEN = make_expected(status=403)
VOCABULARY = ProviderVocabulary((DocumentedAnswer(FORBIDDEN, None, is_permission_refusal=True, is_key_refusal=False),))
CONFORMS, RESTRICTED = Verdict(Outcome.CONFORMS), Verdict(Outcome.RESTRICTED)
KEY = KeyEvidence(TargetFacts(key_name="PA_API_KEY"))


def test_success_in_place_of_a_permission_refusal_is_an_accepted_key(subtests: pytest.Subtests) -> None:
    cases: list[tuple[int | None, bool]] = [
        (199, False),
        (200, True),
        (204, True),
        (299, True),
        (300, False),
        (403, False),
        (500, False),
        (None, False),
    ]
    for status, is_accepted in cases:
        with subtests.test(status=status):
            assert is_accepted_key(make_evidence(FORBIDDEN, Response(status), vocabulary=VOCABULARY)) is is_accepted


def test_no_accepted_key_if_conforming_or_other_refusal_or_mock(subtests: pytest.Subtests) -> None:
    cases: list[dict[str, Any]] = [
        {"verdict": CONFORMS},
        {"live": False},
        {"expected": make_expected(address="pa/errors/x/z")},
    ]
    for change in cases:
        with subtests.test(change=change):
            assert not is_accepted_key(
                replace(make_evidence(FORBIDDEN, Response(200), vocabulary=VOCABULARY), **change)
            )


def test_reason_names_the_account_only_for_the_lanes_key(subtests: pytest.Subtests) -> None:
    cases: list[tuple[bool, bool]] = [(True, True), (False, False)]
    for own_key, names_account in cases:
        with subtests.test(own_key=own_key):
            reason = find_accepted_key(
                make_evidence(FORBIDDEN, Response(200), vocabulary=VOCABULARY, own_key=own_key, key=KEY)
            )
            assert reason is not None
            assert ("look at the account of PA_API_KEY" in reason.detail) is names_account


def make_refusal(status: int, kind: str, message: str = "invalid x-api-key") -> Response:
    return Response(status, HEADERS, error_body(kind, message), "json")


LIST_MODELS, KEY_REFUSED = (
    load_expected("pa/endpoints/models/list_models", "success"),
    make_refusal(401, "authentication_error"),
)


def test_working_key_refused_as_bad_is_account_trouble(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, dict[str, Any], Response, str | None]] = [
        ("refused", {}, KEY_REFUSED, "account-trouble"),
        ("conforms", {"verdict": CONFORMS}, KEY_REFUSED, None),
        ("asked for", {"expected": load_expected("pa/errors/general/malformed_request")}, KEY_REFUSED, None),
        ("another key", {"own_key": False}, KEY_REFUSED, None),
        ("a mock", {"live": False}, KEY_REFUSED, None),
        ("its rights", {}, make_refusal(403, "permission_error"), None),
        ("no record", {}, make_refusal(401, "teapot_error"), None),
        ("restricted", {"verdict": RESTRICTED}, make_refusal(403, "permission_error"), "probe-refused"),
        ("of a mock", {"verdict": RESTRICTED, "live": False}, make_refusal(403, "permission_error"), None),
    ]
    for case, change, response, code in cases:
        with subtests.test(case=case):
            evidence = replace(
                make_evidence(LIST_MODELS, response, vocabulary=load_vocabulary("pa"), key=KEY), **change
            )
            assert explain_refusal_of_key(evidence) == code
            reason = find_refused_key(evidence)
            assert (reason is not None) is (code == "account-trouble")
            assert reason is None or reason.detail.endswith(
                "the key works for its control; look at the account of PA_API_KEY"
            )


UNKNOWN_MODEL = load_expected("pa/errors/general/unknown_model")
NO_SCOPE = make_refusal(401, "authentication_error", "Missing scopes: files.")


def test_repeated_key_refusal_is_no_drift_of_an_error(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, tuple[int, str], dict[str, Any], bool]] = [
        ("alike", (401, "Missing scopes: files."), {}, True),
        ("other words", (401, "Missing scopes: models."), {}, False),
        ("status", (403, "Missing scopes: files."), {}, False),
        ("as documented", (401, "Missing scopes: files."), {"verdict": CONFORMS}, False),
        ("another key", (401, "Missing scopes: files."), {"own_key": False}, False),
        (
            "asks for it",
            (401, "Missing scopes: files."),
            {"expected": load_expected("pa/errors/general/key_revoked")},
            False,
        ),
        (
            "asks for rights",
            (401, "Missing scopes: files."),
            {"expected": load_expected("pa/errors/general/permission_error")},
            False,
        ),
    ]
    for case, fingerprint, change, applies in cases:
        with subtests.test(case=case):
            key = KeyEvidence(rights_refusals={Fingerprint(*fingerprint): ReasonCode.ACCOUNT_TROUBLE})
            evidence = make_evidence(UNKNOWN_MODEL, NO_SCOPE, MISMATCH, vocabulary=load_vocabulary("pa"), key=key)
            reason = find_repeated_refusal(replace(evidence, **change))
            detail = "the same 401 refused this key where a success is documented: Missing scopes: files."
            assert reason == (Reason("account-trouble", detail) if applies else None)
