"""The rows of the list of records, which the page's script searches and draws."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence.earlier_runs import OUTCOME_LETTERS
from catalog_probe.reports.page.facets import list_facets

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Json
    from catalog_probe.reports.content.overview import Overview


def list_rows(overview: Overview) -> tuple[list[list[Json]], list[str]]:
    """Return one row per record, and the list of all facets.

    A row is address, title, outcome, tags, age, recent outcomes, milliseconds and facets. Facets are given by their
    index in the list, because most are shared by many records.
    """
    index_by_facet: dict[str, int] = {}
    rows: list[list[Json]] = []
    for record in sorted(overview.records, key=lambda record: record.address):
        recent_outcomes = (OUTCOME_LETTERS[outcome] if outcome else "." for outcome in record.recent_outcomes)
        rows.append(
            [
                record.address,
                record.result.parsed_record.title,
                OUTCOME_LETTERS[record.outcome],
                sorted(map(str, record.result.parsed_record.tags)),
                record.age,
                "".join(recent_outcomes),
                round(record.result.elapsed_ms),
                [index_by_facet.setdefault(facet, len(index_by_facet)) for facet in list_facets(record)],
            ]
        )
    return rows, list(index_by_facet)
