"""What published answers of each provider contradict in the documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.mockserver.as_published import pa, pb, pc, pd

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.mockserver.as_published.answers import Contradiction

CONTRADICTIONS: Mapping[str, tuple[Contradiction, ...]] = {
    "pa": pa.CONTRADICTIONS,
    "pb": pb.CONTRADICTIONS,
    "pc": pc.CONTRADICTIONS,
    "pd": pd.CONTRADICTIONS,
}
