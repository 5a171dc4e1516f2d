"""Views of a run, made from its results.jsonl: report.html, summary.md and junit.xml."""

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
from catalog_probe.reports.run_lookup import require_providers
from catalog_probe.reports.views import junit, summary

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from catalog_probe.catalog.evidence.results import Result, Run

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
        # An answer may hold lone surrogates, which UTF-8 cannot encode.
        unfinished.unlink(missing_ok=True)
        with unfinished.open("xb") as file:  # not through a link that somebody made
            file.write(text.encode("utf-8", "backslashreplace"))
        unfinished.replace(path)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        unfinished.unlink(missing_ok=True)
