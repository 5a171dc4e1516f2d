"""The data that the report's script reads: a row for every record, with the columns of the list."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence.earlier_runs import OUTCOME_LETTERS
from catalog_probe.catalog.text.sanitizing import escape_hidden_in_json
from catalog_probe.reports.page.facets import facets
from catalog_probe.reports.page.facts import title

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Json
    from catalog_probe.reports.content.overview import Overview


def rows(overview: Overview) -> tuple[list[list[Json]], list[str]]:
    """One row a record: address, title, outcome, tags, age, strip, milliseconds, facets.

    Facets are told by their places in the list beside: most are shared by many records.
    """
    known: dict[str, int] = {}
    told = [
        [
            each.address,
            title(each.result),
            OUTCOME_LETTERS[each.outcome],
            sorted(map(str, each.result.parsed_record.tags)),
            each.age,
            "".join(OUTCOME_LETTERS[outcome] if outcome else "." for outcome in each.strip),
            round(each.result.elapsed_ms),
            [known.setdefault(facet, len(known)) for facet in facets(each)],
        ]
        for each in sorted(overview.standings, key=lambda standing: standing.address)
    ]
    return told, list(known)


def text(data: Json) -> str:
    """JSON for a `<script type="application/json">`: nothing in it can end the element, or hide."""
    dumped = json.dumps(escape_hidden_in_json(data), ensure_ascii=False, separators=(",", ":"))
    return dumped.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
