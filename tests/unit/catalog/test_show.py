"""What is shown of a record: every assertion with its basis, within eighty columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from catalog import show
from catalog.model.assertion import ASK
from catalog.reading.assertions import asked, assertions
from catalog.reading.store import Catalog
from tests.unit.catalog.catalog_making import LIMITS_ADDRESS, record

if TYPE_CHECKING:
    from catalog.model import Record

CATALOG = Catalog.load()


def shown(of: Record) -> list[str]:
    return show.record_text(of, "records/a.json", assertions(of, CATALOG.__getitem__)).splitlines()


@pytest.mark.parametrize("provider", ["pa", "pb", "pc", "pd"])
def test_every_assertion_of_a_shipped_record_is_told_with_its_basis(provider: str) -> None:
    for each in CATALOG.select(provider):
        lines = shown(each)
        at = {line.strip(): number for number, line in reversed(list(enumerate(lines)))}
        made = assertions(each, CATALOG.__getitem__)
        for told in made:
            own = lines[at[str(told.key)] + 1 :]
            assert own[0].startswith("    states"), told.id
            basis = next(line for line in own if line.startswith(("    documented", "    assumed")))
            assert basis.split()[0] == told.basis, told.id
        assert all(str(key) in at for key in asked(each)), each.address


def test_no_line_is_wider_than_eighty_columns_but_for_one_long_word() -> None:
    wide = [line for each in CATALOG.records for line in shown(each) if len(line) > 80]
    assert [line for line in wide if len(line.split()) > 1] == []


def test_what_is_assumed_of_the_request_is_told() -> None:
    lines = shown(record(assumed={f"{ASK}/path": "Not shown."}))
    assert lines[lines.index("  ask/path") + 1] == "    assumed      Not shown."


def test_a_record_that_names_no_endpoint_says_so() -> None:
    assert "  looked at              no endpoint yet" in shown(record(LIMITS_ADDRESS))
