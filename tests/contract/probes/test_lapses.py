"""The mock without one of its behaviours: exactly the records that state it must stop conforming."""

from __future__ import annotations

import pytest

from mockserver.pd import limits
from tests.contract.probes.lapses import pa_compliance, pa_limits
from tests.harness.lapses import Lapse, Lapses, lapse

pytestmark = pytest.mark.process

TABLES = {
    "pa": pa_compliance.LAPSES,
    "pa limits": pa_limits.LAPSES,
}
ALL = [pytest.param(table, each, id=f"{name}-{each.what}") for name, table in TABLES.items() for each in table]


@pytest.mark.parametrize(("table", "lapse"), ALL)
def test_exactly_the_records_that_state_it_stop_conforming(
    table: Lapses, lapse: Lapse, monkeypatch: pytest.MonkeyPatch
) -> None:
    lapse.take_effect(monkeypatch)
    assert table.no_longer_conforming() == lapse.stated_by


@pytest.mark.parametrize("name", TABLES)
def test_without_a_lapse_all_conform(name: str) -> None:
    assert TABLES[name].no_longer_conforming() == set()


def test_a_lapse_of_a_private_part_or_of_nothing_stated_is_refused() -> None:
    with pytest.raises(ValueError, match="name a public part"):
        lapse("it says how long", limits, "_exhausted", None, "pd/errors/rate_limit/key_cap")
    with pytest.raises(ValueError, match="who states it"):
        lapse("it says how long", limits, "refuse_beyond", None)
