"""The requests without a fault that a plan counts beside the others."""

from __future__ import annotations

from catalog_probe.probes.judging.inconclusive.one_answer import MAX_REQUESTS, MIN_FAULTS
from catalog_probe.probes.planning.fault_free_requests import list_fault_free_requests
from catalog_probe.probes.planning.plan import make_plan
from catalog_probe.probes.targets.target import Cost
from tests.harness.engines import FIRST_ENDPOINTS, catalog, mock_target_at

TARGET = mock_target_at("http://127.0.0.1:1")
ALL = frozenset(Cost)
FAULTY = [str(each.address) for each in catalog().records if str(each.address).startswith("pa/errors/invalid_request/")]


def test_one_is_counted_for_so_many_faults_on_an_endpoint_as_make_an_answer_suspicious() -> None:
    probed = make_plan(catalog(), TARGET, ALL, FAULTY, FIRST_ENDPOINTS).probed
    asked = list_fault_free_requests(probed, catalog(), TARGET, ALL)
    assert 0 < len(asked) <= sum(len(each.labels) for each in probed.values()) // MIN_FAULTS * MAX_REQUESTS
    assert {each.lane for each in asked} <= {each.lane for each in probed.values()}
    assert all(each.requests == 1 for each in asked)


def test_what_is_not_allowed_is_not_counted_and_two_faults_need_none() -> None:
    probed = make_plan(catalog(), TARGET, ALL, FAULTY, FIRST_ENDPOINTS).probed
    assert list_fault_free_requests(probed, catalog(), TARGET, frozenset()) == []
    two = {address: each for address, each in probed.items() if len(each.labels) == 1}
    assert list_fault_free_requests(dict(list(two.items())[:2]), catalog(), TARGET, ALL) == []
