"""The fields of a record that state what is documented: without what write-back and people put beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.catalog.model import Json, Record

_BESIDE = frozenset(
    """
    status verification observed_live observed live_messages retrieved_at observed_for_this_key evidence note pinned
    pinned_reason
    """.split()
)
"""Fields that say nothing about what is documented: tags, evidence, remarks, vetoes."""


def documented_fields(record: Record) -> Mapping[str, Json]:
    """These fields, as they stand in the file: two records that agree in them are looked at alike."""
    return {key: _without_seen(value) for key, value in record.data.items() if key not in _BESIDE}


def _without_seen(value: Json) -> Json:
    """The value without the marks that write-back sets in header rules; `seen` is an ordinary name elsewhere."""
    if not isinstance(value, dict):
        return value
    found = {key: _without_seen(each) if isinstance(each, dict) else each for key, each in value.items()}
    if "rule" in value:
        found.pop("seen", None)
    return found
