"""Judging step by step: one label on several endpoints, and what one of them shows says nothing of the others."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.catalog.evidence import drift_identity
from catalog_probe.catalog.model import Aspect, Attempt, Exchange, Outcome, Reason, Request, Response, Severity
from catalog_probe.catalog.reading.assertions import asserted_expectations
from catalog_probe.catalog.recognition.vocabulary import ProviderVocabulary
from catalog_probe.probes.judging.judge import judge
from catalog_probe.probes.judging.verdicts.not_observed import not_observed_finding
from tests.harness.engines import catalog

if TYPE_CHECKING:
    from catalog_probe.probes.judging.verdicts.verdict import Verdict

REVOKED = "pa/errors/general/key_revoked"
MODELS, COUNT, FILES = (
    "pa/endpoints/models/list_models",
    "pa/endpoints/messages/count_tokens",
    "pa/endpoints/files/list_files",
)
NO_TWO_ALIKE = "pa/errors/compliance/request_not_authenticated"
HEADERS = {"request-id": "req_1", "x-should-retry": "false"}
BODY = {
    "type": "error",
    "error": {"type": "authentication_error", "message": "invalid x-api-key"},
    "request_id": "req_1",
}
STATED = Response(401, HEADERS, BODY, "json")
OTHER_STATUS = replace(STATED, status=403)
BUSY = Response(529, HEADERS, BODY, "json")
GONE = Response(404, HEADERS, {**BODY, "error": {"type": "not_found_error", "message": "no"}}, "json")


def sent(response: Response | None, endpoint: str, label: str = "answer") -> Exchange:
    failure = None if response is not None else Reason("connection-reset")
    return Exchange(label, Request("GET", f"https://x/{endpoint}"), response, failure, endpoint=endpoint)


def judged(*exchanges: Exchange, address: str = REVOKED) -> Verdict:
    records = catalog()
    expected = asserted_expectations(records[address], records.__getitem__)
    known = ProviderVocabulary.from_records(records.select(provider=address.partition("/")[0]))
    return judge(tuple(expected), Attempt("", 0.0, exchanges), known)


def test_a_label_may_have_an_exchange_on_each_endpoint() -> None:
    verdict = judged(sent(STATED, MODELS), sent(STATED, COUNT))
    assert verdict.outcome is Outcome.CONFORMS
    assert {observation.endpoint for observation in verdict.observations} == {MODELS, COUNT}
    assert all("status" in observation.matched for observation in verdict.observations)


def test_a_difference_on_one_endpoint_is_a_drift_that_names_it_and_leaves_the_others() -> None:
    verdict = judged(sent(STATED, MODELS), sent(OTHER_STATUS, COUNT), sent(STATED, FILES))
    assert verdict.outcome is Outcome.DRIFTED
    (drift,) = (each for each in verdict.findings if each.is_drift)
    assert (drift.assertion, drift.endpoints) == ("answer/status", (COUNT,))
    observations = {observation.endpoint: observation for observation in verdict.observations}
    assert observations[COUNT].mismatched == {"status": "403"}
    assert "status" in observations[MODELS].matched
    assert "status" in observations[FILES].matched


def test_the_same_difference_on_several_endpoints_is_one_finding_that_lists_them() -> None:
    verdict = judged(sent(OTHER_STATUS, MODELS), sent(OTHER_STATUS, COUNT), sent(STATED, FILES))
    assert [each.endpoints for each in verdict.findings if each.is_drift] == [(MODELS, COUNT)]
    alone = judged(sent(OTHER_STATUS, FILES))
    assert drift_identity.identify_drift(verdict.findings) == drift_identity.identify_drift(alone.findings)
    assert verdict.drift_keys != alone.drift_keys


def test_two_attempts_agree_only_where_they_differ_on_the_same_endpoints() -> None:
    here, there = (judged(sent(OTHER_STATUS, each)) for each in (MODELS, COUNT))
    assert here.drift_keys != there.drift_keys
    assert here.drift_keys == judged(sent(OTHER_STATUS, MODELS)).drift_keys


@pytest.mark.parametrize("trouble", [BUSY, None], ids=["overloaded", "no-answer"])
def test_a_step_without_a_verdict_leaves_the_others_and_is_told(trouble: Response | None) -> None:
    verdict = judged(sent(STATED, MODELS), sent(trouble, COUNT))
    assert verdict.outcome is Outcome.CONFORMS
    (told,) = (each for each in verdict.findings if each.code == "not-observed")
    assert (told.severity, told.endpoints) == (Severity.INFO, (COUNT,))
    observations = {observation.endpoint: observation for observation in verdict.observations}
    assert observations[COUNT].matched == ()
    assert "status" in observations[COUNT].not_observed
    assert "status" in observations[MODELS].matched


def test_a_label_that_was_seen_nowhere_is_inconclusive() -> None:
    verdict = judged(sent(BUSY, MODELS), sent(None, COUNT))
    assert (verdict.outcome, verdict.reason and verdict.reason.code) == (Outcome.INCONCLUSIVE, "unasked-overload")


def test_each_label_needs_a_step_of_its_own() -> None:
    asked = [sent(GONE, MODELS, "nonexistent_path"), sent(GONE, MODELS, "no_key")]
    assert judged(*asked, address=NO_TWO_ALIKE).outcome is Outcome.HARNESS_ERROR


def test_a_twin_is_looked_for_on_its_own_endpoint_first() -> None:
    other = replace(GONE, body={**BODY, "error": {"type": "not_found_error", "message": "another"}})
    first = [
        sent(GONE, "", "nonexistent_path"),
        sent(GONE, MODELS, "unaccepted_key_type"),
        sent(GONE, MODELS, "no_key"),
    ]
    assert judged(*first, address=NO_TWO_ALIKE).outcome is Outcome.CONFORMS
    theirs = judged(*first, sent(other, COUNT, "no_key"), address=NO_TWO_ALIKE)
    (differs,) = (each for each in theirs.findings if each.is_drift)
    assert (differs.code, differs.endpoints) == ("bodies-differ", (COUNT,))
    assert (differs.aspect, differs.location) == (Aspect.BODY, "nonexistent_path")
    own = judged(*first, sent(other, COUNT, "nonexistent_path"), sent(other, COUNT, "no_key"), address=NO_TWO_ALIKE)
    assert own.outcome is Outcome.CONFORMS


def test_a_page_under_the_stated_status_is_held_against_no_twin() -> None:
    """It has no verdict: that it is not the twin's answer to the letter says nothing of the provider."""
    page = Response(404, {**HEADERS, "content-type": "text/html"}, "<html>Not found</html>", "text")
    asked = [sent(GONE, COUNT, "nonexistent_path"), sent(page, COUNT, "no_key")]
    verdict = judged(*asked, sent(GONE, COUNT, "unaccepted_key_type"), address=NO_TWO_ALIKE)
    step = verdict.step_verdicts["no_key", COUNT]
    assert step.reason is not None
    assert step.reason.code == "gateway-page"
    assert {each.code for each in step.findings} == {"body-malformed"}


ANSWERS = {"stated": STATED, "otherwise": OTHER_STATUS, "busy": BUSY, "none": None}


@given(st.dictionaries(st.sampled_from([MODELS, COUNT, FILES]), st.sampled_from(sorted(ANSWERS)), min_size=1))
def test_the_verdict_on_a_step_does_not_depend_on_the_others(asked: dict[str, str]) -> None:
    together = judged(*(sent(ANSWERS[how], endpoint) for endpoint, how in asked.items()))
    for observation, (endpoint, how) in zip(together.observations, asked.items(), strict=True):
        assert observation == judged(sent(ANSWERS[how], endpoint)).observations[0]
    if "otherwise" in asked.values():
        assert together.outcome is Outcome.DRIFTED
    elif "stated" in asked.values():
        assert together.outcome is Outcome.CONFORMS
    else:
        assert together.outcome is Outcome.INCONCLUSIVE


def test_what_is_not_looked_at_for_one_reason_is_told_once() -> None:
    reason = Reason("value-missing", "set PA_SMALL_MODEL")
    assert not_observed_finding("", reason, MODELS, COUNT).message == "2 endpoints: value-missing: set PA_SMALL_MODEL"
    assert not_observed_finding("", reason, MODELS).message.startswith(f"{MODELS}: value-missing")
    assert not_observed_finding("answer", reason, MODELS).message.startswith(f"answer on {MODELS}: ")
    assert not_observed_finding("answer", reason).endpoints == ()
