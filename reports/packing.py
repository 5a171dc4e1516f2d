"""Packs the details that the page does not print: raw deflate (RFC 1951) in base64, a text for each record.

Packed, all details of a run fit into the page; as plain markup they take five times as much.
"""

from __future__ import annotations

import base64
import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from reports.standing import Standing

WHOLE_BUDGET = 6_000_000
"""Characters, packed, of details with their exchanges. Beyond it records leave those to results.jsonl."""

BUDGET = 8_000_000
"""Characters, packed, of all details. Beyond it records leave everything to results.jsonl."""


def pack_details(
    standings: Iterable[Standing], whole: Callable[[Standing], str], short: Callable[[Standing], str]
) -> dict[str, str]:
    """Pack every record's detail, by address, in the order given: whole while there is room, then short, then not."""
    packed: dict[str, str] = {}
    used, room_for_whole = 0, True
    for standing in standings:
        text = pack(whole(standing)) if room_for_whole else ""
        if not text or used + len(text) > WHOLE_BUDGET:
            room_for_whole = False
            text = pack(short(standing))
        if used + len(text) <= BUDGET:
            packed[standing.address] = text
            used += len(text)
    return packed


def pack(markup: str) -> str:
    """Deflate a text, as base64."""
    deflate = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return base64.b64encode(deflate.compress(markup.encode()) + deflate.flush()).decode()
