"""Keys that may do more or less than a record expects: which answers may be due to that, and which may not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from catalog_probe.catalog.model import Outcome, Reason, Response
from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.catalog.recognition.vocabulary import DocumentedAnswer, ProviderVocabulary
from catalog_probe.probes.judging.inconclusive.key_evidence import (
    EndpointAnswer,
    FaultFreeAnswer,
    FaultFreeResult,
    Fingerprint,
    KeyEvidence,
    TargetFacts,
)
from catalog_probe.probes.judging.inconclusive.rights import (
    explain_refusal_of_key,
    find_accepted_key,
    find_refused_key,
    find_repeated_refusal,
    is_accepted_key,
)
from catalog_probe.probes.judging.verdicts.verdict import Verdict
from tests.unit.probes.comparing import wanted
from tests.unit.probes.inconclusive.evidence_making import MISMATCH, error_body, evidence, stated
from tests.unit.probes.judging_one import HEADERS, known

FORBIDDEN = wanted(status=403)
OF_RIGHTS = ProviderVocabulary((DocumentedAnswer(FORBIDDEN, None, is_permission_refusal=True, is_key_refusal=False),))
CONFORMS, RESTRICTED = Verdict(Outcome.CONFORMS), Verdict(Outcome.RESTRICTED)
KEY = KeyEvidence(TargetFacts(key_name="PA_API_KEY"))


@pytest.mark.parametrize(
    ("status", "through"),
    [(199, False), (200, True), (204, True), (299, True), (300, False), (403, False), (500, False), (None, False)],
)
def test_a_success_in_place_of_a_permission_refusal_is_let_through(status: int | None, through: bool) -> None:
    assert is_accepted_key(evidence(FORBIDDEN, Response(status), of=OF_RIGHTS)) is through


@pytest.mark.parametrize(
    "change", [{"verdict": CONFORMS}, {"live": False}, {"expected": wanted(address="pa/errors/x/z")}]
)
def test_what_conforms_is_refused_for_something_else_or_came_from_a_mock_is_not(change: dict[str, Any]) -> None:
    assert not is_accepted_key(replace(evidence(FORBIDDEN, Response(200), of=OF_RIGHTS), **change))


@pytest.mark.parametrize(("own_key", "says_whose"), [(True, True), (False, False)])
def test_only_of_its_own_key_it_says_whose_account_to_look_at(own_key: bool, says_whose: bool) -> None:
    reason = find_accepted_key(evidence(FORBIDDEN, Response(200), of=OF_RIGHTS, own_key=own_key, key=KEY))
    assert reason is not None
    assert ("look at the account of PA_API_KEY" in reason.detail) is says_whose


def refusal(status: int, kind: str, message: str = "invalid x-api-key") -> Response:
    return Response(status, HEADERS, error_body(kind, message), "json")


LISTED, REFUSED = stated("pa/endpoints/models/list_models", "success"), refusal(401, "authentication_error")


@pytest.mark.parametrize(
    ("change", "response", "code"),
    [
        ({}, REFUSED, "account-trouble"),
        ({"verdict": CONFORMS}, REFUSED, None),
        ({"expected": stated("pa/errors/general/malformed_request")}, REFUSED, None),
        ({"own_key": False}, REFUSED, None),
        ({"live": False}, REFUSED, None),
        ({}, refusal(403, "permission_error"), None),
        ({}, refusal(401, "teapot_error"), None),
        ({"verdict": RESTRICTED}, refusal(403, "permission_error"), "probe-refused"),
        ({"verdict": RESTRICTED, "live": False}, refusal(403, "permission_error"), None),
    ],
    ids=[
        "refused",
        "conforms",
        "asked for",
        "another key",
        "a mock",
        "its rights",
        "no record",
        "restricted",
        "of a mock",
    ],
)
def test_a_good_key_that_is_refused_as_a_bad_one_is_kept_out(
    change: dict[str, Any], response: Response, code: str | None
) -> None:
    seen = replace(evidence(LISTED, response, of=known("pa"), key=KEY), **change)
    assert explain_refusal_of_key(seen) == code
    reason = find_refused_key(seen)
    assert (reason is not None) is (code == "account-trouble")
    assert reason is None or reason.detail.endswith("the key works for its control; look at the account of PA_API_KEY")


UNKNOWN_MODEL = stated("pa/errors/general/unknown_model")
NO_SCOPE = refusal(401, "authentication_error", "Missing scopes: files.")


REFUSALS = {Fingerprint(401, "Missing scopes: files."): ReasonCode.ACCOUNT_TROUBLE}
ANSWERED = EndpointAnswer("", Fingerprint(401, "Missing scopes: files."))
ON_REQUEST = KeyEvidence(
    success_refusals=REFUSALS, fault_free_answers={ANSWERED: FaultFreeAnswer(FaultFreeResult.DIFFERENT, "why")}
)


@pytest.mark.parametrize(
    ("words", "change", "applies"),
    [
        ((401, "Missing scopes: files."), {}, True),
        ((401, "Missing scopes: models."), {}, False),
        ((403, "Missing scopes: files."), {}, False),
        ((401, "Missing scopes: files."), {"verdict": CONFORMS}, False),
        ((401, "Missing scopes: files."), {"provokes_refusal": False}, False),
        ((401, "Missing scopes: files."), {"expected": stated("pa/errors/general/key_revoked")}, False),
        ((401, "Missing scopes: files."), {"expected": stated("pa/errors/general/permission_error")}, False),
        ((401, "Missing scopes: files."), {"key": ON_REQUEST}, False),
    ],
    ids=["alike", "other words", "status", "as documented", "another key", "asks for it", "asks for rights", "generic"],
)
def test_what_refuses_a_key_elsewhere_is_no_drift_of_an_error(
    words: tuple[int, str], change: dict[str, Any], applies: bool
) -> None:
    key = KeyEvidence(success_refusals={Fingerprint(*words): ReasonCode.ACCOUNT_TROUBLE})
    seen = evidence(UNKNOWN_MODEL, NO_SCOPE, MISMATCH, of=known("pa"), provokes_refusal=True, key=key)
    reason = find_repeated_refusal(replace(seen, **change))
    told = "the same 401 refused this key where a success is documented: Missing scopes: files."
    assert reason == (Reason("account-trouble", told) if applies else None)
