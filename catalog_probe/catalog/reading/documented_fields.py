"""The fields of a record that state what is documented, without what write-back and people add."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.catalog.model import Json, Record

_OTHER_FIELDS = frozenset(
    """
    status verification observed_live observed live_messages retrieved_at observed_for_this_key evidence note pinned
    pinned_reason
    """.split()
)
"""Tags, evidence, remarks and pins."""


def documented_fields(record: Record) -> Mapping[str, Json]:
    """Return the documented fields: two records that agree in them are probed alike."""
    return {key: _without_seen_marks(value) for key, value in record.data.items() if key not in _OTHER_FIELDS}


def _without_seen_marks(value: Json) -> Json:
    """Remove `seen`, which write-back sets in header rules; elsewhere `seen` is an ordinary name."""
    if not isinstance(value, dict):
        return value
    return {
        key: _without_seen_marks(member) for key, member in value.items() if not (key == "seen" and "rule" in value)
    }
