"""`catalog show`: every assertion with its basis, within eighty columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.model.assertion import REQUEST_LABEL
from catalog_probe.catalog.reading.annotations import request_assumptions
from catalog_probe.catalog.reading.assertions import assertions
from catalog_probe.cli.catalog_commands import show
from tests.harness.engines import catalog
from tests.unit.catalog.catalog_factories import LIMITS_ADDRESS, make_record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from catalog_probe.catalog.model import Record
    from catalog_probe.catalog.model.assertion import Assertion

CATALOG = catalog()


def shown(of: Record, made: Sequence[Assertion] | None = None) -> list[str]:
    told = assertions(of, CATALOG.__getitem__) if made is None else made
    return show.format_record(of, "records/a.json", told).splitlines()


@pytest.mark.parametrize("provider", ["pa", "pb", "pc", "pd"])
def test_every_assertion_of_a_shipped_record_is_told_with_its_basis_in_eighty_columns(provider: str) -> None:
    """But for one long word, a line is no wider."""
    for each in CATALOG.select(provider):
        made = assertions(each, CATALOG.__getitem__)
        lines = shown(each, made)
        assert [line for line in lines if len(line) > 80 and len(line.split()) > 1] == []
        at = {line.strip(): number for number, line in reversed(list(enumerate(lines)))}
        for told in made:
            own = lines[at[str(told.key)] + 1 :]
            assert own[0].startswith("    states"), told.id
            basis = next(line for line in own if line.startswith(("    documented", "    assumed")))
            assert basis.split()[0] == told.basis, told.id
        assert all(str(key) in at for key in request_assumptions(each)), each.address


def test_what_is_assumed_of_the_request_is_told() -> None:
    lines = shown(make_record(assumed={f"{REQUEST_LABEL}/path": "Not shown."}))
    assert lines[lines.index("  ask/path") + 1] == "    assumed      Not shown."


def test_a_record_that_names_no_endpoint_says_so() -> None:
    assert "  observed               no endpoint yet" in shown(make_record(LIMITS_ADDRESS))
