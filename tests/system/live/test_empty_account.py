"""An account that holds nothing resolves no assumption and causes no drift."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.harness.accounts import Services, probe_account
from tests.harness.fault_changes import edit_body
from tests.harness.faults import Fault, FaultScope

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from catalog_probe.catalog.evidence.results import Result

REMOTE = "pa/endpoints/compliance_sessions/list_remote_sessions"
LOCAL = "pa/endpoints/compliance_sessions/list_local_sessions"
ACTIVITIES = "pa/endpoints/compliance_activities/list_activities"
KEYS = {"PA_COMPLIANCE_KEY": "mock-pa-compliance", "PA_ADMIN_KEY": "mock-pa-admin"}


def edit_pages(change: Callable[[dict[str, Any]], dict[str, Any]]) -> Fault:
    """A fault on the pages of all lists of the compliance API."""

    def edit_page(raw: bytes) -> bytes:
        page = json.loads(raw)
        return json.dumps(change(page) if "data" in page else page).encode()

    return Fault(FaultScope(provider="pa", path="/compliance/", statuses=(200,)), answer=edit_body(edit_page))


EMPTY = edit_pages(lambda page: {**page, "data": [], "first_id": None, "last_id": None, "next_page": None})
ONE = edit_pages(lambda page: {**page, "data": page["data"][:1], "next_page": None})
NAMELESS = edit_pages(lambda page: {**page, "data": [{"id": item["id"]} for item in page["data"]]})


def mismatched_assertions(results: Mapping[str, Result]) -> dict[str, set[str]]:
    found = {
        address: {finding.assertion for finding in result.findings if finding.severity in ("must", "should")}
        for address, result in results.items()
    }
    return {address: keys for address, keys in found.items() if keys}


@pytest.mark.parametrize("account", [EMPTY, ONE], ids=["empty", "one of each"])
def test_an_empty_account_causes_no_drift(account: Fault, services: Services) -> None:
    services.restart(account)
    results = probe_account(services.target("pa", **KEYS), [REMOTE, LOCAL, ACTIVITIES])
    assert mismatched_assertions(results) == {}


def test_items_of_an_empty_list_are_not_observed(services: Services) -> None:
    services.restart(EMPTY)
    (observation,) = (
        observation
        for observation in probe_account(services.target("pa", **KEYS), [REMOTE])[REMOTE].observations
        if observation.label == "success"
    )
    assert observation.not_observed["body:/data/*/status"] == "nothing-there"
    assert "status" in observation.matched


def test_an_item_without_the_field_resolves_the_assumption(services: Services) -> None:
    services.restart(NAMELESS)
    assert mismatched_assertions(probe_account(services.target("pa", **KEYS), [REMOTE])) == {
        REMOTE: {"success/body:/data/*/status"}
    }


def test_a_page_without_its_cursor_is_drift_if_another_page_exists(services: Services) -> None:
    services.restart(edit_pages(lambda page: {**page, "next_page": None}))
    assert mismatched_assertions(probe_account(services.target("pa", **KEYS), [LOCAL])) == {
        LOCAL: {"page_1/relation:non_empty:/next_page"}
    }
