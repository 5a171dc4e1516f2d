"""Makes a run's views from its results.jsonl: report.html, summary.md and junit.xml, whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from catalog.evidence import Result, Run, read_run
from reports import junit, summary

RESULTS = "results.jsonl"

Render = Callable[[Run, Sequence[Result]], str]


def build(run_dir: Path) -> None:
    """Write the views beside results.jsonl, byte for byte the same for the same results.

    Raises:
        EvidenceError: results.jsonl is missing or broken.
        OSError: a view cannot be written.
    """
    run, results = read_run(run_dir / RESULTS)
    ordered = sorted(results, key=lambda result: result.record)
    for name, render in _views().items():
        write(run_dir / name, render(run, ordered))


def write(path: Path, text: str) -> None:
    """Write a file so that a reader sees the old one or the new one, never a part."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        fresh.write_bytes(text.encode("utf-8", "backslashreplace"))
        os.replace(fresh, path)
    finally:
        fresh.unlink(missing_ok=True)


def _views() -> Mapping[str, Render]:
    from reports import html

    return {"report.html": html.render, "summary.md": summary.render, "junit.xml": junit.render}
