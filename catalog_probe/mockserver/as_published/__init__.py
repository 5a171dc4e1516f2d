"""Providers as published answers show them: what contradicts the documents, behind edges such as real ones have.

What is shown is written here from what people published; nothing is read when the mock runs. It concerns HTTP and SSE:
of WebSockets and gRPC nothing was published that the documents do not say.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from catalog_probe.mockserver.as_published import pa, pb, pc, pd

if TYPE_CHECKING:
    from catalog_probe.mockserver.as_published.answers import Contradiction

CONTRADICTIONS: Mapping[str, tuple[Contradiction, ...]] = {
    "pa": pa.CONTRADICTIONS,
    "pb": pb.CONTRADICTIONS,
    "pc": pc.CONTRADICTIONS,
    "pd": pd.CONTRADICTIONS,
}
