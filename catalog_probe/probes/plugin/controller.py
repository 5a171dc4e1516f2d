"""Owns a run: its folder, its mock, its results file, its views and its exit status. One a run, never a worker."""

from __future__ import annotations

import os
import secrets
import shlex
from collections import Counter
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pytest

from catalog_probe.catalog.evidence import harness_results
from catalog_probe.catalog.evidence.results import Result, Run
from catalog_probe.catalog.evidence.results_file import RESULTS_FILE, ResultsWriter, read_run
from catalog_probe.catalog.evidence.verdicts import run_verdict
from catalog_probe.catalog.files import paths, provider_folders
from catalog_probe.catalog.model import Address, Json, Outcome, Reason
from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.catalog.model.errors import MAX_MESSAGE_LENGTH, UserError
from catalog_probe.catalog.model.exits import Exit, select_exit
from catalog_probe.catalog.text.sanitizing import sanitize_line, sanitize_row
from catalog_probe.probes.planning.reach import Reaches, all_reaches
from catalog_probe.probes.planning.sharding import group_of
from catalog_probe.probes.plugin import after_run, before_run
from catalog_probe.probes.plugin.collection.collecting import address_in, address_of
from catalog_probe.probes.plugin.collection.items import PROBER, PROPERTY
from catalog_probe.probes.plugin.collection.worker_input import WORKER_INPUT, Addresses, Unanswered, Values, WorkerInput
from catalog_probe.probes.plugin.embedded_mock import EmbeddedMock, MockError
from catalog_probe.probes.plugin.progress import Progress
from catalog_probe.probes.plugin.run_description import Begun, described
from catalog_probe.probes.plugin.terminal_summary import Teller
from catalog_probe.probes.recipes.book import recipe_book
from catalog_probe.probes.running.looking_up import collect_unanswered, collect_values
from catalog_probe.reports.history import nights

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from pathlib import Path

    from catalog_probe.probes.plugin.collection.options import Options
    from catalog_probe.probes.targets.look_ups import LookedUp

_OURS = (
    pytest.ExitCode.OK,
    pytest.ExitCode.TESTS_FAILED,
    pytest.ExitCode.INTERRUPTED,
    pytest.ExitCode.NO_TESTS_COLLECTED,
)
"""Statuses of pytest that ours replaces; a usage error is 4 in both tables."""

WORKER_ENDS_S = 60
"""Seconds in which a worker ends that has reported all: it only takes down its plugins. One that hangs is lost."""


class Controller:
    """The plugin object of the one process that records."""

    def __init__(self, options: Options, mock: EmbeddedMock | None) -> None:
        """With the mock of this run, if it asks one: from now on it is the controller that ends it."""
        self.options = options
        self._started_at = datetime.now(UTC)
        self._run = f"{self._started_at:%Y%m%dT%H%M%SZ}-{options.told_as}-{secrets.token_hex(2)}"
        self._mock = mock
        self._writer: ResultsWriter | None = None
        self._addresses: Addresses | None = None
        self._trouble: list[str] = []
        self._written: list[str] = []
        self._selected: tuple[str, ...] = ()
        self._reported: set[str] = set()
        self._told_of_itself: set[str] = set()
        self._seen: tuple[Run, list[Result]] | None = None
        """What results.jsonl holds, once it is complete: read once, for all that is told of it."""
        self._stale = after_run.stale_entries(options)
        self._progress: Progress | None = None
        self._session: pytest.Session | None = None
        self._is_full = False
        """Whether a line could not be written: none is after it, for it may stand there in part."""
        self._keys: dict[str, str] = {}
        """Of this run's target, by variable: no child inherits them."""
        self._shown: tuple[str | None, tuple[dict[str, Json], ...]] = (None, ())
        self._looked_up: tuple[LookedUp, ...] | None = None
        self._finished_workers: list[Any] = []
        self._lost_workers: dict[str, str] = {}
        """How each was lost, by name, until it is written: results.jsonl opens when the first worker has collected."""

    @property
    def folder(self) -> Path:
        return self.options.out / self._run

    @property
    def worker_input(self) -> WorkerInput:
        """What a prober needs; its addresses wait for the mock only when they are asked for."""
        return WorkerInput(self._run, self._mock_addresses, self._shown[1], self._values, self._unanswered)

    def start(self) -> None:
        """Make the run's folder.

        Raises:
            pytest.UsageError: it cannot be written.
        """
        self._withhold_keys()
        try:
            self.folder.mkdir(parents=True)
            if self.options.traffic is None:  # what a client did not do is no lost coverage
                self._shown = nights.shown(self._history, self.options.told_as, left_out=self._trouble)
        except UserError as error:
            self.close()
            raise pytest.UsageError(str(error)) from error
        except OSError as error:
            self.close()
            raise self._unwritable(error) from error

    def close(self) -> None:
        """End the mock, close the results file and give the keys back; safe to call again."""
        os.environ.update(self._keys)
        self._keys = {}
        if self._mock is not None:
            self._mock.stop()
            self._mock = None
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionstart(self, session: pytest.Session) -> Generator[None]:
        """Tell of a worker that ended as xdist started it; no other one is started then."""
        self._session = session
        try:
            return (yield)
        except (EOFError, OSError) as error:
            if not _has_workers(session.config):
                raise
            self.close()
            self._remove_folder()
            lost = f"{ReasonCode.WORKER_LOST}: a worker ended as it started ({sanitize_line(str(error))}); run again"
            pytest.exit(lost, returncode=Exit.HARNESS_ERROR)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        """Tell of workers that ended after they said that they had finished, and of one that could not be replaced."""
        try:
            done = yield
        except (EOFError, OSError) as error:
            if not _has_workers(session.config):
                raise
            self._tell_of_lost("unnamed", f"xdist could not go on without it: {error}")
            return True
        for node in self._finished_workers:
            try:
                node.channel.waitclose(WORKER_ENDS_S)
            except (EOFError, OSError, node.channel.RemoteError) as error:
                self._tell_of_lost(str(node.gateway.id), f"after its last item: {error}")
        return done

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Open results.jsonl, now that it is known what is selected."""
        selected = [address for item in session.items if (address := address_of(item))]
        if not session.config.getoption("collectonly"):
            self._open(selected)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        """Open results.jsonl as soon as the first worker has collected: all of them must collect the same."""
        self._open([address for each in ids if (address := address_in(each))])

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell an xdist worker, in plain values, what it must not find out for itself."""
        whole_groups = node.config.getoption("dist") == "loadgroup"
        local = bool(node.gateway.spec.popen)
        keys = self._keys if local else {}  # another machine has keys of its own, or should have none
        node.workerinput[WORKER_INPUT] = self.worker_input.to_worker(whole_groups=whole_groups, keys=keys, local=local)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Any) -> Any:
        """Keep together what shares a rate limit or a budget."""
        if config.getoption("dist") != "loadgroup":
            return None
        from catalog_probe.probes.plugin.collection.scheduling import (
            GroupScheduling,  # brings xdist, which a run in one process does without
        )

        return GroupScheduling(config, log, lambda address: group_of(address, self.options.target))

    @property
    def teller(self) -> Teller:
        """Who says in the terminal what this run saw."""
        return Teller(self.folder, lambda: self._seen, self._written, self._trouble, annotate=self.options.annotate)

    def pytest_report_header(self) -> str:
        target = self.options.target
        if self.options.traffic is not None:
            names = ", ".join(self.options.traffic.names)
            return sanitize_row(
                f"catalog probe: {len(self._asked_for)} records held against {names}; run {self.folder}"
            )
        where = "the embedded mock" if target.embedded else f"{'live' if target.live else 'mock'} target {target.name}"
        where += f" under {self.options.invocation.revision}" if self.options.invocation.revision else ""
        selected = {address.provider for address in self._asked_for}
        providers = ", ".join(provider for provider in self.options.providers if provider in selected)
        return sanitize_row(
            f"catalog probe: {len(self._asked_for)} records of {providers} on {where}; run {self.folder}"
        )

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Append a result as soon as its item's setup is reported, here or by a worker."""
        if report.when == "setup" and self._writer is not None:
            for name, value in report.user_properties:
                if name == PROPERTY:
                    self._keep(self._writer, value)
            # pytest holds every report to the end of the session; what it carried is in the file by now.
            report.user_properties[:] = [each for each in report.user_properties if each[0] != PROPERTY]

    def _keep(self, writer: ResultsWriter, result: Any) -> None:
        """Append a result, once: xdist gives the item in whose middle a worker died to another worker again."""
        record = result["record"]
        if record in self._reported or record in self._told_of_itself:
            return
        if not self._append(writer, self._with_reach(result)):
            return
        told = Result.from_json({**result, "attempts": ()})
        if not harness_results.is_record_result(told):
            self._told_of_itself.add(record)
            return
        self._reported.add(record)
        if self._progress is not None:
            self._progress.add(told)

    def _with_reach(self, result: Any) -> Any:
        """The result of a record with its reach; any other as it is."""
        if result["record"] not in self._selected:
            return result
        record = self.options.catalog[result["record"]]
        return {**result, "reach": self._reaches[record.provider].of_record(record, self.options.catalog).reach}

    @cached_property
    def _reaches(self) -> dict[str, Reaches]:
        providers = {Address.parse(address).provider for address in self._selected}
        return all_reaches({name: recipe_book(name) for name in providers}, self.options.target)

    def _append(self, writer: ResultsWriter, result: Any) -> bool:
        """Write a line; where there is no room for it the run ends, since what it saw from now on would be lost."""
        if self._session is None or self._is_full:
            return False
        try:
            writer.append(result)
        except OSError as error:
            self._is_full = True
            said = f"results.jsonl: {error.strerror or error}; make room, or name another folder with --out"
            self._trouble.append(said)
            self._session.shouldstop = said
        return not self._is_full

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: Any) -> None:
        """A worker that ended without a word is told, though another one may finish its items."""
        if error:
            self._tell_of_lost(str(node.gateway.id), str(error))
        else:
            self._finished_workers.append(node)

    def _tell_of_lost(self, name: str, why: str) -> None:
        self._lost_workers[name] = f"worker {name}: {why}"
        self._write_lost_workers()

    def _write_lost_workers(self) -> None:
        if self._writer is not None:
            for name, detail in self._lost_workers.items():
                self._keep(self._writer, harness_results.lost_worker_result(name, detail).to_json())
            self._lost_workers.clear()

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Make the views and set the exit status that CI branches on."""
        opened = self._writer is not None
        self._trouble += (f"{ReasonCode.WORKER_LOST}: {each}" for each in self._lost_workers.values())
        interrupted = exitstatus == pytest.ExitCode.INTERRUPTED
        self._say_what_was_stopped(session, interrupted=interrupted)
        self.close()
        if not self._reported and (interrupted or exitstatus not in _OURS or not self._selected):
            self._remove_folder()
            if interrupted and not self._is_full:  # pytest counts what could not be collected as failed
                session.exitstatus = Exit.HARNESS_ERROR if session.testsfailed else Exit.BLIND
            elif exitstatus in _OURS and not opened and not session.config.getoption("collectonly"):
                session.exitstatus = Exit.HARNESS_ERROR
            return
        run, results = self._seen = read_run(self.folder / RESULTS_FILE)
        self._make_views(run, results)
        self._trouble += after_run.left_behind(self.folder, self.options.target.name)
        if self._is_full:
            session.exitstatus = Exit.HARNESS_ERROR
        elif exitstatus in _OURS:
            session.exitstatus = select_exit({run_verdict.exit_status(run, results), self._write_back(run, results)})

    def _withhold_keys(self) -> None:
        """Take the keys out of the environment that every child would inherit."""
        for name in self.options.target.secret_variables & os.environ.keys():
            self._keys[name] = os.environ.pop(name)

    def _write_back(self, run: Run, results: list[Result]) -> Exit:
        """Write what was seen into the records, where that was asked for; a failure loses nothing and is said."""
        if not self.options.update:
            return Exit.FINE
        try:
            self._written += after_run.write_back(self.options, run, results)
        except UserError as error:
            records = provider_folders.catalog_option(self.options.catalog.root)
            command = shlex.join(["catalog-probe", "catalog", "update", str(self.folder), *records])
            self._trouble.append(f"records not updated: {error}; then `{command}`")
            return Exit.USAGE
        return Exit.FINE

    def _mock_addresses(self) -> Addresses:
        if self._addresses is None:
            try:
                self._addresses = self._mock.addresses() if self._mock else {}
            except MockError as error:
                pytest.exit(str(error), returncode=Exit.HARNESS_ERROR)
        return self._addresses

    def _look_up(self) -> tuple[LookedUp, ...]:
        """What the accounts tell at the beginning of a live run, each asked once a run and before any probe."""
        if self._looked_up is None:
            self._looked_up = before_run.look_up(self.options) if self.options.target.live else ()
        return self._looked_up

    def _values(self) -> Values:
        return collect_values(self._look_up())

    def _unanswered(self) -> Unanswered:
        return collect_unanswered(self._look_up())

    def _open(self, selected: Sequence[str]) -> None:
        """Write the run's line; a second call changes nothing.

        Raises:
            pytest.UsageError: it cannot be written.
        """
        if self._writer is not None:
            return
        self._selected = tuple(sorted(set(selected)))
        try:
            self._writer = ResultsWriter(self.folder / RESULTS_FILE, self._described)
        except OSError as error:
            raise self._unwritable(error) from error
        self._write_lost_workers()
        self._say_how_far()

    @property
    def _described(self) -> Run:
        begun = Begun(self._run, self._started_at, self._selected, *self._shown, tuple(self._stale))
        return described(self.options, begun, self._look_up())

    def _say_how_far(self) -> None:
        """Make ready to say how far the run is while it goes on."""
        totals = Counter(Address.parse(address).provider for address in self._selected)
        plugins = self._session.config.pluginmanager if self._session is not None else None
        reporter = plugins.get_plugin("terminalreporter") if plugins is not None else None
        if plugins is None or not isinstance(reporter, pytest.TerminalReporter) or not totals:
            return
        elsewhere = _has_workers(reporter.config)
        self._progress = Progress(reporter, totals, None if elsewhere else plugins.get_plugin(PROBER))
        plugins.register(self._progress, "catalog-probe-progress")

    def _unwritable(self, error: OSError) -> pytest.UsageError:
        said = f"--out {self.options.out}: {error.strerror}; name a folder that can be written"
        return pytest.UsageError(sanitize_line(said, MAX_MESSAGE_LENGTH))

    def _say_what_was_stopped(self, session: pytest.Session, *, interrupted: bool) -> None:
        """Record why the rest was not probed: an option wanted it so (`-x`), or Ctrl-C makes the run blind."""
        if self._writer is None:
            return
        if wanted := session.shouldfail or session.shouldstop:
            outcome, reason = Outcome.NOT_PROBED, Reason(ReasonCode.STOPPED_EARLY, str(wanted))
        elif interrupted:
            outcome, reason = Outcome.INCONCLUSIVE, Reason(ReasonCode.LANE_STOPPED, "the run was interrupted")
        else:
            return
        for address in self._selected:
            if address not in self._reported:
                result = Result(address, self.options.catalog[address].data, outcome, reason)
                self._append(self._writer, result.to_json())

    @property
    def _history(self) -> Path:
        """Where this target's memory lies: what was seen live is committed, what a mock said, or elsewhere, is not."""
        kept = self.options.target.live and self.options.out.resolve() == paths.runs_folder().resolve()
        return paths.history_folder() if kept else self.options.out / "history"

    def _remember(self, run: Run, results: list[Result]) -> None:
        """Add this run to the history, unless it was only part of what its options select, or asked nobody."""
        whole = (
            len(self._reported) >= len(self._asked_for) and self.options.shard is None and self.options.traffic is None
        )
        if whole and any(result.outcome is not Outcome.NOT_PROBED for result in results):
            nights.append(self._history, run, results)

    @cached_property
    def _asked_for(self) -> tuple[Address, ...]:
        """The records that the options select, before `-k` and its like."""
        return tuple(each.address for each in self.options.catalog.records if self.options.selects(each.address))

    def _make_views(self, run: Run, results: list[Result]) -> None:
        """Everything beside results.jsonl can be made again from it, so a failure here loses nothing and is said."""
        from catalog_probe.catalog.writeback import update  # needed after the run: the mock starts sooner
        from catalog_probe.reports import build

        for what, make in (
            (
                "the records as this run would leave them",
                lambda: update.leave_copy(self.options.catalog, self.folder, (run, results)),
            ),
            ("the report", lambda: build.write_views(self.folder, run, results)),
            ("the history", lambda: self._remember(run, results)),
            (f"{paths.RUNS}/latest", lambda: _point(self.options.out / "latest", self.folder.name)),
        ):
            try:
                make()
            except Exception as error:  # noqa: BLE001 - a view that fails must not take the exit status with it
                again = f"catalog-probe report build {self.folder}"
                self._trouble.append(f"could not write {what}: {type(error).__name__}: {error}; try `{again}`")

    def _remove_folder(self) -> None:
        """A run that probed nothing leaves nothing."""
        (self.folder / RESULTS_FILE).unlink(missing_ok=True)
        if self.folder.is_dir() and not any(self.folder.iterdir()):
            self.folder.rmdir()


def _has_workers(config: pytest.Config) -> bool:
    """Whether xdist runs the items in workers: then the controller's own loop only talks to them."""
    return bool(config.getoption("dist", "no") != "no")


def _point(link: Path, name: str) -> None:
    """Point `latest` at a run, atomically; a reader sees the old run or the new one."""
    fresh = link.with_name(f"{link.name}.{os.getpid()}")
    fresh.symlink_to(name)
    fresh.replace(link)
