"""Which records reach a hook: a mutant is tried on them, and no other record could notice it."""

from __future__ import annotations

import pytest

from tests.harness.mutants.hooks import Hook
from tests.harness.mutants.reach import MockReach, read_source, trace_records

TOKENIZE, MODELS, KEY = (
    "pd/endpoints/tokenize/tokenize_text",
    "pd/endpoints/models/list_models",
    "pd/endpoints/api_key/get_api_key",
)


def find_units(hook: str) -> frozenset[str]:
    return read_source("pd").find_units(Hook.parse(hook))


@pytest.fixture(scope="module")
def reach() -> MockReach:
    return trace_records("pd", [TOKENIZE, MODELS, KEY])


def test_records_that_run_the_code_reach_the_hook(reach: MockReach, subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, set[str]]] = [
        ("pd:tokenize_text", {TOKENIZE}),
        ("pd:describe_key()[acls]", {KEY}),
        ("pd:ROUTES[GET /v1/models].path", {MODELS}),
        ("pd:identify_key", {TOKENIZE, MODELS, KEY}),
        ("pd:ROUTES", {TOKENIZE, MODELS, KEY}),
    ]
    for hook, addresses in cases:
        with subtests.test(hook=hook):
            assert reach.reached_by(Hook.parse(hook)) == addresses


def test_data_is_reached_by_units_that_use_it_or_a_derived_name() -> None:
    units = find_units("pd:KEYS[mock-pd-blocked].blocked")
    assert find_units("pd:identify_key") <= units < set(read_source("pd").units)
    assert {unit.partition(":")[2] for unit in find_units("pd:Key.allows")} == {"Key.allows"}


def test_hook_that_no_unit_uses_is_reached_by_all(reach: MockReach) -> None:
    assert reach.reached_by(Hook("anywhere", "NO_SUCH_NAME")) == {TOKENIZE, MODELS, KEY}
