"""`catalog-probe report build RUN`: find the folder of a run, read its results.jsonl, and write its views beside it.

The views are report.html, summary.md and junit.xml. The end of a run writes them by the same functions.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence.merge import merge_runs
from catalog_probe.catalog.evidence.results_file import (
    RESULTS_FILE,
    EvidenceError,
    ResultsWriter,
    read_run,
    report_unusable_evidence,
)
from catalog_probe.catalog.files import provider_folders
from catalog_probe.catalog.files.manifest import providers
from catalog_probe.catalog.model import Address
from catalog_probe.reports.views import junit, summary

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
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
    providers_of_lanes = (lane.partition(":")[0] for lane in run.self_tests)
    providers_of_records = (Address.parse(address).provider for address in run.selected)
    named = {*run.providers, *run.expected, *run.revisions, *providers_of_lanes, *providers_of_records}
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
    """Return the folder of a run, or None if there is none.

    Example: `20261121T040212Z-live-3f9a`, the path of that folder, and the path of any file in it -> the folder.
    """
    for path in (provider_folders.locate(name), provider_folders.runs_folder() / name):
        if path.is_dir():
            return path
        if path.is_file() and (path.parent / RESULTS_FILE).is_file():
            return path.parent
    return None


def _suggest_run() -> str:
    """Return the end of a message, `, such as RUN` with the newest run, or that there is none yet."""
    names = sorted(
        path.name
        for path in provider_folders.runs_folder().glob("*/")
        if (path / RESULTS_FILE).is_file() and path.name != "latest"
    )
    return f", such as {names[-1]}" if names else " (there is none yet: `catalog-probe probe` makes one)"


PAGE = "report.html"


def build(run_dir: Path) -> None:
    """Write the views beside a run's results.jsonl, byte for byte the same for the same results.

    Raises:
        EvidenceError: results.jsonl is missing or broken.
        OSError: a view cannot be written.
    """
    run, results = read_run(run_dir / RESULTS_FILE)
    require_providers(run)
    write_views(run_dir, run, results)


def build_merged(run_dirs: Sequence[Path], out: Path) -> Run:
    """Merge several runs into one in `out`, with its own results.jsonl and views, and return its description.

    Raises:
        EvidenceError: a results.jsonl is missing or broken, the runs are of different targets, or `out` is one of them.
        OSError: `out` cannot be written.
    """
    if out.resolve() in [run_dir.resolve() for run_dir in run_dirs]:
        raise EvidenceError(f"--out {out} is one of the runs: its results would be lost", "name another folder")
    run, results = merge_runs([read_run(run_dir / RESULTS_FILE) for run_dir in run_dirs])
    require_providers(run)
    with ResultsWriter(out / RESULTS_FILE, run) as writer:
        for result in results:
            writer.append(result.to_json())
    write_views(out, run, results)
    return run


def write_views(folder: Path, run: Run, results: Sequence[Result]) -> None:
    """Write the views of a run whose results.jsonl the caller has read already.

    Raises:
        EvidenceError: the results cannot be rendered.
        OSError: a view cannot be written.
    """
    from catalog_probe.reports.page import html  # imports jinja2, which is slow

    ordered = sorted(results, key=lambda result: result.record)
    views: dict[str, Callable[[Run, Sequence[Result]], str]] = {
        "summary.md": summary.render,
        "junit.xml": junit.render,
        PAGE: html.render,
    }
    with report_unusable_evidence(folder / RESULTS_FILE):
        for name, render in views.items():
            write(folder / name, render(run, ordered))


def write(path: Path, text: str) -> None:
    """Write a file atomically: a reader sees the old one or the new one, never a part."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        unfinished.unlink(missing_ok=True)  # of a killed process that had the same id
        with unfinished.open("xb") as file:  # not through a link that somebody made
            # An answer may hold lone surrogates, which UTF-8 cannot encode.
            file.write(text.encode("utf-8", "backslashreplace"))
        unfinished.replace(path)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        unfinished.unlink(missing_ok=True)
