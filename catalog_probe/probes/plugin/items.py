"""Runs the probe items of this process, with all lanes prefetched."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import cached_property
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
from catalog_probe.probes.running.engine import Engine, LaneState
from catalog_probe.probes.running.journal import Journal
from catalog_probe.probes.targets.target import NONEXISTENT_KEY
from catalog_probe.probes.wire.redaction import Redactor

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from catalog_probe.catalog.evidence.earlier_runs import HistoryRow
    from catalog_probe.catalog.evidence.results import Result
    from catalog_probe.probes.plugin.options import Options
    from catalog_probe.probes.plugin.processes import WorkerInput
    from catalog_probe.probes.traffic.traffic import Traffic


# The user property that carries a result from the process that probed to the one that records.
PROPERTY = "catalog_probe_result"

# The name under which pytest knows the prober of a process.
PROBER = "catalog-probe-prober"


class Prober(Collector):
    """The plugin object of every process that runs probe items."""

    def __init__(self, options: Options, worker_input: WorkerInput, *, prefetch: bool) -> None:
        super().__init__(options)
        self._worker_input = worker_input
        self._prefetch = prefetch
        self._addresses_by_group: dict[str, list[str]] = {}
        """Of the groups that are not started."""
        self._engine: Engine | None = None

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Start every group; a worker of xdist starts one with its first item."""
        for item in session.items:
            address = address_of(item)
            if address is not None:
                self._addresses_by_group.setdefault(self._find_group(address), []).append(address)
        is_worker = hasattr(session.config, "workerinput")
        if self._prefetch and not is_worker and not session.config.getoption("collectonly"):
            for group in list(self._addresses_by_group):
                self._start_group(group)

    @pytest.fixture(name="result")
    def probe_record(self, request: pytest.FixtureRequest) -> Result:
        """Return the result of the item's record, and add it to the item's report.

        A harness error becomes an error of pytest's: the test has nothing to judge.
        """
        address: str = request.param
        if self._prefetch and self._worker_input.whole_groups:
            self._start_group(self._find_group(address))
        source = self._get_result_source()
        result = self._add_context(source.result(address), request.node.nodeid)
        results = (result, source.self_test(address))
        request.node.user_properties.extend((PROPERTY, item.to_json()) for item in results if item is not None)
        if result.outcome is Outcome.HARNESS_ERROR:
            pytest.fail(describe_reason(result), pytrace=False)
        return result

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> None:
        """Drop the result, which only the setup report needs to carry."""
        item.user_properties[:] = [prop for prop in item.user_properties if prop[0] != PROPERTY]

    def wait(self, address: str, on_tick: Callable[[], None]) -> None:
        """Wait until a record's result is there, and call `on_tick` every now and then."""
        if self._engine is not None:
            self._engine.wait(address, on_tick)

    def list_lanes(self) -> list[LaneState]:
        """Return the lanes of this process that are not done."""
        return self._engine.list_lanes() if self._engine is not None else []

    def pytest_sessionfinish(self) -> None:
        """End the engine and free its memory: the controller makes the views next."""
        if self._engine is not None:
            self._engine.close()
            self._engine = None

    def _add_context(self, result: Result, nodeid: str) -> Result:
        """Add what decides whether a drift fails: was it ever confirmed, and did a person accept the difference."""
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
        """Say whether a live run ever confirmed what drifts; None on a mock.

        The evidence of a record is about the usual revision, so under another one only the history counts.
        """
        options = self.options
        if not options.target.live:
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
        redactor = Redactor.for_target(target, public=[NONEXISTENT_KEY])
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
