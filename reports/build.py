"""Makes a run's views from its results.jsonl: report.html, summary.md and junit.xml, whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from catalog.evidence.merge import merge
from catalog.evidence.results import Result, Run
from catalog.evidence.results_file import RESULTS, EvidenceError, ResultsWriter, drawing_on, read_run
from reports import junit, known, summary

if TYPE_CHECKING:
    from catalog.rely.declared import Declared

Render = Callable[[Run, Sequence[Result]], str]


def build(run_dir: Path) -> None:
    """Write the views beside a run's results.jsonl, byte for byte the same for the same results.

    Raises:
        EvidenceError: results.jsonl is missing or broken.
        OSError: a view cannot be written.
    """
    run, results = read_run(run_dir / RESULTS)
    known.demand(run)
    write_views(run_dir, run, results)


def build_merged(run_dirs: Sequence[Path], out: Path) -> None:
    """Merge several runs into one in `out`, with a results.jsonl of its own, and write its views.

    Raises:
        EvidenceError: a results.jsonl is missing or broken, the runs are of different targets, or `out` is one of them.
        OSError: `out` cannot be written.
    """
    if out.resolve() in [each.resolve() for each in run_dirs]:
        raise EvidenceError(f"--out {out} is one of the runs: its results would be lost", "name another folder")
    run, results = merge([read_run(each / RESULTS) for each in run_dirs])
    known.demand(run)
    with ResultsWriter(out / RESULTS, run) as writer:
        for result in results:
            writer.append(result.to_json())
    write_views(out, run, results)


def build_leaning(run_dir: Path, leant_on: Declared) -> int:
    """Write report.html anew, with what a client leans on among its search's terms; how many records that are.

    Raises:
        CatalogError: a pattern names nothing.
        EvidenceError: results.jsonl is missing or broken.
        OSError: the page cannot be written.
    """
    from reports import html, leaning

    run, results = read_run(run_dir / RESULTS)
    ordered = sorted(results, key=lambda result: result.record)
    with drawing_on(run_dir / RESULTS):
        found = leaning.terms(leant_on, ordered)
        view = html.render(run, ordered, found)
    write(run_dir / "report.html", view)
    return len(found.keys() & {result.record for result in ordered})


def write_views(folder: Path, run: Run, results: Sequence[Result]) -> None:
    """Write the views of what a folder's results.jsonl holds, for somebody who has read it.

    Raises:
        EvidenceError: nothing can be told of what it holds.
        OSError: a view cannot be written.
    """
    ordered = sorted(results, key=lambda result: result.record)
    for name, render in _views().items():
        with drawing_on(folder / RESULTS):
            view = render(run, ordered)
        write(folder / name, view)


def write(path: Path, text: str) -> None:
    """Write a file so that a reader sees the old one or the new one, never a part."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        fresh.write_bytes(text.encode("utf-8", "backslashreplace"))
        fresh.replace(path)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        fresh.unlink(missing_ok=True)


def _views() -> Mapping[str, Render]:
    from reports import html

    return {"report.html": html.render, "summary.md": summary.render, "junit.xml": junit.render}
