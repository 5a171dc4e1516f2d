"""Makes the header and results of a run without running it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.evidence.results import Run

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.catalog.evidence.results import Result

RunResults = tuple[Run, list["Result"]]


def make_run(name: str, results: Mapping[str, Result], **changes: Any) -> RunResults:
    """Return a run of that name and its results; `changes` are made to the header."""
    header: dict[str, Any] = {
        "run": name,
        "target": name,
        "live": False,
        "started_at": "2026-11-21T04:00:00Z",
        "today": "2026-11-21",
        "selected": tuple(sorted(results)),
    }
    return Run(**{**header, **changes}), list(results.values())
