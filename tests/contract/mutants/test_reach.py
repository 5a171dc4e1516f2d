"""Who comes to what stands at a hook: a mutant is shown to them, and nobody else could have told."""

from __future__ import annotations

import pytest

from tests.harness.mutants.hooks import MOCK, Hook
from tests.harness.mutants.reach import Reach, source, traced

TOKENIZE, MODELS, KEY = (
    "pd/endpoints/tokenize/tokenize_text",
    "pd/endpoints/models/list_models",
    "pd/endpoints/api_key/get_api_key",
)


@pytest.fixture(scope="module")
def reach() -> Reach:
    return traced("pd", [TOKENIZE, MODELS, KEY])


@pytest.mark.parametrize(
    ("hook", "met_by"),
    [
        ("pd.endpoints.lookups:tokenize_text", {TOKENIZE}),
        ("pd.endpoints.lookups:describe_key()[acls]", {KEY}),
        ("pd.routes:ROUTES[GET /v1/models].path", {MODELS}),
        ("pd.gateway:identify", {TOKENIZE, MODELS, KEY}),
        ("pd.routes:ROUTES", {TOKENIZE, MODELS, KEY}),
    ],
)
def test_those_meet_it_who_come_to_it(reach: Reach, hook: str, met_by: set[str]) -> None:
    assert reach.met_by(Hook.parse(hook)) == met_by


def test_data_is_met_where_it_is_spoken_of_or_what_is_made_of_it() -> None:
    units = source("pd").units_of(Hook.parse("pd.keys:KEYS[mock-pd-blocked].blocked"))
    assert f"{MOCK}.pd.access:identify_key" in units
    assert units < set(source("pd").units)
    assert source("pd").units_of(Hook.parse("pd.keys:Key.allows")) == {f"{MOCK}.pd.keys:Key.allows"}


def test_what_is_spoken_of_nowhere_is_met_by_all(reach: Reach) -> None:
    assert reach.met_by(Hook.parse("pd.keys:NO_SUCH_NAME")) == {TOKENIZE, MODELS, KEY}
