"""What a person means by a RUN: a run's folder, its results.jsonl, or its name under reports/out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence.results_file import RESULTS_FILE, EvidenceError, read_run
from catalog_probe.catalog.files import paths
from catalog_probe.reports import known

if TYPE_CHECKING:
    from pathlib import Path

    from catalog_probe.catalog.evidence.results import Result, Run


def read(name: str) -> tuple[Run, list[Result]]:
    """What the run of a name says, its providers known here.

    Raises:
        EvidenceError: there is none, it cannot be read, or the manifest of a provider is nowhere.
    """
    run, results = read_run(folder_of(name) / RESULTS_FILE)
    known.demand(run)
    return run, results


def folder_of(name: str) -> Path:
    """The folder that a person means by a path, a results file or a run's name.

    Raises:
        EvidenceError: there is none.
    """
    found = folder_or_none(name)
    if found is None:
        mend = f"give a run's folder, its results.jsonl, or a name under {paths.RUNS}{_known()}"
        raise EvidenceError(f"no run {name!r}", mend)
    return found


def folder_or_none(name: str) -> Path | None:
    """The same; None where there is none."""
    for path in (paths.locate(name), paths.runs_folder() / name):
        if path.is_dir():
            return path
        if path.is_file() and (path.parent / RESULTS_FILE).is_file():
            return path.parent  # whichever of its files is named
    return None


def _known() -> str:
    names = sorted(
        path.name
        for path in paths.runs_folder().glob("*/")
        if (path / RESULTS_FILE).is_file() and path.name != "latest"
    )
    return f", such as {names[-1]}" if names else " (there is none yet: `pytest probes` makes one)"
