"""Compressed details of the records that the page does not print: raw deflate (RFC 1951) in base64.

Compressed, the details of a whole run fit into the page; as plain markup they take five times as much.
"""

from __future__ import annotations

import base64
import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from catalog_probe.reports.content.reported_records import ReportedRecord

BUDGET = 8_000_000  # characters of all compressed details; the rest are only in results.jsonl


def pack_details(records: Iterable[ReportedRecord], render: Callable[[ReportedRecord], str]) -> dict[str, str]:
    """Compress the details of the records, by address, in the order given, until the budget is used up."""
    packed: dict[str, str] = {}
    size = 0
    for record in records:
        text = _pack(render(record))
        size += len(text)
        if size > BUDGET:
            break
        packed[record.address] = text
    return packed


def _pack(markup: str) -> str:
    compressor = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return base64.b64encode(compressor.compress(markup.encode()) + compressor.flush()).decode()
