"""Findings in a report: whose fault they are, on which endpoints, and what was not observed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.model import Attempt, Finding, Outcome, Reason
from catalog_probe.catalog.model.assertion import Observation
from catalog_probe.catalog.model.exchange import AnsweredBy
from catalog_probe.catalog.model.explanations import INCONCLUSIVE
from catalog_probe.reports import exchanges
from catalog_probe.reports.content.causes import INCONCLUSIVE_PARTIES, Attribution, Attributor
from catalog_probe.reports.content.findings import (
    describe_endpoints,
    describe_finding,
    describe_not_drawn,
    list_exchange_endpoints,
    list_mismatched_steps,
    list_step_checklists,
)
from catalog_probe.reports.content.overview import Overview
from catalog_probe.reports.page import html
from catalog_probe.reports.views import junit, summary, terminal
from tests.unit.reports.factories import make_exchange, make_finding, make_record_data, make_result, make_run

if TYPE_CHECKING:
    from catalog_probe.catalog.evidence.results import Result

A = "pa/errors/general/a"
NEVER_SEEN = make_record_data(A, status=["DOCUMENTED"])
TRAFFIC = {"exchanges": 1, "judged": 1, "left_out": {}, "unrecognised": []}


def attribute(*results: Result, **run_fields: Any) -> Attribution | None:
    overview = Overview(make_run(**run_fields), results)
    attributor = Attributor(overview.run, overview.records)
    return attributor.attribute(next(record for record in overview.records if record.address == results[0].record))


def attribute_drift(*results: Result, **run_fields: Any) -> Attribution:
    attribution = attribute(*results, **run_fields)
    assert attribution is not None
    return attribution


def make_drift(address: str = A, *more: Finding, **changes: Any) -> Result:
    return make_result(address, Outcome.DRIFTED, findings=(make_finding(), *more), **changes)


def test_a_confirmed_record_that_drifts_is_the_providers() -> None:
    attribution = attribute_drift(make_drift())
    assert attribution.party == "provider"
    assert "2026-11-16" in attribution.reason


def test_the_answer_of_another_record_is_our_recipes() -> None:
    other_record = make_finding("matches-another-record", observed="pa/errors/general/b")
    attribution = attribute_drift(make_drift(A, other_record, probed_record=NEVER_SEEN))
    assert attribution.party == "our recipe"
    assert "pa/errors/general/b" in attribution.reason


def test_a_drift_of_many_records_is_no_single_recipes() -> None:
    other_drifts = [make_drift(f"pa/errors/general/{slug}", probed_record=NEVER_SEEN) for slug in "bcd"]
    attribution = attribute_drift(make_drift(probed_record=NEVER_SEEN), *other_drifts)
    assert attribution.party == "documents or provider"
    assert attribution.reason.startswith("4 records of PA differ in the same way (status-differs)")


def test_a_record_that_was_never_confirmed_is_the_documents() -> None:
    assert attribute_drift(make_drift(probed_record=NEVER_SEEN)).party == "documents"
    assert "leave open" in attribute_drift(make_drift(probed_record={**NEVER_SEEN, "status": ["UNVERIFIED"]})).reason


def test_a_recording_is_neither_ours_nor_the_mocks() -> None:
    for outcome in [Outcome.DRIFTED, Outcome.FLAKY, Outcome.INCONCLUSIVE, Outcome.RESTRICTED]:
        attribution = attribute_drift(
            make_result(A, outcome, findings=(make_finding(),)), live=False, answered_by=AnsweredBy.RECORDING
        )
        assert "recording" in attribution.reason, outcome
        assert "our" not in attribution.party, outcome
        assert "mock" not in attribution.reason, outcome


def test_a_live_recording_has_no_control() -> None:
    attribution = attribute_drift(make_drift(probed_record=NEVER_SEEN), traffic=TRAFFIC)
    assert attribution.party == "documents or provider"
    assert "while the control shows" not in attribution.reason


def test_a_drift_on_the_mock_is_ours() -> None:
    assert attribute_drift(make_drift(), live=False).party == "our side"


def test_each_reason_code_of_an_inconclusive_record_has_a_party() -> None:
    assert INCONCLUSIVE_PARTIES.keys() == INCONCLUSIVE.keys()


def test_without_a_verdict_the_reason_code_decides() -> None:
    cases: list[tuple[Outcome, str, str]] = [
        (Outcome.INCONCLUSIVE, "read-timeout", "network"),
        (Outcome.INCONCLUSIVE, "unasked-overload", "provider"),
        (Outcome.INCONCLUSIVE, "control-failed", "our side"),
        (Outcome.INCONCLUSIVE, "no-credit", "account"),
        (Outcome.INCONCLUSIVE, "one-answer-to-everything", "account or network"),
        (Outcome.INCONCLUSIVE, "assumption-failed", "our record"),
        (Outcome.INCONCLUSIVE, "a-code-of-tomorrow", "unknown"),
        (Outcome.RESTRICTED, "probe-refused", "account"),
        (Outcome.HARNESS_ERROR, "recipe-error", "our recipe"),
        (Outcome.FLAKY, "attempts-differ", "provider"),
    ]
    for outcome, code, party in cases:
        assert attribute_drift(make_result(A, outcome, reason=Reason(code))).party == party


def test_a_stopped_lane_is_attributed_by_what_stopped_it() -> None:
    for cause, party in [("no-credit", "account"), ("connect-refused", "network"), (None, "our side")]:
        stopped = make_result(A, Outcome.INCONCLUSIVE, reason=Reason("lane-stopped", cause=cause))
        assert attribute_drift(stopped).party == party, cause


def test_a_conforming_record_has_no_attribution() -> None:
    assert attribute(make_result(A)) is None


def test_the_reason_of_a_cause_is_shown_only_if_all_its_records_share_it() -> None:
    def find_party(*days: str) -> tuple[str, str]:
        results = [
            make_drift(f"pa/errors/general/r{number}", probed_record=make_record_data(A, observed={"verified_at": day}))
            for number, day in enumerate(days)
        ]
        overview = Overview(make_run(), results)
        (cause,) = overview.report_causes(overview.sections[0])
        return cause.party, cause.party_reason

    assert find_party("2026-11-16", "2026-11-16")[1].startswith("The record was seen as documented on 2026-11-16")
    assert find_party("2026-11-16", "2026-11-16", "2026-11-12") == ("provider", "")


RECORD = "pa/errors/general/rate_limit_error"
MODELS, COUNT, FILES, AGENTS, BATCHES = ALL = tuple(
    f"pa/endpoints/{name}"
    for name in (
        "models/list_models",
        "messages/count_tokens",
        "files/list_files",
        "agents/list_agents",
        "batches/list_batches",
    )
)


def make_drift_on(*places: str, endpoints: tuple[str, ...] = ALL) -> Result:
    """Make a drift on some of the probed endpoints; the exchange of the first names no endpoint, as recipes do."""
    observations = tuple(
        Observation(endpoint, "answer", mismatched={"status": "422"} if endpoint in places else {})
        for endpoint in endpoints
    )
    sent = tuple(make_exchange(endpoint=endpoint if number else "") for number, endpoint in enumerate(endpoints))
    attempts = (Attempt("2026-11-21T04:05:00Z", 1.0, (make_exchange("control"), *sent)),)
    findings = (make_finding(assertion="answer/status", endpoints=places),)
    return make_result(RECORD, Outcome.DRIFTED, observations=observations, attempts=attempts, findings=findings)


def describe(*places: str, endpoints: tuple[str, ...] = ALL) -> str:
    drift = make_drift_on(*places, endpoints=endpoints)
    return describe_endpoints(drift.findings[0].endpoints, drift)


def test_endpoints_are_named_if_others_agree() -> None:
    assert describe(COUNT) == "on 1 of 5 endpoints: messages/count_tokens"
    text = describe(MODELS, COUNT, FILES, AGENTS)
    assert text == "on 4 of 5 endpoints: models/list_models, messages/count_tokens, files/list_files and 1 more"
    assert describe(*ALL) == ""
    assert describe(COUNT, endpoints=(COUNT,)) == ""


def test_a_finding_of_an_endpoint_needs_no_endpoint() -> None:
    own = make_result(
        MODELS, Outcome.DRIFTED, observations=(Observation(MODELS, "success"), Observation(COUNT, "success"))
    )
    assert describe_endpoints((MODELS,), own) == ""
    assert describe_finding(make_finding(endpoints=(MODELS,)), own) == make_finding().message


def test_the_exchange_that_the_recipe_names_no_endpoint_for_has_that_of_its_observation() -> None:
    drift = make_drift_on(COUNT)
    assert list_exchange_endpoints(drift, drift.attempts[0]) == ["", *ALL]
    assert list_mismatched_steps(drift) == {("answer", COUNT)}


def test_the_first_exchange_that_differs_is_shown_before_all_others() -> None:
    for differing_there, expected in ((COUNT, FILES), "messages/count_tokens"), ((MODELS,), "models/list_models"):
        view = exchanges.view_deviant_exchange(make_drift_on(*differing_there))
        assert view is not None
        assert view["endpoint"] == expected
    assert exchanges.view_deviant_exchange(make_result(MODELS, attempts=make_drift_on(COUNT).attempts)) is None


def test_every_view_names_the_mismatched_endpoint() -> None:
    drift = make_drift_on(COUNT)
    views = (
        junit.render(make_run(), [drift]),
        terminal.render(make_run(), [drift], width=200),
        summary.render(make_run(), [drift]),
        html.render(make_run(), [drift]),
    )
    assert [view for view in views if "on 1 of 5 endpoints: messages/count_tokens" not in view] == []


LIMITS = "pa/rate_limits/limits/general"
ASKED, OTHER = "pa/endpoints/models/list", "pa/endpoints/messages/create"
EVIDENCE = {
    "statements": "00000000",
    "endpoints": {
        ASKED: {"on": "2026-11-24", "not_observed": {"answer/message": "2026-11-20", "limited/*": None}},
        OTHER: {"on": "2026-11-22"},
    },
}
PROBED = make_record_data(
    LIMITS, evidence=EVIDENCE, observed_for_this_key={"result": "drifted", "seen": ["limited retry-after absent"]}
)


def not_observed_finding(label: str, key: str) -> list[str]:
    result = make_result(
        LIMITS, probed_record=PROBED, observations=(Observation(ASKED, label, (), {}, {key: "no-body"}),)
    )
    return [reason for step in list_step_checklists(result) for reason in step.not_observed]


def test_an_unobserved_assertion_has_its_last_date() -> None:
    assert not_observed_finding("answer", "message") == ["no-body, last seen 2026-11-20"]
    assert not_observed_finding("answer", "status") == ["no-body, last seen 2026-11-24"]
    assert not_observed_finding("limited", "status") == ["no-body"]


def test_an_undrawn_endpoint_has_its_last_date() -> None:
    missed = make_result(LIMITS, probed_record=PROBED, not_drawn=(OTHER, "pa/endpoints/models/get"))
    assert describe_not_drawn(missed) == {OTHER: ", last seen 2026-11-22", "pa/endpoints/models/get": ""}
