"""Says in the terminal what a run saw: by cause what pytest says by item, and the state of the run last of all."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.evidence.causes import find_causes
from catalog_probe.catalog.model.errors import display_path
from catalog_probe.catalog.text.sanitizing import sanitize_row
from catalog_probe.probes.plugin.collection.collecting import address_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from catalog_probe.catalog.evidence.results import Result, Run


class Teller:
    """The plugin object that has the last word; others say what was `seen`, and add lines while the run goes on."""

    def __init__(
        self,
        folder: Path,
        seen: Callable[[], tuple[Run, Sequence[Result]] | None],
        written: Sequence[str],
        trouble: Sequence[str],
        *,
        annotate: bool = False,
    ) -> None:
        self._folder = folder
        self._seen = seen
        self._annotate = annotate
        self._written = written
        self._trouble = trouble
        self._reporter: pytest.TerminalReporter | None = None
        self._verdict = ""

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> Iterator[None]:
        """After pytest's own list of failures, which is put into the order of what made them."""
        seen = self._seen()
        if seen is None:
            yield
            self._tell_trouble(terminalreporter)
            return
        from catalog_probe.reports.views import ci_annotations, terminal  # 0.1 s to import, after the run

        run, results = seen
        _by_cause(terminalreporter, results)
        yield
        colour, width = bool(terminalreporter.hasmarkup), shutil.get_terminal_size().columns
        terminalreporter.section("catalog probe")
        quiet = terminalreporter.verbosity < 0
        terminalreporter.write_line(terminal.body(run, results, width=width, colour=colour, quiet=quiet))
        for said in self._written:
            terminalreporter.write_line(sanitize_row(said))
        self._tell_trouble(terminalreporter)
        if (report := self._folder / "report.html").is_file():
            terminalreporter.write_line(f"report: {display_path(report)}")
        if self._annotate:
            for line in ci_annotations.annotated(run, results):
                terminalreporter.write_line(line)
        self._reporter, self._verdict = (
            terminalreporter,
            terminal.verdict(run, results, width=width, colour=colour),
        )

    def _tell_trouble(self, reporter: pytest.TerminalReporter) -> None:
        for said in self._trouble:
            reporter.write_line(sanitize_row(said), red=True)

    @pytest.hookimpl(trylast=True)
    def pytest_unconfigure(self) -> None:
        """Below the line with which pytest ends."""
        if self._reporter is not None:
            self._reporter.write_line(self._verdict)


def _by_cause(reporter: pytest.TerminalReporter, results: Sequence[Result]) -> None:
    place = {record: at for at, cause in reversed([*enumerate(find_causes(results))]) for record in cause.records}
    for kind in ("failed", "error"):
        reporter.stats.get(kind, []).sort(key=lambda report: place.get(address_in(report.nodeid), len(place)))
