"""The list of records that the page's script searches and draws: a row per record, with its search facets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog import search
from catalog_probe.catalog.evidence.causes import cause_id, cause_key, observed_class
from catalog_probe.catalog.evidence.earlier_runs import OUTCOME_LETTERS
from catalog_probe.catalog.text.readable_text import shorten
from catalog_probe.reports.content.sections import list_query_words
from catalog_probe.reports.content.words import OUTCOMES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from catalog_probe.catalog.model import Json
    from catalog_probe.reports.content.overview import Overview
    from catalog_probe.reports.content.reported_records import ReportedRecord

MAX_FACET_LENGTH = 300  # characters; a hostile answer must not swell the page


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


def list_facets(record: ReportedRecord) -> tuple[str, ...]:
    """Return all facets of a record, as `field:value` in lower case, each once."""
    facets = (shorten(" ".join(facet.split()), MAX_FACET_LENGTH).lower() for facet in _iterate_facets(record))
    return tuple(dict.fromkeys(facets))


def _iterate_facets(record: ReportedRecord) -> Iterator[str]:
    result = record.result
    yield from search.record_facets(result.parsed_record)
    yield from (f"is:{word}" for word in sorted(list_query_words(record)))
    yield f"outcome:{OUTCOMES[result.outcome].replace(' ', '-')}"
    for finding in result.findings:
        yield f"finding:{finding.code}"
        yield f"message:{finding.message}"
        yield f"observed:{observed_class(finding)}"
        yield f"label:{finding.label}"
        if finding.is_drift:
            yield f"cause:{cause_id(cause_key(record.provider, finding))}"
    if result.reason is not None:
        yield f"reason:{result.reason.code}"
        yield f"message:{result.reason.detail}"
    if result.lane:
        yield f"lane:{result.lane}"
    if result.cost:
        yield f"cost:{result.cost}"
