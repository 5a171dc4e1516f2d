"""Packs the details that the page does not print: raw deflate (RFC 1951) in base64, so little that all may come along.

A chunk holds records of one family, which are alike and so pack well, and a click inflates one chunk.
"""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from reports.standing import Standing

WHOLE_BUDGET = 6_000_000
"""Characters, packed, of details with their exchanges. Beyond it records leave those to results.jsonl."""

BUDGET = 8_000_000
"""Characters, packed, of all details. Beyond it records leave everything to results.jsonl."""

CHUNK = 800_000
"""Characters of markup after which a family's next record goes into another chunk: what one click inflates."""

LEVEL = 6
"""Of zlib; 9 takes twice the time and saves a hundredth."""

ENOUGH = 1_000
"""Twice its bytes and so many characters hold a text even where deflating makes it no shorter."""


@dataclass(frozen=True, slots=True)
class Packed:
    """Details, packed: each text is the base64 of a deflated JSON object of markup by address."""

    texts: tuple[str, ...]
    place: dict[str, int]
    """Which text a record's detail is in, by its address; a record left out has none."""


def pack(standings: Iterable[Standing], whole: Callable[[Standing], str], short: Callable[[Standing], str]) -> Packed:
    """Pack every record's detail in the order given: whole while there is room, then short, then not at all.

    One chunk is open at a time, for zlib holds 400 KB for each: it ends where a record of another family comes.
    """
    texts: list[str] = []
    place: dict[str, int] = {}
    chunk, family = _Chunk(), ""
    used, is_full = 0, False
    for each in standings:
        own = each.address.rpartition("/")[0]
        if chunk.characters and (own != family or chunk.characters > CHUNK):
            texts.append(chunk.text())
            chunk = _Chunk()
        family, added = own, 0
        if not is_full:
            added = chunk.add(each.address, whole(each), WHOLE_BUDGET - used)
            is_full = not added
        if not added:
            added = chunk.add(each.address, short(each), BUDGET - used)
        if added:
            used += added
            place[each.address] = len(texts)
    if chunk.characters:
        texts.append(chunk.text())
    return Packed(tuple(texts), place)


class _Chunk:
    """A JSON object that is deflated while it grows, so that what each member adds is known exactly."""

    def __init__(self) -> None:
        self.characters = 0
        self._deflate = zlib.compressobj(LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS, 9)
        self._parts: list[bytes] = []

    def add(self, address: str, markup: str, room: int) -> int:
        """Add a member if it takes no more than `room`; say how many characters of base64 it took, or 0."""
        member = f"{json.dumps(address)}:{json.dumps(markup, ensure_ascii=False)}"
        raw = f"{',' if self._parts else '{'}{member}".encode()
        # A copy is half a megabyte, and needed only where there may be no room for what goes in.
        trial = self._deflate if 2 * len(raw) + ENOUGH < room else self._deflate.copy()
        part = trial.compress(raw) + trial.flush(zlib.Z_SYNC_FLUSH)
        taken = -(-len(part) * 4 // 3)
        if taken > room:
            return 0
        self._deflate = trial
        self._parts.append(part)
        self.characters += len(member)
        return taken

    def text(self) -> str:
        end = self._deflate.compress(b"}") + self._deflate.flush()
        return base64.b64encode(b"".join([*self._parts, end])).decode()
