"""`catalog show`: every assertion with its basis, within eighty columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model.assertion import REQUEST_LABEL
from catalog_probe.catalog.reading.annotations import request_assumptions
from catalog_probe.catalog.reading.assertions import assertions
from catalog_probe.cli.catalog_commands import show
from tests.harness.engines import catalog
from tests.unit.catalog.catalog_factories import LIMITS_ADDRESS, make_record

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Record

CATALOG = catalog()


def show_record(record: Record) -> list[str]:
    """Show a record with its assertions, as lines."""
    return show.format_record(record, "records/a.json", assertions(record, CATALOG.__getitem__)).splitlines()


def test_every_assertion_is_shown_with_its_basis_in_eighty_columns() -> None:
    """A line is longer only if it is one long word."""
    for provider in ["pa", "pb", "pc", "pd"]:
        for record in CATALOG.select(provider):
            lines = show_record(record)
            assert [line for line in lines if len(line) > 80 and len(line.split()) > 1] == [], provider
            line_numbers = {line.strip(): number for number, line in reversed(list(enumerate(lines)))}
            for assertion in assertions(record, CATALOG.__getitem__):
                description = lines[line_numbers[str(assertion.key)] + 1 :]
                assert description[0].startswith("    states"), assertion.id
                basis = next(line for line in description if line.startswith(("    documented", "    assumed")))
                assert basis.split()[0] == assertion.basis, assertion.id
            assert all(str(key) in line_numbers for key in request_assumptions(record)), record.address


def test_assumptions_about_the_request_are_shown() -> None:
    lines = show_record(make_record(assumed={f"{REQUEST_LABEL}/path": "Not shown."}))
    assert lines[lines.index("  ask/path") + 1] == "    assumed      Not shown."


def test_a_record_that_names_no_endpoint_says_so() -> None:
    assert "  observed               no endpoint yet" in show_record(make_record(LIMITS_ADDRESS))
