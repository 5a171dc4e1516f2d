"""Bytes in pieces, as a network brings them: cut at any places."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

CUTS = st.lists(st.integers(0, 10**6), max_size=12)


def split_bytes(raw: bytes, places: list[int]) -> Iterator[bytes]:
    """The bytes in pieces, cut at these places."""
    edges = sorted({0, len(raw), *(place % (len(raw) + 1) for place in places)})
    return (raw[start:end] for start, end in itertools.pairwise(edges))


async def stream_pieces(raw: bytes, places: list[int]) -> AsyncIterator[bytes]:
    for piece in split_bytes(raw, places):
        yield piece
