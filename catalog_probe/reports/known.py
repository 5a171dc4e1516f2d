"""Whether the providers of a run are known here: those of a home are known where its folder is named or installed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence.results_file import EvidenceError
from catalog_probe.catalog.files import paths, provider_folders
from catalog_probe.catalog.files.manifest import providers

if TYPE_CHECKING:
    from catalog_probe.catalog.evidence.results import Run


def demand(run: Run) -> None:
    """Look for a run's providers in the home that it was asked with, too.

    Raises:
        EvidenceError: the manifest of one is nowhere: without it nothing can be told of its records.
    """
    if run.invocation.catalog:
        provider_folders.use_also(paths.locate(run.invocation.catalog))
    missing = [name for name in run.providers if name not in providers()]
    if missing:
        raise EvidenceError(
            f"run {run.run} is of {', '.join(missing)}, of which no manifest is here",
            "name its home with --catalog DIR",
        )
