"""Runs the probe items of this process, with all lanes prefetched."""

from __future__ import annotations

import os
from collections import deque
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.evidence import earlier_runs
from catalog_probe.catalog.evidence.retention import RUN_BYTES, RetentionBudget
from catalog_probe.catalog.model import Json, Outcome
from catalog_probe.catalog.reading.assertions import assertions
from catalog_probe.catalog.writeback import accepted_differences
from catalog_probe.probes.planning.sharding import find_group
from catalog_probe.probes.plugin.collecting import Collector, address_of, describe_reason
from catalog_probe.probes.running import journal
from catalog_probe.probes.running.engine import Engine, LaneState, Report
from catalog_probe.probes.running.journal import Journal
from catalog_probe.probes.wire.redaction import Redactor

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from catalog_probe.catalog.evidence.earlier_runs import HistoryRow
    from catalog_probe.catalog.evidence.results import Result
    from catalog_probe.probes.plugin.options import Options
    from catalog_probe.probes.plugin.processes import WorkerInput
    from catalog_probe.probes.traffic.traffic import Traffic


# The user property that carries results from a worker of xdist to the process that records.
PROPERTY = "catalog_probe_results"

# The name under which pytest knows the prober of a process.
PROBER = "catalog-probe-prober"


class Prober(Collector):
    """The plugin object of every process that runs probe items."""

    def __init__(
        self,
        options: Options,
        worker_input: WorkerInput,
        *,
        prefetch: bool,
        record: Callable[[Sequence[tuple[Json, bool]]], None] | None = None,
    ) -> None:
        """Prepare to probe.

        `record` takes results as plain JSON, each with whether it is final. It is None in a worker of xdist.
        """
        super().__init__(options)
        self.on_tick: Callable[[], None] = lambda: None
        """Called every now and then while a result is waited for."""
        self._worker_input = worker_input
        self._prefetch = prefetch
        self._record = record
        self._nodeids: dict[str, str] = {}
        """Address of a record -> the id of its test item."""
        self._unsent: deque[Report] = deque()
        self._final_results: dict[str, Result] = {}
        """Address of a record -> its final result as it was sent, until the record's item takes it."""
        self._self_tested_lanes: set[str] = set()
        self._addresses_by_group: dict[str, list[str]] = {}
        """Of the groups that are not started."""
        self._engine: Engine | None = None

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Start every group; a worker of xdist starts one with its first item."""
        for item in session.items:
            address = address_of(item)
            if address is not None:
                self._addresses_by_group.setdefault(self._find_group(address), []).append(address)
                self._nodeids[address] = item.nodeid
        is_worker = hasattr(session.config, "workerinput")
        if self._prefetch and not is_worker and not session.config.getoption("collectonly"):
            for group in list(self._addresses_by_group):
                self._start_group(group)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> None:
        """Wait for the result of an item's record, and report meanwhile what becomes known of all records.

        Here output is not captured yet, so the progress can be shown.
        """
        address = address_of(item)
        if address is None:
            return
        if self._prefetch and self._worker_input.whole_groups:
            self._start_group(self._find_group(address))
        source = self._get_result_source()
        if isinstance(source, Engine):
            source.wait_for_result(address, partial(self._tick, source, item))

    @pytest.fixture(name="result")
    def probe_record(self, request: pytest.FixtureRequest) -> Result:
        """Return the result of the item's record, and report it.

        A harness error becomes an error of pytest's: the test has nothing to judge.
        """
        source = self._get_result_source()
        probed = source.result(request.param)  # the engine keeps it no longer
        if isinstance(source, Engine):
            self._report_known(source, request.node)
        if probed.record not in self._final_results:
            self._send(Report(probed, is_final=True), request.node)
        result = self._final_results.pop(probed.record)
        if result.outcome is Outcome.HARNESS_ERROR:
            pytest.fail(describe_reason(result), pytrace=False)
        return result

    def _tick(self, engine: Engine, item: pytest.Item) -> None:
        self._report_known(engine, item)
        self.on_tick()

    def _report_known(self, engine: Engine, item: pytest.Item | None = None) -> None:
        """Report what became known since the last call."""
        self._unsent.extend(engine.take_reports())
        while self._unsent:
            report = self._unsent[0]
            self._send(report, item)
            # Not before it is sent: Ctrl-C may come between any two lines, and a report that comes twice does no harm.
            self._unsent.popleft()

    def _send(self, report: Report, item: pytest.Item | None) -> None:
        """Send a result, and the self-test of its lane, as plain JSON to the process that records.

        A worker sends them in a report of its own beside pytest's, because those come only when an item has ended.
        `item` is the one that runs now: xdist takes reports about no other.
        """
        result = self._add_context(report.result)
        lines = [(result.to_json(), report.is_final)]
        self_test = None
        if result.lane not in self._self_tested_lanes:
            self_test = self._get_result_source().self_test(result.record)
        if self_test is not None:
            lines.append((self_test.to_json(), True))
        if self._record is not None:
            self._record(lines)
        elif item is not None:
            properties: list[tuple[str, object]] = [(PROPERTY, lines)]
            message = pytest.TestReport(
                item.nodeid, item.location, {}, "passed", None, "setup", user_properties=properties
            )
            item.ihook.pytest_runtest_logreport(report=message)
        if self_test is not None:
            self._self_tested_lanes.add(result.lane)
        if report.is_final:
            self._final_results[result.record] = result

    def count_requests(self) -> tuple[int, int]:
        """Return how many requests this process has sent, and about how many it will have sent at the end."""
        return self._engine.count_requests() if self._engine is not None else (0, 0)

    def list_lanes(self) -> list[LaneState]:
        """Return the lanes of this process that are not done."""
        return self._engine.list_lanes() if self._engine is not None else []

    def pytest_sessionfinish(self) -> None:
        """End the engine, and report what an interrupted run still knows. The controller makes the views next."""
        if self._engine is not None:
            self._engine.stop_sending()
            self._report_known(self._engine)  # before what takes time: whoever interrupts may kill in a moment
            self._engine.close()
            self._report_known(self._engine)
            self._engine = None

    def _add_context(self, result: Result) -> Result:
        """Add what decides whether a drift fails: was it ever confirmed, and did a person accept the difference."""
        nodeid = self._nodeids.get(result.record, "")
        confirmed = replace(result, nodeid=nodeid, confirmation=self._describe_confirmation(result))
        return replace(confirmed, accepted_difference=self._judge_acceptance(confirmed))

    def _judge_acceptance(self, result: Result) -> dict[str, Json] | None:
        """Return the accepted difference of the record and its state, if there is one."""
        label = self.options.target_label
        entry = accepted_differences.find_entry(self.options.accepted, result.record, label)
        failing = earlier_runs.list_failing_assertions(result)
        findings = [finding for finding in result.findings if not failing or finding.assertion in failing]
        reason = result.reason.code if result.reason is not None else ""
        acceptance = accepted_differences.judge_acceptance(entry, result.outcome, findings, self.options.today, reason)
        return acceptance.to_json() if acceptance else None

    def _describe_confirmation(self, result: Result) -> dict[str, Json] | None:
        """Say whether a live run ever confirmed what drifts; None on a mock, and on a compatible server.

        A compatible server is held to the documents at once, whatever the provider itself was seen to do.

        The evidence of a record is about the usual revision, so under another one only the history counts.
        """
        options = self.options
        if not options.target.live or options.target.is_compatible:
            return None
        record = options.catalog[result.record]
        asserted = assertions(record, options.catalog.__getitem__)
        evidence_record = None if options.revisions else record
        return earlier_runs.describe_confirmation(
            result, evidence_record, asserted, self._history, options.today, options.pending_days
        )

    @cached_property
    def _history(self) -> Sequence[HistoryRow]:
        return earlier_runs.parse_history_lines(self._worker_input.history)

    def _find_group(self, address: str) -> str:
        return find_group(address, self.options.target)

    def _start_group(self, group: str) -> None:
        addresses = self._addresses_by_group.pop(group, [])
        if addresses:
            self._get_result_source().start(addresses)

    def _get_result_source(self) -> Engine | Traffic:
        """Return what has the result of each record: the engine, or recorded traffic."""
        if self.options.traffic is not None:
            return self.options.traffic
        if self._engine is None:
            self._engine = self._make_engine()
        return self._engine

    def _make_engine(self) -> Engine:
        """Return an engine for the target, with all that was found out about it."""
        worker_input = self._worker_input
        target = self.options.target.with_values(worker_input.values()).with_unanswered(worker_input.unanswered())
        if target.needs_embedded_mock:
            target = target.with_addresses(worker_input.addresses())
        redactor = Redactor.for_target(target)
        workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
        journal_file = self.options.out / worker_input.run / journal.FILE_NAME
        # Sessions of a mock are named by worker: one that takes over another's items meets no limit that is used up.
        session = "/".join(filter(None, (worker_input.run, os.environ.get("PYTEST_XDIST_WORKER", ""))))
        return Engine(
            catalog=self.options.catalog,
            target=target,
            allow=self.options.allow,
            run=session,
            redactor=redactor,
            journal=Journal(journal_file, target.name, redactor.redact_text) if target.live else None,
            today=self.options.today,
            drawing=self.options.drawing,
            allowance=RetentionBudget(RUN_BYTES // workers),
        )
