"""The checklist of a record: what was not observed, and when it last was."""

from __future__ import annotations

from catalog_probe.catalog.model.observation import Observation
from catalog_probe.reports.content.checklist import describe_not_drawn, list_step_checklists
from tests.unit.reports.factories import make_record_data, make_result

A = "pa/rate_limits/limits/general"
ASKED, OTHER = "pa/endpoints/models/list", "pa/endpoints/messages/create"
EVIDENCE = {
    "statements": "00000000",
    "endpoints": {
        ASKED: {"on": "2026-11-24", "not_observed": {"answer/message": "2026-11-20", "limited/*": None}},
        OTHER: {"on": "2026-11-22"},
    },
}
PROBED = make_record_data(
    A, evidence=EVIDENCE, observed_for_this_key={"result": "drifted", "seen": ["limited retry-after absent"]}
)


def not_observed_finding(label: str, key: str) -> list[str]:
    result = make_result(A, probed_record=PROBED, observations=(Observation(ASKED, label, (), {}, {key: "no-body"}),))
    return [reason for step in list_step_checklists(result) for reason in step.not_observed]


def test_an_unobserved_assertion_has_its_last_date() -> None:
    assert not_observed_finding("answer", "message") == ["no-body, last seen 2026-11-20"]
    assert not_observed_finding("answer", "status") == ["no-body, last seen 2026-11-24"]
    assert not_observed_finding("limited", "status") == ["no-body"]


def test_an_undrawn_endpoint_has_its_last_date() -> None:
    missed = make_result(A, probed_record=PROBED, not_drawn=(OTHER, "pa/endpoints/models/get"))
    assert describe_not_drawn(missed) == {OTHER: ", last seen 2026-11-22", "pa/endpoints/models/get": ""}
