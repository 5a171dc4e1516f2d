"""The results store of a run: appends each result to its results.jsonl, once."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.evidence import completeness
from catalog_probe.catalog.evidence.results import Result, Run
from catalog_probe.catalog.evidence.results_file import ResultsWriter
from catalog_probe.catalog.model import Address
from catalog_probe.probes.planning.reach import ProviderReach, provider_reaches
from catalog_probe.probes.recipes.book import recipe_book

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from catalog_probe.probes.plugin.options import Options


def describe_unwritable_results(error: OSError) -> str:
    """Say in one line that there is no room for results, and what to do."""
    return f"results.jsonl: {error.strerror or error}; make room, or name another folder with --out"


class Recorder:
    """Writes the results of a run, and of the harness, such as a lost worker.

    `on_full` is called with what happened when there is no room for a line: the run should end, because what it
    observes from then on would be lost.
    """

    def __init__(self, options: Options, on_full: Callable[[str], None]) -> None:
        self.reported: set[str] = set()
        """The addresses of the records that have a result."""
        self.is_full = False
        self.lost_workers: dict[str, str] = {}
        """How each was lost, by name, until it is written: the file opens when the first worker has collected."""
        self._options = options
        self._on_full = on_full
        self._writer: ResultsWriter | None = None
        self._selected: tuple[str, ...] = ()
        self._harness_records: set[str] = set()
        self._reach_by_record: dict[str, str] = {}
        """Kept because most results come twice: when the record is answered, and when its verdict is final."""

    @property
    def is_open(self) -> bool:
        return self._writer is not None

    def open(self, file: Path, run: Run) -> None:
        """Write the line of the run, and the workers that were lost before.

        Raises:
            OSError: it cannot be written.
        """
        self._selected = run.selected
        self._writer = ResultsWriter(file, run)
        self._write_lost_workers()

    def close(self) -> None:
        """Close the file; safe to call again."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def record(self, result: Any) -> Result | None:
        """Append a result in plain JSON, unless its last line says the same; return it if it is a record's.

        A record may come again, because a later answer changed its verdict, or because xdist gave its item to another
        worker. Its last line counts. Of the harness's own results the first one counts.
        """
        address = result["record"]
        if address in self._harness_records:
            return None
        if not self._append(self._add_reach(result)):
            return None
        parsed = Result.from_json({**result, "attempts": ()})
        if not completeness.is_record_result(parsed):
            self._harness_records.add(address)
            return None
        self.reported.add(address)
        return parsed

    def record_unprobed(self, result: Result) -> None:
        """Append the result of a record that was not probed."""
        self._append(result.to_json())

    def note_lost_worker(self, name: str, cause: str) -> None:
        """Record that a worker was lost, now or when the file is open."""
        self.lost_workers[name] = f"worker {name}: {cause}"
        self._write_lost_workers()

    def _write_lost_workers(self) -> None:
        if self._writer is not None:
            for name, detail in self.lost_workers.items():
                self.record(completeness.lost_worker_result(name, detail).to_json())
            self.lost_workers.clear()

    def _append(self, result: Any) -> bool:
        """Write a line, and return whether it was written.

        None is written after a line that may be there only in part.
        """
        if self._writer is None or self.is_full:
            return False
        try:
            self._writer.append(result)
        except OSError as error:
            self.is_full = True
            self._on_full(describe_unwritable_results(error))
        return not self.is_full

    def _add_reach(self, result: Any) -> Any:
        """Add the reach of its record to a result; results of the harness have none."""
        if result["record"] not in self._selected:
            return result
        record = self._options.catalog[result["record"]]
        if result["record"] not in self._reach_by_record:
            reach = self._reaches[record.provider].record_reach(record, self._options.catalog).reach
            self._reach_by_record[result["record"]] = reach
        return {**result, "reach": self._reach_by_record[result["record"]]}

    @cached_property
    def _reaches(self) -> dict[str, ProviderReach]:
        providers = {Address.parse(address).provider for address in self._selected}
        return provider_reaches({name: recipe_book(name) for name in providers}, self._options.target)
