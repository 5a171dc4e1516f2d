"""The exit status of a live run that has only results."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence import run_verdict
from catalog_probe.catalog.evidence.results import Result, Run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from catalog_probe.catalog.model.errors import Exit

LIVE = Run("night", "live", live=True, started_at="2026-11-01T03:00:00Z", today="2026-11-01")


def find_exit_status(results: Sequence[Result], *expected: str) -> Exit:
    """Return the exit status of a live run with these results; `expected` are the providers that need a verdict."""
    return run_verdict.exit_status(replace(LIVE, expected=expected), results)
