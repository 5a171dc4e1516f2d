"""Replacements for PC's rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from catalog_probe.mockserver.core.errors import ErrorRow, Refusal


def names_no_field(row: ErrorRow) -> Callable[..., Refusal]:
    def replacement(*, param: str | None = None, **values: Any) -> Refusal:
        return row(**values)

    return replacement
