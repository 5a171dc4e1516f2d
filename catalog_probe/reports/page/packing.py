"""Packs the details that the page does not print: raw deflate (RFC 1951) in base64, a text for each record.

Packed, all details of a run fit into the page; as plain markup they take five times as much.
"""

from __future__ import annotations

import base64
import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from catalog_probe.reports.content.standing import Standing

BUDGET = 8_000_000
"""Characters, packed, of all details. Beyond it records leave them to results.jsonl."""


def pack_details(standings: Iterable[Standing], detail: Callable[[Standing], str]) -> dict[str, str]:
    """Pack every record's detail, by address, in the order given, while there is room."""
    packed: dict[str, str] = {}
    used = 0
    for standing in standings:
        text = pack(detail(standing))
        used += len(text)
        if used > BUDGET:
            break
        packed[standing.address] = text
    return packed


def pack(markup: str) -> str:
    """Deflate a text, as base64."""
    deflate = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return base64.b64encode(deflate.compress(markup.encode()) + deflate.flush()).decode()
