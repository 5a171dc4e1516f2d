"""Live, another answer at a path or to a request that only we assume is no drift."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.model import Outcome
from catalog_probe.probes.planning.plan import ALL_ENDPOINTS
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


def probe_made_up_key(fault_server: FaultServer, *faults: Fault) -> dict[str, Result]:
    return probe(fault_server.target_behind(*faults), [MADE_UP_KEY, ROLES], drawing=ALL_ENDPOINTS)


@pytest.mark.parametrize("status", [200, 404])
def test_another_answer_to_a_made_up_key_is_reported_once_and_no_drift(fault_server: FaultServer, status: int) -> None:
    answer = NOT_FOUND if status == 404 else edits.replace_answer(200, '{"data": []}')
    results = probe_made_up_key(fault_server, Fault(REFUSED, answer=answer))
    result = results[MADE_UP_KEY]
    assert (result.outcome, result.reason and result.reason.code) == (Outcome.INCONCLUSIVE, "assumption-failed")
    assert not [finding for finding in result.findings if finding.is_drift]
    assert results[ROLES].outcome is Outcome.CONFORMS, results[ROLES].findings
    not_observed = [finding for finding in results[ROLES].findings if finding.code == "not-observed"]
    assert [finding.label for finding in not_observed] == ["wrong_credential"]


def test_the_stated_error_drifts_where_a_header_is_missing(fault_server: FaultServer) -> None:
    results = probe_made_up_key(fault_server, Fault(REFUSED, answer=edits.remove_headers("request-id")))
    for result in results.values():
        assert result.outcome is Outcome.DRIFTED
        assert "request-id" in {finding.location for finding in result.findings if finding.is_drift}


MALFORMED = "pa/errors/general/key_malformed"
AGENTS = "pa/endpoints/agents/list_agents"
NO_PATH = edits.replace_answer(404, build_error_bodies("not_found_error", 404, "NOT_FOUND", "Not found")["pa"])
ANYTHING = FaultScope(provider="pa", path="/v1/agents")
ONLY_REFUSALS = replace(ANYTHING, statuses=(401,))


def probe_malformed_key(fault_server: FaultServer, where: FaultScope, live: bool = True) -> Result:
    """Probe with a malformed key, also at an endpoint with an assumed path, behind one fault."""
    target = replace(fault_server.target_behind(Fault(where, answer=NO_PATH)), live=live)
    pa = target.providers["pa"]
    target = replace(target, providers={"pa": replace(pa, confirmed_values=frozenset(pa.values))})
    return probe(target, [MALFORMED, AGENTS], drawing=ALL_ENDPOINTS)[MALFORMED]


def unobserved_statuses(result: Result) -> set[str]:
    """Return each endpoint whose status was not observed, with the reason."""
    return {
        f"{observation.endpoint} {observation.not_observed['status']}"
        for observation in result.observations
        if "status" in observation.not_observed
    }


def test_a_wrong_key_is_no_drift_where_nothing_answers_at_an_assumed_path(fault_server: FaultServer) -> None:
    result = probe_malformed_key(fault_server, ANYTHING)
    assert result.outcome is Outcome.CONFORMS, result.findings
    assert f"{AGENTS} assumption-failed" in unobserved_statuses(result)


def test_a_404_is_drift_where_the_path_answers_other_requests(fault_server: FaultServer) -> None:
    result = probe_malformed_key(fault_server, ONLY_REFUSALS)
    assert result.outcome is Outcome.DRIFTED
    assert {finding.endpoints for finding in result.findings if finding.code == "status-differs"} != set()


def test_a_404_on_a_mock_is_drift(fault_server: FaultServer) -> None:
    assert probe_malformed_key(fault_server, ANYTHING, live=False).outcome is Outcome.DRIFTED
