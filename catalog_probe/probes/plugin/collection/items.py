"""Runs the probe items of this process: one item a record, all lanes prefetched, each request sent once."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.evidence import earlier_runs
from catalog_probe.catalog.evidence.retention import RUN_BYTES, RetentionBudget
from catalog_probe.catalog.evidence.verdicts import confirmation
from catalog_probe.catalog.model import Json, Outcome
from catalog_probe.catalog.reading.assertions import assertions
from catalog_probe.catalog.writeback import accepted_differences
from catalog_probe.probes.planning.sharding import group_of
from catalog_probe.probes.plugin.collection.collecting import Collector, address_of
from catalog_probe.probes.plugin.collection.outcomes import reason_of
from catalog_probe.probes.running import journal
from catalog_probe.probes.running.engine import Engine, LaneState
from catalog_probe.probes.running.journal import Journal
from catalog_probe.probes.targets.target import NOWHERE_KEY
from catalog_probe.probes.wire.redaction.redactor import Redactor

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from catalog_probe.catalog.evidence.earlier_runs import HistoryRow
    from catalog_probe.catalog.evidence.results import Result
    from catalog_probe.probes.plugin.collection.options import Options
    from catalog_probe.probes.plugin.collection.worker_input import WorkerInput
    from catalog_probe.probes.traffic.traffic import Traffic

PROPERTY = "catalog_probe_result"
"""The user property that carries a result from the process that probed to the one that records."""

PROBER = "catalog-probe-prober"
"""The name under which pytest knows the prober of a process."""


class Prober(Collector):
    """The plugin object of every process that runs probe items."""

    def __init__(self, options: Options, worker_input: WorkerInput, *, prefetch: bool) -> None:
        super().__init__(options)
        self._worker_input = worker_input
        self._prefetch = prefetch
        self._by_group: dict[str, list[str]] = {}
        self._engine: Engine | None = None

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Start every group at once; under xdist a group starts in the worker that gets its first item."""
        for item in session.items:
            address = address_of(item)
            if address is not None:
                self._by_group.setdefault(self._group(address), []).append(address)
        if (
            self._prefetch
            and not hasattr(session.config, "workerinput")
            and not session.config.getoption("collectonly")
        ):
            for group in list(self._by_group):
                self._start(group)

    @pytest.fixture
    def result(self, request: pytest.FixtureRequest) -> Result:
        """The result of the item's record, put into the item's report; an error of our own is pytest's error."""
        address: str = request.param
        if self._prefetch and self._worker_input.whole_groups:
            self._start(self._group(address))
        looker = self._looker()
        seen = looker.result(address)
        judged = replace(seen, nodeid=request.node.nodeid, confirmation=self._confirmation(seen))
        result = replace(judged, accepted_difference=self._standing(judged))
        told = (result, looker.self_test(address))
        request.node.user_properties.extend((PROPERTY, each.to_json()) for each in told if each is not None)
        if result.outcome is Outcome.HARNESS_ERROR:
            pytest.fail(reason_of(result), pytrace=False)
        return result

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> None:
        """The setup report has carried the result; the later reports of the item need not carry it again."""
        item.user_properties[:] = [each for each in item.user_properties if each[0] != PROPERTY]

    def wait(self, address: str, meanwhile: Callable[[], None]) -> None:
        """Wait until a record's result is there, and call `meanwhile` now and then; what it is comes with its item."""
        if self._engine is not None:
            self._engine.wait(address, meanwhile)

    def list_lanes(self) -> list[LaneState]:
        """The lanes of this process that are not done."""
        return self._engine.list_lanes() if self._engine is not None else []

    def pytest_sessionfinish(self) -> None:
        """End what probes, and drop what it holds: the controller makes the views next."""
        if self._engine is not None:
            self._engine.close()
            self._engine = None

    def _standing(self, result: Result) -> dict[str, Json] | None:
        """The accepted difference of the record and its state, if there is one."""
        entry = accepted_differences.entry_for(self.options.accepted, result.record, self.options.told_as)
        due = confirmation.list_failing_assertions(result)
        counted = [each for each in result.findings if each.assertion in due] if due else result.findings
        reason = result.reason.code if result.reason is not None else ""
        standing = accepted_differences.judge_acceptance(entry, result.outcome, counted, self.options.today, reason)
        return standing.to_json() if standing else None

    def _confirmation(self, result: Result) -> dict[str, Json] | None:
        """Whether a live run ever confirmed what drifts; a mock is no provider, and nothing there is pending.

        What a record remembers was seen under the usual revision, so under another one the history of that one tells.
        """
        options = self.options
        if not options.target.live:
            return None
        record = options.catalog[result.record]
        stated = assertions(record, options.catalog.__getitem__)
        remembers = None if options.revisions else record
        return confirmation.describe_confirmation(
            result, remembers, stated, self._earlier, options.today, options.pending_days
        )

    @cached_property
    def _earlier(self) -> Sequence[HistoryRow]:
        return earlier_runs.parse_history_lines(self._worker_input.history)

    @property
    def _folder(self) -> Path:
        return self.options.out / self._worker_input.run

    def _group(self, address: str) -> str:
        return group_of(address, self.options.target)

    def _start(self, group: str) -> None:
        addresses = self._by_group.pop(group, [])
        if addresses:
            self._looker().start(addresses)

    def _looker(self) -> Engine | Traffic:
        """What has the result of each record: what probes, or the traffic that somebody recorded."""
        if self.options.traffic is not None:
            return self.options.traffic
        if self._engine is None:
            self._engine = self._make_engine()
        return self._engine

    @property
    def _session(self) -> str:
        """What names this process's use of a mock: a worker that takes over another's items finds no limit used up."""
        return "/".join(filter(None, (self._worker_input.run, os.environ.get("PYTEST_XDIST_WORKER", ""))))

    def _make_engine(self) -> Engine:
        """An engine for the target, with what was looked up on the accounts, and where the mock is."""
        told = self._worker_input
        target = self.options.target.with_values(told.values()).with_unanswered(told.unanswered())
        if target.embedded:
            target = target.served_by(told.addresses())
        redactor = Redactor.of(target, public=[NOWHERE_KEY])
        workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
        return Engine(
            catalog=self.options.catalog,
            target=target,
            allow=self.options.allow,
            run=self._session,
            redactor=redactor,
            journal=Journal(self._folder / journal.FILE_NAME, target.name, redactor.text) if target.live else None,
            today=self.options.today,
            drawing=self.options.drawing,
            allowance=RetentionBudget(RUN_BYTES // workers),
        )
