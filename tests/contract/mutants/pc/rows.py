"""What stands in the place of PC's rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from catalog_probe.mockserver.pc.errors import PcError, Row


def coded_slow_down(row: Row) -> Row:
    return replace(row, code="slow_down")


def names_no_field(row: Row) -> Callable[..., PcError]:
    return lambda message, param=None, **more: row(message, **more)
