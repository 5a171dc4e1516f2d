"""The controller of a run: folder, mock, results, views, exit status.

It runs in the main process, and never in a worker.
"""

from __future__ import annotations

import os
import secrets
import shlex
from collections import Counter
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import pytest

from catalog_probe.catalog.evidence import run_verdict
from catalog_probe.catalog.evidence.results import Result, Run
from catalog_probe.catalog.evidence.results_file import RESULTS_FILE, read_run
from catalog_probe.catalog.files import provider_folders
from catalog_probe.catalog.model import Address, Json, Outcome, Reason
from catalog_probe.catalog.model.errors import MAX_MESSAGE_LENGTH, Exit, UserError, select_exit
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.catalog.text.readable_text import sanitize_line, sanitize_row
from catalog_probe.probes.planning.sharding import find_group
from catalog_probe.probes.plugin import after_run, before_run
from catalog_probe.probes.plugin.after_run import SummaryPrinter
from catalog_probe.probes.plugin.before_run import RunStart, describe_run
from catalog_probe.probes.plugin.collecting import address_in, address_of
from catalog_probe.probes.plugin.embedded_mock import EmbeddedMock, MockError
from catalog_probe.probes.plugin.items import PROBER, PROPERTY
from catalog_probe.probes.plugin.processes import WORKER_INPUT, Addresses, WorkerInput
from catalog_probe.probes.plugin.progress import Progress
from catalog_probe.probes.plugin.recorder import Recorder, describe_unwritable_results
from catalog_probe.probes.running.looking_up import collect_unanswered, collect_values
from catalog_probe.reports.history import load_shown_history

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from pathlib import Path

    from catalog_probe.probes.plugin.options import Options
    from catalog_probe.probes.targets.look_ups import LookUpResult

# Statuses of pytest with which a run has come to its end.
_COMPLETE_STATUSES = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED)

# Statuses of pytest that ours replaces. After any other, such as a usage error (4), pytest's own stays, and nothing is
# written back.
_REPLACED_STATUSES = (*_COMPLETE_STATUSES, pytest.ExitCode.INTERRUPTED)

# Seconds in which a worker that has reported everything must end. The worker only takes down its plugins in that time.
# A worker that hangs is reported as lost.
WORKER_EXIT_S = 60


class Controller:
    """The plugin object of the one process that records."""

    def __init__(self, options: Options, mock: EmbeddedMock | None) -> None:
        """Prepare a run. The controller takes over the mock, if there is one, and stops it in `close`."""
        self.options = options
        self._started_at = datetime.now(UTC)
        self._run = f"{self._started_at:%Y%m%dT%H%M%SZ}-{options.target_label}-{secrets.token_hex(2)}"
        self._mock = mock
        self._recorder = Recorder(options, self._stop_run)
        self._addresses: Addresses | None = None
        self._trouble: list[str] = []
        """What went wrong, in lines for the terminal."""
        self._written: list[str] = []
        """What was written back into the records, in lines."""
        self._selected: tuple[str, ...] | None = None
        """The addresses of the selected records; None until they were collected."""
        self._run_and_results: tuple[Run, list[Result]] | None = None
        """The contents of results.jsonl, read once when it is complete."""
        self._stale_entries = after_run.find_stale_entries(options)
        self._progress: Progress | None = None
        self._session: pytest.Session | None = None
        self._keys: dict[str, str] = {}
        """The keys of this run's target, by variable. No child process inherits them."""
        self._previous_run: str | None = None
        """The name of the run before this one."""
        self._history_rows: tuple[dict[str, Json], ...] = ()
        """The rows of earlier runs that the report shows."""
        self._looked_up: tuple[LookUpResult, ...] | None = None
        self._finished_workers: list[Any] = []

    @property
    def folder(self) -> Path:
        """The folder of the run."""
        return self.options.out / self._run

    @property
    def worker_input(self) -> WorkerInput:
        """What a process that probes needs.

        The callables send requests or start the mock, so they are called as late as possible: by the first probe.
        """
        return WorkerInput(
            self._run,
            self._get_mock_addresses,
            self._history_rows,
            values=lambda: collect_values(self._look_up()),
            unanswered=lambda: collect_unanswered(self._look_up()),
        )

    @property
    def summary_printer(self) -> SummaryPrinter:
        """The plugin object that prints what this run observed."""
        return SummaryPrinter(
            self.folder, lambda: self._run_and_results, self._written, self._trouble, annotate=self.options.annotate
        )

    def start(self) -> None:
        """Take the keys out of the environment, make the run's folder, and load the history that its report shows.

        Raises:
            pytest.UsageError: it cannot be written.
        """
        self._withhold_keys()
        try:
            if self._mock is not None and self.options.target.upstream:
                self._addresses = self._mock.addresses()  # the server needs its upstream from the first request on
            self.folder.mkdir(parents=True)
            # A run on recorded traffic covers a part of the records. Compared with the history, it would have lost the
            # coverage of all others.
            if self.options.traffic is None:
                self._previous_run, self._history_rows = load_shown_history(
                    self.options.history_folder, self.options.target_label, damage_notes=self._trouble
                )
        except UserError as error:
            self.close()
            raise pytest.UsageError(str(error)) from error
        except OSError as error:
            self.close()
            raise self._explain_unwritable(error) from error

    def close(self) -> None:
        """End the mock, close results.jsonl, restore the keys; safe to call again."""
        os.environ.update(self._keys)
        self._keys = {}
        if self._mock is not None:
            self._mock.stop()
            self._mock = None
        self._recorder.close()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionstart(self, session: pytest.Session) -> Generator[None]:
        """Report a worker that died at its start, which xdist does not replace.

        xdist lets the EOFError or OSError of the channel to that worker escape. Without workers, neither error is ours.
        """
        self._session = session
        try:
            return (yield)
        except (EOFError, OSError) as error:
            if not _has_workers(session.config):
                raise
            self.close()
            self._remove_folder()
            message = f"{ReasonCode.WORKER_LOST}: a worker ended as it started ({sanitize_line(str(error))}); run again"
            pytest.exit(message, returncode=Exit.HARNESS_ERROR)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        """Report workers that died after their last item, or that xdist could not replace by a new worker."""
        try:
            result = yield
        except (EOFError, OSError) as error:
            if not _has_workers(session.config):
                raise
            self._recorder.note_lost_worker("unnamed", f"xdist could not go on without it: {error}")
            return True  # to pytest: the loop has run, so no other plugin runs it again
        for node in self._finished_workers:
            try:
                node.channel.waitclose(WORKER_EXIT_S)
            except (EOFError, OSError, node.channel.RemoteError) as error:
                self._recorder.note_lost_worker(str(node.gateway.id), f"after its last item: {error}")
        return result

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Open results.jsonl, now that the selected records are known."""
        selected = [address for item in session.items if (address := address_of(item))]
        if not session.config.getoption("collectonly"):
            self._open_results(selected)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        """Open results.jsonl when the first worker has collected; all collect alike."""
        self._open_results([address for nodeid in ids if (address := address_in(nodeid))])

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Give an xdist worker, in plain values, what all processes share."""
        whole_groups = _keeps_groups_together(node.config)
        local = bool(node.gateway.spec.popen)
        keys = self._keys if local else {}  # another machine has keys of its own, or should have none
        node.workerinput[WORKER_INPUT] = self.worker_input.to_worker(whole_groups=whole_groups, keys=keys, local=local)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Any) -> Any:
        """Keep records that share a rate limit or a budget on one worker."""
        if not _keeps_groups_together(config):
            return None
        from catalog_probe.probes.plugin.scheduling import GroupScheduling  # imports xdist

        return GroupScheduling(config, log, lambda address: find_group(address, self.options.target))

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: Any) -> None:
        """Report a worker that died, though another one may finish its items."""
        if error:
            self._recorder.note_lost_worker(str(node.gateway.id), str(error))
        else:
            self._finished_workers.append(node)

    def pytest_report_header(self) -> str:
        """Say what is probed, and where."""
        count, target = len(self._matching_addresses), self.options.target
        if self.options.traffic is not None:
            names = ", ".join(self.options.traffic.names)
            return sanitize_row(f"catalog probe: {count} records held against {names}; run {self.folder}")
        place = (
            "the embedded mock"
            if target.needs_embedded_mock
            else f"{'live' if target.live else 'mock'} target {target.name}"
        )
        if target.upstream:
            upstreams = (f"{name} at {urls['base_url']}" for name, urls in self._get_mock_addresses().items())
            place += f", whose upstream is {', '.join(upstreams)}"
        revision = self.options.invocation.revision
        if revision:
            place += f" under {revision}"
        selected = {address.provider for address in self._matching_addresses}
        providers = ", ".join(provider for provider in self.options.providers if provider in selected)
        sdk_keys = [
            f"{name} with the key of {provider.used_sdk_key}"
            for name, provider in target.providers.items()
            if name in selected and provider.used_sdk_key
        ]
        keys = f"; {', '.join(sdk_keys)}" if sdk_keys else ""
        return sanitize_row(f"catalog probe: {count} records of {providers} on {place}{keys}; run {self.folder}")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Record the results that a worker sends in a report."""
        for name, value in report.user_properties:
            if name == PROPERTY:
                self.record_results(cast("Sequence[tuple[Json, bool]]", value))
        # pytest keeps every report until the session ends; what this one carried is in the file now.
        report.user_properties[:] = [item for item in report.user_properties if item[0] != PROPERTY]

    def record_results(self, results: Sequence[tuple[Json, bool]]) -> None:
        """Append results to results.jsonl, and count the final ones.

        Each is a result as plain JSON, and whether it is final: later answers cannot change it any more.
        """
        for result_json, is_final in results:
            result = self._recorder.record(result_json)
            if result is not None and is_final and self._progress is not None:
                self._progress.add(result)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Make the views, and set the exit status.

        Example: all records conform, but a provider is blind. pytest ends with 0, and ours is 10.
        """
        self._trouble += (f"{ReasonCode.WORKER_LOST}: {detail}" for detail in self._recorder.lost_workers.values())
        self._record_stopped_rest(session)
        self.close()
        is_replaced = exitstatus in _REPLACED_STATUSES
        # If records were selected, the run came to its end, and none has a result, then every worker was lost. The
        # report says so.
        has_lost_all_results = bool(self._selected) and exitstatus in _COMPLETE_STATUSES
        status: int
        if self._recorder.reported or has_lost_all_results:
            # An interrupted run writes back as well, but nothing of a provider that is blind in it.
            status = self._report_results(may_write_back=is_replaced)
        else:
            self._remove_folder()
            status = self._select_status_without_results(session, exitstatus)
        if is_replaced:
            session.exitstatus = status

    def _select_status_without_results(self, session: pytest.Session, exitstatus: int) -> int:
        """Return the exit status of a run without results.

        Examples: Ctrl-C before the first result is blind (10). `-k` that selects nothing keeps pytest's status (5), and
        so does `--collect-only` (0). A run that ended before its records were collected is our own fault (3).
        """
        if self._recorder.is_full:
            return Exit.HARNESS_ERROR
        if exitstatus == pytest.ExitCode.INTERRUPTED:
            # pytest counts errors of the collection as failed tests, and a file that does not load is our own fault.
            return Exit.HARNESS_ERROR if session.testsfailed else Exit.BLIND
        has_collected = self._selected is not None or session.config.getoption("collectonly")
        return exitstatus if has_collected else Exit.HARNESS_ERROR

    def _report_results(self, *, may_write_back: bool) -> Exit:
        """Make the views, write back, and return the exit status; what goes wrong is printed as trouble."""
        run, results = self._run_and_results = read_run(self.folder / RESULTS_FILE, is_ours=True)
        remember = self._belongs_into_history(results)
        failures = after_run.make_views(self.options, self.folder, run, results, remember=remember)
        self._trouble += failures
        self._trouble += after_run.link_latest(self.options, self.folder)
        self._trouble += after_run.describe_leftovers(self.folder, self.options.target.name)
        if self._recorder.is_full:
            return Exit.HARNESS_ERROR  # nothing is written back: the results after the last line of the file are lost
        statuses = {run_verdict.exit_status(run, results), Exit.HARNESS_ERROR if failures else Exit.FINE}
        if may_write_back:
            statuses.add(self._write_back(run, results))
        return select_exit(statuses)

    def _withhold_keys(self) -> None:
        """Take the keys out of the environment that every child process would inherit."""
        for name in self.options.target.secret_variables & os.environ.keys():
            self._keys[name] = os.environ.pop(name)

    def _stop_run(self, cause: str) -> None:
        self._trouble.append(cause)
        if self._session is not None:
            self._session.shouldstop = cause

    def _write_back(self, run: Run, results: list[Result]) -> Exit:
        """Write what was observed into the records; a failure loses nothing."""
        if not self.options.update:
            return Exit.FINE
        try:
            self._written += after_run.write_back(self.options, run, results)
        except UserError as error:
            catalog_option = provider_folders.catalog_option(self.options.catalog.root)
            command = shlex.join(["catalog-probe", "catalog", "update", str(self.folder), *catalog_option])
            self._trouble.append(f"records not updated: {error}; mend that, then `{command}`")
            return Exit.USAGE  # the status of every UserError: a person can mend it
        return Exit.FINE

    def _get_mock_addresses(self) -> Addresses:
        if self._addresses is None:
            try:
                self._addresses = self._mock.addresses() if self._mock else {}
            except MockError as error:
                pytest.exit(str(error), returncode=Exit.HARNESS_ERROR)
        return self._addresses

    def _look_up(self) -> tuple[LookUpResult, ...]:
        """Return the answers to a live run's look-ups, which are sent once."""
        if self._looked_up is None:
            self._looked_up = before_run.look_up(self.options) if self.options.target.live else ()
        return self._looked_up

    def _open_results(self, selected: Sequence[str]) -> None:
        """Open results.jsonl; a second call changes nothing. If it cannot be written, end the session as our fault."""
        if self._recorder.is_open:
            return
        self._selected = tuple(sorted(set(selected)))
        start = RunStart(
            self._run,
            self._started_at,
            self._selected,
            self._previous_run,
            self._history_rows,
            self._stale_entries,
        )
        run = describe_run(self.options, start, self._look_up())
        try:
            self._recorder.open(self.folder / RESULTS_FILE, run)
        except OSError as error:  # although the folder was made a moment ago
            pytest.exit(describe_unwritable_results(error), returncode=Exit.HARNESS_ERROR)
        self._show_progress()

    def _show_progress(self) -> None:
        """Register the plugin that shows the progress, if there is a terminal reporter."""
        totals = Counter(Address.parse(address).provider for address in self._selected or ())
        if self._session is None or not totals:
            return
        plugins = self._session.config.pluginmanager
        reporter = plugins.get_plugin("terminalreporter")
        if not isinstance(reporter, pytest.TerminalReporter):
            return
        # Workers probe in other processes, so only without them the lanes can be asked what they wait for.
        prober = None if _has_workers(reporter.config) else plugins.get_plugin(PROBER)
        self._progress = Progress(reporter, totals, prober)
        plugins.register(self._progress, "catalog-probe-progress")

    def _explain_unwritable(self, error: OSError) -> pytest.UsageError:
        message = f"--out {self.options.out}: {error.strerror}; name a folder that can be written"
        return pytest.UsageError(sanitize_line(message, MAX_MESSAGE_LENGTH))

    def _record_stopped_rest(self, session: pytest.Session) -> None:
        """Record that the other records were not probed, if the session was told to stop, as by `-x`.

        Example: `-x` stops after the first failure, and the other records are `not_probed: stopped-early`. Ctrl-C tells
        the session nothing: each selected record without a line is then `not-reported`, and the run is blind. To a full
        disk, nothing more is written.
        """
        cause = session.shouldfail or session.shouldstop
        if not cause or not self._recorder.is_open:
            return
        reason = Reason(ReasonCode.STOPPED_EARLY, str(cause))
        for address in self._selected or ():
            if address not in self._recorder.reported:
                record = self.options.catalog[address].data
                self._recorder.record_unprobed(Result(address, record, Outcome.NOT_PROBED, reason))

    def _belongs_into_history(self, results: list[Result]) -> bool:
        """Whether later runs may be compared with this one: it probed all that its options select, and sent something.

        Three examples that do not belong there: `-k overloaded` probed a part of the records, a shard is a part of a
        night, and without a key nothing was sent.
        """
        is_complete = self._recorder.reported >= set(map(str, self._matching_addresses))
        is_part = self.options.shard is not None or self.options.traffic is not None
        has_sent = any(result.outcome is not Outcome.NOT_PROBED for result in results)
        return is_complete and not is_part and has_sent

    @cached_property
    def _matching_addresses(self) -> tuple[Address, ...]:
        """The records that match the options, before `-k` and its like."""
        records = self.options.catalog.records
        return tuple(record.address for record in records if self.options.selects(record.address))

    def _remove_folder(self) -> None:
        """Remove the folder of a run that probed nothing."""
        (self.folder / RESULTS_FILE).unlink(missing_ok=True)
        if self.folder.is_dir() and not any(self.folder.iterdir()):
            self.folder.rmdir()


def _keeps_groups_together(config: pytest.Config) -> bool:
    """Whether records that share a rate limit or a budget are probed by one worker: `--dist loadgroup`."""
    return bool(config.getoption("dist", "no") == "loadgroup")


def _has_workers(config: pytest.Config) -> bool:
    """Whether xdist runs the items in workers."""
    return bool(config.getoption("dist", "no") != "no")
