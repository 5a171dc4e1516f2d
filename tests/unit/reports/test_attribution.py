"""Who is probably wrong, and the reason given for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

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


def attribute(*results: Result, **described: Any) -> Attribution | None:
    overview = Overview(make_run(**described), results)
    attributor = Attributor(overview.run, overview.records)
    return attributor.attribute(next(record for record in overview.records if record.address == results[0].record))


def attribute_drift(*results: Result, **described: Any) -> Attribution:
    attribution = attribute(*results, **described)
    assert attribution is not None
    return attribution


def make_drift(address: str = A, *more: Finding, **changes: Any) -> Result:
    return make_result(address, Outcome.DRIFTED, findings=(make_finding(), *more), **changes)


def test_what_held_before_was_changed_by_the_provider() -> None:
    found = attribute_drift(make_drift())
    assert found.party == "provider"
    assert "2026-11-16" in found.reason


def test_the_answer_of_another_record_points_at_our_recipe() -> None:
    other = make_finding("matches-another-record", observed="pa/errors/general/b")
    found = attribute_drift(make_drift(A, other, probed_record=NEVER_SEEN))
    assert found.party == "our recipe"
    assert "pa/errors/general/b" in found.reason


def test_what_many_records_share_is_no_single_recipe() -> None:
    others = [make_drift(f"pa/errors/general/{slug}", probed_record=NEVER_SEEN) for slug in "bcd"]
    found = attribute_drift(make_drift(probed_record=NEVER_SEEN), *others)
    assert found.party == "documents or provider"
    assert found.reason.startswith("4 records of PA differ in the same way (status-differs)")


def test_what_never_held_is_the_documents() -> None:
    assert attribute_drift(make_drift(probed_record=NEVER_SEEN)).party == "documents"
    assert "leave open" in attribute_drift(make_drift(probed_record={**NEVER_SEEN, "status": ["UNVERIFIED"]})).reason


@pytest.mark.parametrize("outcome", [Outcome.DRIFTED, Outcome.FLAKY, Outcome.INCONCLUSIVE, Outcome.RESTRICTED])
def test_in_a_recording_it_is_neither_us_nor_a_mock(outcome: Outcome) -> None:
    found = attribute_drift(
        make_result(A, outcome, findings=(make_finding(),)), live=False, answered_by=AnsweredBy.RECORDING
    )
    assert "recording" in found.reason
    assert "our" not in found.party
    assert "mock" not in found.reason


def test_of_a_live_recording_no_control_is_spoken_of() -> None:
    found = attribute_drift(make_drift(probed_record=NEVER_SEEN), traffic=TRAFFIC)
    assert found.party == "documents or provider"
    assert "while the control shows" not in found.reason


def test_on_the_mock_it_is_us() -> None:
    assert attribute_drift(make_drift(), live=False).party == "our side"


@pytest.mark.parametrize(
    ("outcome", "code", "party"),
    [
        (Outcome.INCONCLUSIVE, "read-timeout", "network"),
        (Outcome.INCONCLUSIVE, "unasked-overload", "provider"),
        (Outcome.INCONCLUSIVE, "control-failed", "our side"),
        (Outcome.INCONCLUSIVE, "a-code-of-tomorrow", "network"),
        (Outcome.RESTRICTED, "probe-refused", "account"),
        (Outcome.HARNESS_ERROR, "recipe-error", "our recipe"),
        (Outcome.FLAKY, "attempts-differ", "provider"),
    ],
)
def test_without_a_verdict_the_reason_tells(outcome: Outcome, code: str, party: str) -> None:
    assert attribute_drift(make_result(A, outcome, reason=Reason(code))).party == party


def test_nothing_wrong_nobody_blamed() -> None:
    assert attribute(make_result(A)) is None


def test_the_reason_beside_a_cause_is_true_of_all_its_records() -> None:
    def told(*days: str) -> tuple[str, str]:
        seen = [
            make_drift(f"pa/errors/general/r{number}", probed_record=make_record_data(A, observed={"verified_at": day}))
            for number, day in enumerate(days)
        ]
        overview = Overview(make_run(), seen)
        (cause,) = overview.report_causes(overview.sections[0])
        return cause.party, cause.party_reason

    assert told("2026-11-16", "2026-11-16")[1].startswith("It was seen as documented on 2026-11-16")
    assert told("2026-11-16", "2026-11-16", "2026-11-12") == ("provider", "")
