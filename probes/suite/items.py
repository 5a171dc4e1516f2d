"""Runs the probe items of this process: one item a record, all lanes prefetched, each request sent once."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from catalog.evidence import agreement, past
from catalog.evidence.retention import A_RUN, Allowance
from catalog.model import Address, Json, Outcome
from catalog.reading.assertions import assertions
from catalog.writeback import ledger
from probes.calls.services import GRPC_HOST
from probes.elicit import book
from probes.planning.sharding import group_of
from probes.running import journal
from probes.running.engine import Engine
from probes.running.journal import Journal
from probes.suite import allocator, halved
from probes.suite.collecting import Collector, address_of
from probes.suite.halved import Halved
from probes.suite.outcomes import reason_of
from probes.target.target import NOWHERE_KEY
from probes.wire.redact import Redactor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from catalog.evidence.past import Row
    from catalog.evidence.results import Result
    from probes.running.waiting import LaneState
    from probes.suite.options import Options
    from probes.suite.worker_input import WorkerInput
    from probes.target.target import Target
    from probes.traffic.traffic import Traffic

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
        self._engine: Engine | Halved | None = None

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
            self._load_what_sends()
            allocator.collect_seldom()
            self._halve([address for item in session.items if (address := address_of(item)) is not None])
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
        judged = replace(seen, nodeid=request.node.nodeid, agreement=self._agreement(seen))
        result = replace(judged, ledger=self._standing(judged))
        told = (result, looker.tripwire(address))
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

    def lanes(self) -> list[LaneState]:
        """The lanes of this process that are not done."""
        return self._engine.lanes() if self._engine is not None else []

    def pytest_sessionfinish(self) -> None:
        """End what probes, and let go of all it holds: the views that the controller makes next need the room."""
        if self._engine is not None:
            self._engine.close()
            self._engine = None
            allocator.let_go()

    def _standing(self, result: Result) -> dict[str, Json] | None:
        """How the result stands to the divergence that the ledger accepts for it, if it does."""
        entry = ledger.entry_for(self.options.accepted, result.record, self.options.told_as)
        due = agreement.waiting_no_more(result)
        counted = [each for each in result.findings if each.assertion in due] if due else result.findings
        reason = result.reason.code if result.reason is not None else ""
        standing = ledger.judge_against_ledger(entry, result.outcome, counted, self.options.today, reason)
        return standing.to_json() if standing else None

    def _agreement(self, result: Result) -> dict[str, Json] | None:
        """Whether what drifts live was ever seen as documented; a mock is no provider, and nothing there is pending.

        What a record remembers was seen under the usual revision, so under another one the history of that one tells.
        """
        options = self.options
        if not options.target.live:
            return None
        record = options.catalog[result.record]
        stated = assertions(record, options.catalog.__getitem__)
        remembers = None if options.revisions else record
        return agreement.agreement(result, remembers, stated, self._earlier, options.today, options.pending_days)

    @cached_property
    def _earlier(self) -> Sequence[Row]:
        return past.of_lines(self._worker_input.history)

    @property
    def _folder(self) -> Path:
        return self.options.out / self._worker_input.run

    def _group(self, address: str) -> str:
        return group_of(address, self.options.target)

    def _load_what_sends(self) -> None:
        """Load recipes and the wire, which any first request needs, while the mock starts: it is waited for next.

        Who asks others may have no key, and then sends nothing.
        """
        if self.options.target.embedded and self.options.traffic is None and self._by_group:
            import_module("probes.wire.http")
            for provider in {Address.parse(address).provider for group in self._by_group.values() for address in group}:
                book.book(provider)

    def _halve(self, addresses: Sequence[str]) -> None:
        """Have another process ask half of the lanes of a mock, where that is sooner done: nothing is kept there."""
        options = self.options
        if options.target.embedded and options.traffic is None and halved.is_worth_it(self._by_group):
            names = (self._session, f"{self._session}/{halved.NAME}")
            # One redactor for both: from the fork on each process has its own copy, and the forms of keys are large.
            redactor = self._redactor(self._target)
            own, others = (self._engine_named(name, A_RUN // len(names), redactor) for name in names)
            chosen = halved.half(self._by_group, [*self._speaking_grpc()])
            with suppress(OSError):  # there can be no other process: then all is asked here
                self._engine = Halved(own, others, [each for each in addresses if self._group(each) in chosen])

    def _speaking_grpc(self) -> Iterator[str]:
        """The groups that load gRPC, a sixth of a run's memory: the process that makes the views has no room for it."""
        for group, addresses in self._by_group.items():
            provider = self.options.target.providers.get(Address.parse(addresses[0]).provider)
            if provider is not None and GRPC_HOST in provider.addresses:
                yield group

    def _start(self, group: str) -> None:
        addresses = self._by_group.pop(group, [])
        if addresses:
            self._looker().start(addresses)

    def _looker(self) -> Engine | Halved | Traffic:
        """What has the result of each record: what probes, or the traffic that somebody recorded."""
        if self.options.traffic is not None:
            return self.options.traffic
        if self._engine is None:
            workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
            self._engine = self._engine_named(self._session, A_RUN // workers, self._redactor(self._target))
        return self._engine

    @property
    def _session(self) -> str:
        """What names this process's use of a mock: a worker that takes over another's items finds no limit used up."""
        return "/".join(filter(None, (self._worker_input.run, os.environ.get("PYTEST_XDIST_WORKER", ""))))

    @property
    def _target(self) -> Target:
        """The target, with what was looked up on the accounts, and where the mock is."""
        told = self._worker_input
        target = self.options.target.with_values(told.values()).with_unanswered(told.unanswered())
        return target.served_by(told.addresses()) if target.embedded else target

    def _redactor(self, target: Target) -> Redactor:
        return Redactor.of(target, public=[NOWHERE_KEY], documented=self.options.catalog.records)

    def _engine_named(self, session: str, kept: int, redactor: Redactor) -> Engine:
        """An engine that uses a mock by this name, and keeps so many bytes of large answers."""
        target = self._target
        return Engine(
            catalog=self.options.catalog,
            target=target,
            allow=self.options.allow,
            run=session,
            redactor=redactor,
            journal=Journal(self._folder / journal.NAME, target.name) if target.live else None,
            today=self.options.today,
            drawing=self.options.drawing,
            allowance=Allowance(kept),
        )
