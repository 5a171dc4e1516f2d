"""Lookup of the run that a person names: its folder, its results.jsonl, or its name under reports/out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence.results_file import RESULTS_FILE, EvidenceError, read_run
from catalog_probe.catalog.files import provider_folders
from catalog_probe.catalog.files.manifest import providers
from catalog_probe.catalog.model import Address

if TYPE_CHECKING:
    from pathlib import Path

    from catalog_probe.catalog.evidence.results import Result, Run


def read_named_run(name: str) -> tuple[Run, list[Result]]:
    """Read a run, and load the manifests of its providers.

    Raises:
        EvidenceError: there is no such run, it cannot be read, or the manifest of a provider is missing.
    """
    run, results = read_run(find_run_folder(name) / RESULTS_FILE)
    require_providers(run)
    return run, results


def require_providers(run: Run) -> None:
    """Check that every provider that a run's first line names has a manifest.

    It may also be in the provider folder that the run was made with.

    Raises:
        EvidenceError: a manifest is missing; without it nothing can be said of the provider's records.
    """
    if run.invocation.catalog:
        provider_folders.use_also(provider_folders.locate(run.invocation.catalog))
    of_lanes = (lane.partition(":")[0] for lane in run.self_tests)
    of_records = (Address.parse(address).provider for address in run.selected)
    named = {*run.providers, *run.expected, *run.revisions, *of_lanes, *of_records}
    missing = sorted(named.difference(providers()))
    if missing:
        raise EvidenceError(
            f"run {run.run} is of {', '.join(missing)}, whose manifest is not here",
            "name the provider folder with --catalog DIR",
        )


def find_run_folder(name: str) -> Path:
    """Return the folder of a run.

    Raises:
        EvidenceError: there is none.
    """
    folder = find_run_folder_or_none(name)
    if folder is None:
        mend = f"give a run's folder, its results.jsonl, or a name under {provider_folders.RUNS}{_suggest_run()}"
        raise EvidenceError(f"no run {name!r}", mend)
    return folder


def find_run_folder_or_none(name: str) -> Path | None:
    """Return the folder of a run, or None if there is none. Any file in the folder may be named."""
    for path in (provider_folders.locate(name), provider_folders.runs_folder() / name):
        if path.is_dir():
            return path
        if path.is_file() and (path.parent / RESULTS_FILE).is_file():
            return path.parent
    return None


def _suggest_run() -> str:
    names = sorted(
        path.name
        for path in provider_folders.runs_folder().glob("*/")
        if (path / RESULTS_FILE).is_file() and path.name != "latest"
    )
    return f", such as {names[-1]}" if names else " (there is none yet: `pytest probes` makes one)"
