"""Export the catalog as CSV, one line per record, for spreadsheets and data frames."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from catalog_probe.catalog.library import CatalogRecord

COLUMNS = (
    *("address", "provider", "kind", "title", "statuses", "type", "code", "meaning", "retry", "wait", "what_to_do"),
    *("endpoints", "sources", "tags", "seen_on"),
)
"""The columns, in order; several values in a cell are separated by a space, and sources by `; `."""

_FORMULA_PREFIXES = ("=", "+", "-", "@", "\t")
"""A spreadsheet takes a cell that begins so for a formula."""


def to_csv(records: Iterable[CatalogRecord]) -> str:
    """Return CSV (RFC 4180) with a header line."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(COLUMNS)
    for record in records:
        # A quote before a formula keeps a spreadsheet from running what a record says.
        writer.writerow(f"'{cell}" if cell.startswith(_FORMULA_PREFIXES) else cell for cell in _cells(record))
    return out.getvalue()


def _cells(record: CatalogRecord) -> Iterator[str]:
    advice = record.retry
    is_error = record.kind == "errors"
    yield from (record.address, record.provider, record.kind, record.title)
    yield from (" ".join(map(str, record.statuses)), record.type, record.code, record.meaning)
    yield from (str(advice.may) if is_error else "", advice.wait_from if is_error else "", advice.change)
    yield from (" ".join(record.endpoints), "; ".join(record.sources), " ".join(record.tags))
    yield record.seen_on.isoformat() if record.seen_on else ""
