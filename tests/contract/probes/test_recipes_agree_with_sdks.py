"""Recipes send what official SDKs send, but for reviewed differences."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from catalog_probe.probes.recipes.book import recipe_book
from tests.harness import sdk_agreement as agreement
from tests.harness.engines import catalog

if TYPE_CHECKING:
    import pytest


def test_every_endpoint_record_is_compared_with_every_recorded_major() -> None:
    rows = agreement.compare_all()
    majors = Counter(agreement.PROVIDERS[sdk["sdk"]] for sdk in agreement.load_recorded_requests())
    assert majors == {"pa": 2, "pb": 2, "pc": 2, "pd": 1}, "PD's SDK has one major"
    expected = {name: majors[name] * len(list(catalog().select(provider=name, kind="endpoints"))) for name in majors}
    assert Counter(row.endpoint.partition("/")[0] for row in rows) == expected
    agreed = Counter(row.endpoint.partition("/")[0] for row in rows if not row.differs)
    assert agreed["pa"] >= 20
    assert all(agreed[name] for name in majors)


def test_every_difference_has_a_reason() -> None:
    without = [
        f"{row.endpoint} and {row.sdk} differ in {what}: mend the recipe, or say why in {agreement.REASONS.name}"
        for row in agreement.compare_all()
        for what in row.differs
        if agreement.find_reason(row.endpoint, row.sdk, what) is None
    ]
    assert without == []


def test_every_reason_explains_a_difference() -> None:
    used = {
        (number, what)
        for row in agreement.compare_all()
        for what in row.differs
        if (number := agreement.find_reason(row.endpoint, row.sdk, what)) is not None
    }
    stated = {(number, what) for number, reason in enumerate(agreement.load_reasons()) for what in reason["what"]}
    assert stated == used
    assert all(len(reason["reason"]) > 20 for reason in agreement.load_reasons())


def differing(address: str, **changes: Any) -> tuple[str, ...]:
    """List the differences between an endpoint and the latest recorded SDK, after these changes to it."""
    record = catalog()[address]
    (sdk, *_) = [
        reason for reason in agreement.load_recorded_requests() if agreement.PROVIDERS[reason["sdk"]] == record.provider
    ]
    sent = json.loads(json.dumps(sdk))
    if changes:
        sent["requests"][address] = {**sent["requests"][address], **changes}
    return tuple(agreement._find_differences(record, sent))


def test_each_part_of_a_request_is_compared(subtests: pytest.Subtests) -> None:
    cases: list[tuple[dict[str, Any], tuple[str, ...]]] = [
        ({}, ()),
        ({"method": "PUT"}, ("method",)),
        ({"path": "/v2/agents"}, ("path",)),
        ({"headers": {"x-api-key": "KEY", "anthropic-version": "2023-06-01"}}, ("beta",)),
        ({"headers": {"authorization": "KEY"}}, ("version", "beta", "key")),
        ({"body": ["model", "name", "tools"]}, ("body:tools",)),
        ({"body": "multipart/form-data"}, ("body",)),
    ]
    for changes, told in cases:
        with subtests.test(changes=changes):
            assert differing("pa/endpoints/agents/create_agent", **changes) == told


def test_a_recipe_without_its_beta_header_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every call of managed agents once lacked it."""
    address = "pa/endpoints/agents/list_agents"
    own = recipe_book("pa")
    bare = {label: call.with_headers(pa_beta=None) for label, call in own.recipes[address].calls.items()}
    recipes = {**own.recipes, address: replace(own.recipes[address], calls=bare)}
    monkeypatch.setattr(agreement, "recipe_book", lambda _: replace(own, recipes=recipes))
    assert differing(address) == ("beta",)


def test_a_grpc_method_that_the_sdk_lacks_differs() -> None:
    record = catalog()["pd/endpoints/grpc/grpc_host"]
    assert tuple(agreement._find_differences(record, {"methods": {"/Models/ListLanguageModels": []}})) == ()
    assert tuple(agreement._find_differences(record, {"methods": {}})) == ("path",)
