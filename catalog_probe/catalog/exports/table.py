"""The catalog as a table: a line a record, for spreadsheets and data frames."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from catalog_probe.catalog.library import CatalogRecord

COLUMNS = (
    *("address", "provider", "kind", "title", "statuses", "type", "code", "meaning", "retry", "wait", "what_to_do"),
    *("endpoints", "sources", "tags", "seen_on"),
)
"""The columns, in order; several values of one stand with a space between them."""

_FORMULA = ("=", "+", "-", "@", "\t")
"""What a spreadsheet would take for a formula at the beginning of a cell."""


def to_csv(records: Iterable[CatalogRecord]) -> str:
    """CSV (RFC 4180) with a header line."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(COLUMNS)
    for each in records:
        advice = each.retry
        row = (
            each.address,
            each.provider,
            each.kind,
            each.title,
            " ".join(map(str, each.statuses)),
            each.type,
            each.code,
            each.meaning,
            str(advice.may) if each.kind == "errors" else "",
            advice.wait_from if each.kind == "errors" else "",
            advice.change,
            " ".join(each.endpoints),
            "; ".join(each.sources),
            " ".join(each.tags),
            each.seen_on.isoformat() if each.seen_on else "",
        )
        writer.writerow([f"'{cell}" if cell.startswith(_FORMULA) else cell for cell in row])
    return out.getvalue()
