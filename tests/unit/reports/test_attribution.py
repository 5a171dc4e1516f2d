"""Attribution: whose fault a result probably is, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.model import Finding, Outcome, Reason
from catalog_probe.catalog.model.answered_by import AnsweredBy
from catalog_probe.reports.content.attribution import Attribution, Attributor
from catalog_probe.reports.content.overview import Overview
from tests.unit.reports.factories import make_finding, make_record_data, make_result, make_run

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


def test_without_a_verdict_the_reason_code_decides() -> None:
    cases: list[tuple[Outcome, str, str]] = [
        (Outcome.INCONCLUSIVE, "read-timeout", "network"),
        (Outcome.INCONCLUSIVE, "unasked-overload", "provider"),
        (Outcome.INCONCLUSIVE, "control-failed", "our side"),
        (Outcome.INCONCLUSIVE, "a-code-of-tomorrow", "network"),
        (Outcome.RESTRICTED, "probe-refused", "account"),
        (Outcome.HARNESS_ERROR, "recipe-error", "our recipe"),
        (Outcome.FLAKY, "attempts-differ", "provider"),
    ]
    for outcome, code, party in cases:
        assert attribute_drift(make_result(A, outcome, reason=Reason(code))).party == party


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

    assert find_party("2026-11-16", "2026-11-16")[1].startswith("It was seen as documented on 2026-11-16")
    assert find_party("2026-11-16", "2026-11-16", "2026-11-12") == ("provider", "")
