"""Three instances of the mock with one behaviour broken each, beside one that is whole: queries find the odd ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from probes.target import target as targets
from reports.across.comparison import Comparison
from tests.harness.engines import probe
from tests.harness.instances import broken, run_of

if TYPE_CHECKING:
    from probes.suite.embedded_mock import EmbeddedMock

METHOD, TYPE, KEY = (
    "pd/errors/request/method_not_allowed",
    "pd/errors/request/wrong_type",
    "pd/errors/authentication/no_credentials",
)
ADDRESSES = [METHOD, TYPE, KEY, "pd/errors/request/unsupported_media_type"]
MUTANTS = {
    "pd/method_not_allowed_has_a_body": METHOD,
    "pd/wrong_type_has_a_code": TYPE,
    "pd/no_header_has_another_code": KEY,
}


@pytest.fixture(scope="module")
def beside(mock: EmbeddedMock) -> Comparison:
    whole = probe(targets.load("mock").served_by(mock.addresses()), ADDRESSES)
    return Comparison([run_of("whole", whole), *(broken(mutant, ADDRESSES) for mutant in MUTANTS)])


def found(comparison: Comparison, query: str) -> set[str]:
    return {str(row.address) for row in comparison.found(query)}


def test_the_odd_one_out_is_found(beside: Comparison) -> None:
    assert found(beside, "count:1(drifted)") == set(MUTANTS.values())
    for mutant, address in MUTANTS.items():
        assert found(beside, f"count:1(drifted) any(drifted target:{mutant.replace('/', '-')})") == {address}


def test_what_drifts_beside_the_one_before_is_found(beside: Comparison) -> None:
    """The last mutant has no run after it; each has one before it that conforms."""
    assert found(beside, "seq(conforms drifted)") == set(MUTANTS.values())
    assert found(beside, "seq(conforms drifted conforms)") == {METHOD, TYPE}
    assert found(beside, "seq(drifted drifted)") == set()


def test_what_is_nowhere_as_documented_is_found(beside: Comparison) -> None:
    assert found(beside, "none(conforms)") == set()
    assert found(beside, "all(conforms)") == set(ADDRESSES) - set(MUTANTS.values())


def test_the_same_mutant_twice_is_nowhere_as_documented() -> None:
    mutant, address = next(iter(MUTANTS.items()))
    twice = [broken(mutant, [address, TYPE], today=day, run=f"r{day}") for day in ("2026-11-20", "2026-11-21")]
    assert found(Comparison(twice), "none(conforms)") == {address}
    assert not Comparison(twice).differing
