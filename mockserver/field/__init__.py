"""Reality as a profile: providers that answer as published answers show, behind edges such as real ones have.

What is shown is written here from what people published; nothing is read when the mock runs. It concerns HTTP and SSE:
of WebSockets and gRPC nothing was published that the documents do not say.
"""

from __future__ import annotations

from collections.abc import Mapping

from mockserver.field import pa, pb, pc, pd
from mockserver.field.profile import Profile

PROFILES: Mapping[str, Profile] = {
    "field": Profile(
        {"pa": pa.CONTRADICTIONS, "pb": pb.CONTRADICTIONS, "pc": pc.CONTRADICTIONS, "pd": pd.CONTRADICTIONS}
    ),
    "edges": Profile({}),
}
"""`edges` has the edges alone: what it changes may change no verdict."""

__all__ = ["PROFILES", "Profile"]
