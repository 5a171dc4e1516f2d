"""What a run of some name says, made of results without a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.evidence.results import Run

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.catalog.evidence.results import Result

RunResults = tuple[Run, list["Result"]]


def make_run(name: str, results: Mapping[str, Result], **changes: Any) -> RunResults:
    """What a run of that name says; `changes` are made to its first line."""
    described: dict[str, Any] = {
        "run": name,
        "target": name,
        "live": False,
        "started_at": "2026-11-21T04:00:00Z",
        "today": "2026-11-21",
        "selected": tuple(sorted(results)),
    }
    return Run(**{**described, **changes}), list(results.values())
