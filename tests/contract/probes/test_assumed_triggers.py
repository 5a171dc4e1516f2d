"""Another answer to a request that only we assume provokes an error is no drift."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.model import Outcome
from catalog_probe.probes.planning.rotation import ALL_ENDPOINTS
from tests.harness import fault_changes as edits
from tests.harness.engines import probe
from tests.harness.fault_table import build_error_bodies
from tests.harness.faults import Fault, FaultScope

if TYPE_CHECKING:
    from catalog_probe.catalog.evidence.results import Result
    from tests.harness.fault_proxy import FaultServer

MADE_UP_KEY = "pa/errors/compliance/api_key_invalid"
ROLES = "pa/endpoints/compliance_organizations/list_roles"
NOT_FOUND = edits.replace_answer(404, build_error_bodies("not_found_error", 404, "NOT_FOUND", "Not found")["pa"])
REFUSED = FaultScope(provider="pa", path="/v1/compliance", statuses=(401,))


def night(fault_server: FaultServer, *faults: Fault) -> dict[str, Result]:
    return probe(fault_server.target_behind(*faults), [MADE_UP_KEY, ROLES], drawing=ALL_ENDPOINTS)


@pytest.mark.parametrize("status", [200, 404])
def test_another_answer_to_a_made_up_key_is_reported_once_and_no_drift(fault_server: FaultServer, status: int) -> None:
    answer = NOT_FOUND if status == 404 else edits.replace_answer(200, '{"data": []}')
    results = night(fault_server, Fault(REFUSED, answer=answer))
    result = results[MADE_UP_KEY]
    assert (result.outcome, result.reason and result.reason.code) == (Outcome.INCONCLUSIVE, "assumption-failed")
    assert not [finding for finding in result.findings if finding.is_drift]
    assert results[ROLES].outcome is Outcome.CONFORMS, results[ROLES].findings
    not_observed = [finding for finding in results[ROLES].findings if finding.code == "not-observed"]
    assert [finding.label for finding in not_observed] == ["wrong_credential"]


def test_the_stated_error_drifts_where_a_header_is_missing(fault_server: FaultServer) -> None:
    results = night(fault_server, Fault(REFUSED, answer=edits.remove_headers("request-id")))
    for result in results.values():
        assert result.outcome is Outcome.DRIFTED
        assert "request-id" in {finding.location for finding in result.findings if finding.is_drift}
