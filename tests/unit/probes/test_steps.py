"""Judging step by step: one label on several endpoints, each with its own verdict."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.catalog.evidence import causes
from catalog_probe.catalog.model import Aspect, Exchange, Outcome, Reason, Request, Response, Severity
from tests.unit.probes.judging_one import judge_exchanges, load_steps

if TYPE_CHECKING:
    import pytest

    from catalog_probe.probes.judging.verdict import Verdict

KEY_REVOKED = "pa/errors/general/key_revoked"
MODELS, COUNT, FILES = (
    "pa/endpoints/models/list_models",
    "pa/endpoints/messages/count_tokens",
    "pa/endpoints/files/list_files",
)
NOT_AUTHENTICATED = "pa/errors/compliance/request_not_authenticated"
HEADERS = {"request-id": "req_1", "x-should-retry": "false"}
BODY = {
    "type": "error",
    "error": {"type": "authentication_error", "message": "invalid x-api-key"},
    "request_id": "req_1",
}
DOCUMENTED = Response(401, HEADERS, BODY, "json")
OTHER_STATUS = replace(DOCUMENTED, status=403)
OVERLOADED = Response(529, HEADERS, BODY, "json")
NOT_FOUND = Response(404, HEADERS, {**BODY, "error": {"type": "not_found_error", "message": "no"}}, "json")


def make_exchange(response: Response | None, endpoint: str, label: str = "answer") -> Exchange:
    failure = None if response is not None else Reason("connection-reset")
    return Exchange(label, Request("GET", f"https://x/{endpoint}"), response, failure, endpoint=endpoint)


def judge_attempt(*exchanges: Exchange, address: str = KEY_REVOKED) -> Verdict:
    return judge_exchanges(load_steps(address), *exchanges)


def test_label_has_an_observation_for_each_endpoint() -> None:
    verdict = judge_attempt(make_exchange(DOCUMENTED, MODELS), make_exchange(DOCUMENTED, COUNT))
    assert verdict.outcome is Outcome.CONFORMS
    assert {observation.endpoint for observation in verdict.observations} == {MODELS, COUNT}
    assert all("status" in observation.matched for observation in verdict.observations)


def test_drift_on_one_endpoint_leaves_the_others() -> None:
    verdict = judge_attempt(
        make_exchange(DOCUMENTED, MODELS), make_exchange(OTHER_STATUS, COUNT), make_exchange(DOCUMENTED, FILES)
    )
    assert verdict.outcome is Outcome.DRIFTED
    (drift,) = (finding for finding in verdict.findings if finding.is_drift)
    assert (drift.assertion, drift.endpoints) == ("answer/status", (COUNT,))
    observations = {observation.endpoint: observation for observation in verdict.observations}
    assert observations[COUNT].mismatched == {"status": "403"}
    assert "status" in observations[MODELS].matched
    assert "status" in observations[FILES].matched


def test_same_drift_on_several_endpoints_is_one_finding() -> None:
    verdict = judge_attempt(
        make_exchange(OTHER_STATUS, MODELS), make_exchange(OTHER_STATUS, COUNT), make_exchange(DOCUMENTED, FILES)
    )
    assert [finding.endpoints for finding in verdict.findings if finding.is_drift] == [(MODELS, COUNT)]
    alone = judge_attempt(make_exchange(OTHER_STATUS, FILES))
    assert causes.identify_drift(verdict.findings) == causes.identify_drift(alone.findings)
    assert verdict.drift_keys != alone.drift_keys


def test_step_without_verdict_is_noted_and_leaves_the_others(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, Response | None]] = [("overloaded", OVERLOADED), ("no-answer", None)]
    for case, response in cases:
        with subtests.test(case=case):
            verdict = judge_attempt(make_exchange(DOCUMENTED, MODELS), make_exchange(response, COUNT))
            assert verdict.outcome is Outcome.CONFORMS
            (note,) = (finding for finding in verdict.findings if finding.code == "not-observed")
            assert (note.severity, note.endpoints) == (Severity.INFO, (COUNT,))
            observations = {observation.endpoint: observation for observation in verdict.observations}
            assert observations[COUNT].matched == ()
            assert "status" in observations[COUNT].not_observed
            assert "status" in observations[MODELS].matched


def test_label_observed_nowhere_is_inconclusive() -> None:
    verdict = judge_attempt(make_exchange(OVERLOADED, MODELS), make_exchange(None, COUNT))
    assert (verdict.outcome, verdict.reason and verdict.reason.code) == (Outcome.INCONCLUSIVE, "unasked-overload")


def test_label_without_exchange_is_a_harness_error() -> None:
    exchanges = [make_exchange(NOT_FOUND, MODELS, "nonexistent_path"), make_exchange(NOT_FOUND, MODELS, "no_key")]
    assert judge_attempt(*exchanges, address=NOT_AUTHENTICATED).outcome is Outcome.HARNESS_ERROR


def test_other_label_is_compared_on_the_same_endpoint_first() -> None:
    other = replace(NOT_FOUND, body={**BODY, "error": {"type": "not_found_error", "message": "another"}})
    first = [
        make_exchange(NOT_FOUND, "", "nonexistent_path"),
        make_exchange(NOT_FOUND, MODELS, "unaccepted_key_type"),
        make_exchange(NOT_FOUND, MODELS, "no_key"),
    ]
    assert judge_attempt(*first, address=NOT_AUTHENTICATED).outcome is Outcome.CONFORMS
    drifted = judge_attempt(*first, make_exchange(other, COUNT, "no_key"), address=NOT_AUTHENTICATED)
    (drift,) = (finding for finding in drifted.findings if finding.is_drift)
    assert (drift.code, drift.endpoints) == ("bodies-differ", (COUNT,))
    assert (drift.aspect, drift.location) == (Aspect.BODY, "nonexistent_path")
    conforming = judge_attempt(
        *first,
        make_exchange(other, COUNT, "nonexistent_path"),
        make_exchange(other, COUNT, "no_key"),
        address=NOT_AUTHENTICATED,
    )
    assert conforming.outcome is Outcome.CONFORMS


def test_page_is_not_compared_with_another_label() -> None:
    """It has no verdict, so a body that differs from the other label's says nothing."""
    page = Response(404, {**HEADERS, "content-type": "text/html"}, "<html>Not found</html>", "text")
    exchanges = [make_exchange(NOT_FOUND, COUNT, "nonexistent_path"), make_exchange(page, COUNT, "no_key")]
    verdict = judge_attempt(
        *exchanges, make_exchange(NOT_FOUND, COUNT, "unaccepted_key_type"), address=NOT_AUTHENTICATED
    )
    step = verdict.step_verdicts["no_key", COUNT]
    assert step.reason is not None
    assert step.reason.code == "gateway-page"
    assert {finding.code for finding in step.findings} == {"body-malformed"}


RESPONSES = {"stated": DOCUMENTED, "otherwise": OTHER_STATUS, "busy": OVERLOADED, "none": None}


@given(st.dictionaries(st.sampled_from([MODELS, COUNT, FILES]), st.sampled_from(sorted(RESPONSES)), min_size=1))
def test_steps_are_judged_independently(kinds_by_endpoint: dict[str, str]) -> None:
    together = judge_attempt(
        *(make_exchange(RESPONSES[kind], endpoint) for endpoint, kind in kinds_by_endpoint.items())
    )
    for observation, (endpoint, kind) in zip(together.observations, kinds_by_endpoint.items(), strict=True):
        assert observation == judge_attempt(make_exchange(RESPONSES[kind], endpoint)).observations[0]
    if "otherwise" in kinds_by_endpoint.values():
        assert together.outcome is Outcome.DRIFTED
    elif "stated" in kinds_by_endpoint.values():
        assert together.outcome is Outcome.CONFORMS
    else:
        assert together.outcome is Outcome.INCONCLUSIVE
