"""After the last probe: views, history, write-back, leftovers and the summary."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.evidence.causes import find_causes
from catalog_probe.catalog.files import provider_folders
from catalog_probe.catalog.model.errors import display_path
from catalog_probe.catalog.text.readable_text import sanitize_row
from catalog_probe.catalog.writeback import accepted_differences
from catalog_probe.catalog.writeback.planner import UpdatePolicy
from catalog_probe.probes.plugin.collecting import address_in
from catalog_probe.probes.running import journal
from catalog_probe.reports.history import append_to_history

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from catalog_probe.catalog.evidence.results import Result, Run
    from catalog_probe.probes.plugin.options import Options


def find_stale_entries(options: Options) -> dict[str, str]:
    """Describe the accepted differences of this target that fail the run, each by the address of its record.

    They name no record, or their review is overdue.
    """
    entries = [entry for entry in options.accepted if entry.target == options.target_label]
    # The file of accepted differences speaks about the records of its provider folder only.
    if not all(map(provider_folders.is_provider_records, options.catalog.roots)):
        addresses = {str(address) for address in options.catalog}
        entries = [entry for entry in entries if entry.address in addresses]
    problems = accepted_differences.find_problems(entries, options.catalog, options.today)
    return {problem.location: f"accepted difference: {problem}" for problem in problems}


def make_views(options: Options, folder: Path, run: Run, results: Sequence[Result], *, remember: bool) -> list[str]:
    """Make everything beside results.jsonl, and return a line for each kind of failure.

    A failure is our own fault, so the run exits 3: nobody can read the report, or compare the next run. It loses
    nothing, because the views can be made again from results.jsonl. `remember`: whether the run is added to the
    history.
    """
    from catalog_probe.catalog.writeback import update  # imported after the run, so that the run starts sooner
    from catalog_probe.reports import build

    views: dict[str, Callable[[], object]] = {
        "the records as this run would leave them": lambda: update.write_run_copy(
            options.catalog, folder, (run, results)
        ),
        "the report": lambda: build.write_views(folder, run, results),
        "the history": lambda: append_to_history(options.history_folder, run, results) if remember else None,
    }
    failed_views: dict[str, list[str]] = {}
    for name, make in views.items():
        try:
            make()
        except Exception as error:  # noqa: BLE001 - results.jsonl is safe, and the other views may succeed
            failed_views.setdefault(_describe_failure(error), []).append(name)
    command = f"catalog-probe report build {folder}"
    return [
        f"could not write {' and '.join(names)}: {what}; mend that, then `{command}`"
        for what, names in failed_views.items()
    ]


def link_latest(options: Options, folder: Path) -> list[str]:
    """Let `latest` lead to this run; return a line if it cannot. No run depends on it, and some disks have no links."""
    try:
        _link(options.out / "latest", folder.name)
    except OSError as error:
        return [f"could not write {provider_folders.RUNS}/latest: {error.strerror or error}"]
    return []


def write_back(options: Options, run: Run, results: Sequence[Result]) -> list[str]:
    """Write what was observed into the records; return what was done, in lines.

    Raises:
        CatalogError: a file cannot be read or written. What was observed is safe in results.jsonl.
    """
    from catalog_probe.catalog.writeback import update  # as above; most runs write nothing back

    summary = update.update_folders([(run, results)], options.catalog.roots, policy=UpdatePolicy(), today=options.today)
    return [f"update: {line}" for line in summary.lines()]


def describe_leftovers(folder: Path, target: str) -> list[str]:
    """Say what the run made on an account and could not remove."""
    try:
        entries = journal.read_open_entries(folder / journal.FILE_NAME)
    except journal.JournalError as error:
        return [str(error)]
    if not entries:
        return []
    records = ", ".join(dict.fromkeys(entry.record for entry in entries))
    return [
        f"{len(entries)} made and not removed ({records}): `catalog-probe target cleanup {folder} --target {target}`"
    ]


def _describe_failure(error: Exception) -> str:
    """Describe a failure; one full disk is one failure, whichever file it hits first."""
    cause = error.__cause__ if isinstance(error.__cause__, OSError) else error
    if isinstance(cause, OSError) and cause.strerror:
        return cause.strerror
    return f"{type(error).__name__}: {error}"


def _link(link: Path, name: str) -> None:
    """Point `latest` at a run, atomically: a reader sees the old run or the new one."""
    new_link = link.with_name(f"{link.name}.{os.getpid()}")
    new_link.symlink_to(name)
    new_link.replace(link)


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
