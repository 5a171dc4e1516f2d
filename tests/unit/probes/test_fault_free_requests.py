"""The fault-free requests that a plan counts."""

from __future__ import annotations

from catalog_probe.probes.judging.inconclusive.one_answer import MAX_REQUESTS, MIN_FAULTS
from catalog_probe.probes.planning.fault_free_requests import list_fault_free_requests
from catalog_probe.probes.planning.plan import make_plan
from catalog_probe.probes.targets.target import Cost
from tests.harness.engines import FIRST_ENDPOINTS, catalog, mock_target_at

TARGET = mock_target_at("http://127.0.0.1:1")
ALL_COSTS = frozenset(Cost)
FAULT_ADDRESSES = [
    str(record.address) for record in catalog().records if str(record.address).startswith("pa/errors/invalid_request/")
]


def test_fault_free_requests_are_counted_by_number_of_faults() -> None:
    probed = make_plan(catalog(), TARGET, ALL_COSTS, FAULT_ADDRESSES, FIRST_ENDPOINTS).probed
    requests = list_fault_free_requests(probed, catalog(), TARGET, ALL_COSTS)
    assert 0 < len(requests) <= sum(len(recipe.labels) for recipe in probed.values()) // MIN_FAULTS * MAX_REQUESTS
    assert {request.lane for request in requests} <= {recipe.lane for recipe in probed.values()}
    assert all(request.requests == 1 for request in requests)


def test_no_fault_free_request_if_not_allowed_or_few_faults() -> None:
    probed = make_plan(catalog(), TARGET, ALL_COSTS, FAULT_ADDRESSES, FIRST_ENDPOINTS).probed
    assert list_fault_free_requests(probed, catalog(), TARGET, frozenset()) == []
    single_label = {address: recipe for address, recipe in probed.items() if len(recipe.labels) == 1}
    assert list_fault_free_requests(dict(list(single_label.items())[:2]), catalog(), TARGET, ALL_COSTS) == []
