"""Prints in the terminal what a run observed: failures by cause, verdict."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.evidence.causes import find_causes
from catalog_probe.catalog.model.errors import display_path
from catalog_probe.catalog.text.readable_text import sanitize_row
from catalog_probe.probes.plugin.collection.collecting import address_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from catalog_probe.catalog.evidence.results import Result, Run


class SummaryPrinter:
    """The plugin object that prints the summary and, as last line, the verdict.

    `read_results` returns the run and its results, or None if nothing was probed. `written` and `trouble` are lines
    that are still added to while the run goes on.
    """

    def __init__(
        self,
        folder: Path,
        read_results: Callable[[], tuple[Run, Sequence[Result]] | None],
        written: Sequence[str],
        trouble: Sequence[str],
        *,
        annotate: bool = False,
    ) -> None:
        self._folder = folder
        self._read_results = read_results
        self._annotate = annotate
        self._written = written
        self._trouble = trouble
        self._reporter: pytest.TerminalReporter | None = None
        self._verdict = ""

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> Iterator[None]:
        """Sort pytest's own list of failures by cause, and print the summary below it."""
        run_and_results = self._read_results()
        if run_and_results is None:
            yield
            self._print_trouble(terminalreporter)
            return
        run, results = run_and_results
        _sort_by_cause(terminalreporter, results)
        yield
        self._print_summary(terminalreporter, run, results)

    @pytest.hookimpl(trylast=True)
    def pytest_unconfigure(self) -> None:
        """Print the verdict below the line with which pytest ends."""
        if self._reporter is not None:
            self._reporter.write_line(self._verdict)

    def _print_summary(self, reporter: pytest.TerminalReporter, run: Run, results: Sequence[Result]) -> None:
        from catalog_probe.reports.views import ci_annotations, terminal  # imported after the run: 0.1 s

        colour, width = bool(reporter.hasmarkup), shutil.get_terminal_size().columns
        reporter.section("catalog probe")
        quiet = reporter.verbosity < 0
        reporter.write_line(terminal.render_body(run, results, width=width, colour=colour, quiet=quiet))
        for line in self._written:
            reporter.write_line(sanitize_row(line))
        self._print_trouble(reporter)
        if (report := self._folder / "report.html").is_file():
            reporter.write_line(f"report: {display_path(report)}")
        if self._annotate:
            for line in ci_annotations.render(run, results):
                reporter.write_line(line)
        self._reporter = reporter
        self._verdict = terminal.render_verdict(run, results, width=width, colour=colour)

    def _print_trouble(self, reporter: pytest.TerminalReporter) -> None:
        for line in self._trouble:
            reporter.write_line(sanitize_row(line), red=True)


def _sort_by_cause(reporter: pytest.TerminalReporter, results: Sequence[Result]) -> None:
    """Sort failed items by the first cause of their record."""
    ranks: dict[str, int] = {}
    for rank, cause in enumerate(find_causes(results)):
        for record in cause.records:
            ranks.setdefault(record, rank)
    for kind in ("failed", "error"):
        reporter.stats.get(kind, []).sort(key=lambda report: ranks.get(address_in(report.nodeid), len(ranks)))
