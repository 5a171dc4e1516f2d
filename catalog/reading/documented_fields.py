"""The fields of a record that state what is documented: without what write-back and people put beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog.model import Json, Record

_BESIDE = frozenset(
    """
    status verification observed_live observed live_messages retrieved_at observed_for_this_key evidence note pinned
    pinned_reason
    """.split()
)
"""Fields that say nothing about what is documented: tags, evidence, remarks, vetoes."""

_RETIRED = frozenset({"indistinguishable_from"})
"""Fields that records had once; results of that time still hold them, and state the same without."""


def documented_fields(record: Record) -> Mapping[str, Json]:
    """These fields, as they stand in the file: two records that agree in them are looked at alike."""
    return {key: _without_seen(value) for key, value in record.data.items() if key not in _BESIDE | _RETIRED}


def _without_seen(value: Json) -> Json:
    """The value without the marks that write-back sets in header rules; `seen` is an ordinary name elsewhere."""
    if not isinstance(value, dict):
        return value
    is_rule = "rule" in value
    return {key: _without_seen(each) for key, each in value.items() if not (is_rule and key == "seen")}
