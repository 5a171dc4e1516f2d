"""Runs probes beside pytest: one loop thread, lanes side by side, and a future for every record's result."""

from __future__ import annotations

import time
from collections import Counter
from concurrent.futures import Future, wait
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

import anyio
from anyio.from_thread import BlockingPortal, start_blocking_portal

from catalog_probe.catalog.evidence.retention import RetentionBudget
from catalog_probe.catalog.model import Address, Outcome, Reason
from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.catalog.model.labels import SUCCESS
from catalog_probe.catalog.reading.assertions import asserted
from catalog_probe.catalog.reading.classification import own_row
from catalog_probe.probes.judging.comparison.basis import succeeds
from catalog_probe.probes.judging.control import expect_control
from catalog_probe.probes.judging.self_test import self_test
from catalog_probe.probes.judging.verdicts.attempts import MAX_ATTEMPTS
from catalog_probe.probes.planning.obstacles import obstacle
from catalog_probe.probes.planning.plan import plan
from catalog_probe.probes.planning.rotation import ALL, Drawing
from catalog_probe.probes.recipes import book
from catalog_probe.probes.recipes.fault_free import twin
from catalog_probe.probes.running.barrier import Stage
from catalog_probe.probes.running.fault_free import ask_fault_free, send_fault_free
from catalog_probe.probes.running.probing import Waiting, now, place_of, run, settle, unprobed
from catalog_probe.probes.running.provider_run import ProviderRun
from catalog_probe.probes.running.task import Task
from catalog_probe.probes.targets.target import Cost, Target
from catalog_probe.probes.wire.redaction.evidence import redact_result

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import date

    from catalog_probe.catalog.evidence.results import Result
    from catalog_probe.catalog.files.store import Catalog
    from catalog_probe.catalog.reading.expected import Expected
    from catalog_probe.probes.recipes.recipe import Recipe
    from catalog_probe.probes.running.journal import Journal
    from catalog_probe.probes.running.lane import Lane
    from catalog_probe.probes.wire.redaction.redactor import Redactor

TICK_S = 0.2
"""How often somebody who waits for a result looks up."""

SLACK_S = 30.0
LAST_S = 20.0
"""How long probes that are under way when the run is interrupted may take to end."""

PREFETCHED_LIVE = frozenset({Cost.FREE, Cost.DESTRUCTIVE})
"""Live, probes of other costs are sent only when their own test item runs; on a mock nothing costs anything."""


@dataclass(frozen=True, slots=True)
class LaneState:
    """A lane that is not done, as a run tells of it while it goes on."""

    name: str
    left: int
    """Its records without a result."""
    paused_s: float = 0.0
    """Seconds, from now, for which the provider asked to be left alone."""


@dataclass(slots=True)
class Engine:
    """Probes records of one catalog on one target; used from pytest's thread."""

    catalog: Catalog
    target: Target
    allow: frozenset[Cost]
    run: str
    redactor: Redactor
    journal: Journal | None = None
    """Where it is noted what probes make on a live account."""
    today: date | None = None
    """The day, which chooses what self-tests lie about; None where there are to be none."""
    drawing: Drawing = ALL
    """On which of its endpoints each error is provoked."""
    allowance: RetentionBudget = field(default_factory=RetentionBudget)
    """What may be kept of large answers."""
    _stack: ExitStack = field(default_factory=ExitStack)
    _portal: BlockingPortal | None = None
    _providers: dict[str, ProviderRun] = field(default_factory=dict)
    _results: dict[str, Future[Result]] = field(default_factory=dict)
    """By address, until each is handed out."""
    _begun: list[Future[None]] = field(default_factory=list)
    """What probes in the loop thread, one for each call that began something."""
    _handed_out: set[str] = field(default_factory=set)
    _not_probed: dict[str, Reason] = field(default_factory=dict)
    _ends: dict[str, float] = field(default_factory=dict)
    """When nobody waits for a result any longer; counted from when it was first waited for."""
    _tripped: set[str] = field(default_factory=set)
    _sent: dict[str, Recipe] = field(default_factory=dict)

    def start(self, addresses: Iterable[str]) -> None:
        """Begin to probe records, each lane on its own and concurrently within; returns at once."""
        chosen = plan(self.catalog, self.target, self.allow, addresses, self.drawing)
        self._not_probed |= chosen.not_probed
        now = {
            address: recipe
            for address, recipe in chosen.probed.items()
            if address not in self._results
            and address not in self._handed_out
            and (recipe.cost in PREFETCHED_LIVE or not self.target.live)
        }
        self._submit(now)

    def result(self, address: str) -> Result:
        """The result of one record, probing it now if that was not begun; waits within a deadline.

        It is handed out once and not kept: who asks for it again has the record probed again.
        """
        self._begin(address)
        if address in self._not_probed:
            return unprobed(self.catalog[address], self._not_probed[address], _recipe(address))
        try:
            result = self._results[address].result(max(0.0, self._ends[address] - time.monotonic()))
        except TimeoutError:
            reason = Reason(ReasonCode.DEADLINE_PASSED, f"no result within {self._deadline_s(address):.0f} s")
            blank = unprobed(self.catalog[address], reason, _recipe(address))
            return replace(blank, outcome=Outcome.HARNESS_ERROR)
        del self._ends[address], self._results[address]
        self._handed_out.add(address)
        return result

    def wait(self, address: str, meanwhile: Callable[[], None]) -> None:
        """Wait until `result` has its answer at once, and call `meanwhile` now and then."""
        self._begin(address)
        while address in self._results and time.monotonic() < self._ends[address]:
            meanwhile()
            if wait([self._results[address]], TICK_S).done:
                break

    def lanes(self) -> list[LaneState]:
        """The lanes that are not done; may be asked at any moment."""
        waited_for = (self._sent[address] for address, result in self._results.items() if not result.done())
        left = Counter((each.provider, each.lane) for each in waited_for)
        return [
            LaneState(name, number, lane.paused_s)
            for (provider, name), number in left.items()
            if (its := self._providers.get(provider)) is not None and (lane := its.lanes.get(name)) is not None
        ]

    def self_test(self, address: str) -> Result | None:
        """The self-test of a record's lane, once for each live lane whose control was a success."""
        recipe = _recipe(address)
        if recipe is None or self.today is None or not self.target.live or recipe.lane in self._tripped:
            return None
        provider = self._providers.get(recipe.provider)
        lane = provider.lanes.get(recipe.lane) if provider is not None else None
        if provider is None or lane is None or lane.green is None:
            return None
        self._tripped.add(recipe.lane)
        expected = expect_control(recipe.provider)
        return redact_result(
            self_test(recipe.lane, expected, lane.green, provider.known, self.today, now()), self.redactor
        )

    def close(self) -> None:
        """Send nothing new, let what is under way clean up behind itself, close every connection, end the thread."""
        if self._portal is not None:
            lanes = [lane for provider in self._providers.values() for lane in provider.lanes.values()]
            for lane in lanes:
                lane.stop(Reason(ReasonCode.LANE_STOPPED, "the run ended"))
            self._await_the_last()
            for lane in lanes:
                self._portal.call(lane.aclose)
            self._providers.clear()
        self._stack.close()
        self._portal = None

    def _begin(self, address: str) -> None:
        """Probe a record if that was not begun, or note why it is not probed here."""
        if address not in self._results and address not in self._not_probed:
            chosen = plan(self.catalog, self.target, self.allow, [address], self.drawing)
            self._not_probed |= chosen.not_probed
            self._submit(chosen.probed)
        if address in self._results:
            self._ends.setdefault(address, time.monotonic() + self._deadline_s(address))

    def _await_the_last(self) -> None:
        """Normally every result is there by now; after an interruption some probes are still under way."""
        _, running = wait(self._begun, timeout=LAST_S if self.target.live else 0)
        for each in running:
            each.cancel()  # their clean-up is shielded and still runs; what it leaves is in the journal

    def _submit(self, recipes: Mapping[str, Recipe]) -> None:
        """Begin to probe these; each knows of all the others of its lane before the first is sent."""
        if not recipes:
            return
        if self._portal is None:
            self._portal = self._stack.enter_context(start_blocking_portal())
        self._sent.update(recipes)
        self._portal.call(self._expect, recipes)
        begun = tuple(recipes)
        if not self.target.live:  # where who sends most could leave the others nothing of a budget
            begun = tuple(sorted(recipes, key=lambda address: recipes[address].requests, reverse=True))
        self._results.update((address, Future()) for address in begun)
        # One call for all: each that is handed over by itself costs both threads a turn.
        self._begun.append(self._portal.start_task_soon(self._probe_all, begun))

    def _expect(self, recipes: Mapping[str, Recipe]) -> None:
        for address, recipe in recipes.items():
            self._lane(recipe).barrier.register([address])

    async def _probe_all(self, addresses: Iterable[str]) -> None:
        """Probe these records, those of each lane in their order."""
        by_lane: dict[Lane, list[str]] = {}
        for address in addresses:
            by_lane.setdefault(self._lane(self._sent[address]), []).append(address)
        async with anyio.create_task_group() as probes:
            for lane, its in by_lane.items():
                probes.start_soon(self._probe_in_turn, lane, its)

    async def _probe_in_turn(self, lane: Lane, addresses: Sequence[str]) -> None:
        """Begin to probe a record when there is a place for it: what it needs is made no earlier."""
        waiting: dict[str, Waiting] = {}
        try:
            async with anyio.create_task_group() as probes:
                for address in addresses:
                    async with lane.places:
                        probes.start_soon(self._probe, address, lane, waiting)
            await lane.barrier.wait_for(Stage.JUDGED)
            await self._settle(waiting, lane)
        except BaseException:
            for address in addresses:
                self._results[address].cancel()  # the run ended meanwhile; one that is done stays
            raise

    async def _probe(self, address: str, lane: Lane, waiting: dict[str, Waiting]) -> None:
        try:
            result = await run(self._task(address), lane)
        except Exception as error:  # noqa: BLE001 - a traceback could show what only the wire may know
            result = self._broken(address, error)
        finally:
            lane.barrier.leave(address)
        if isinstance(result, Waiting):
            waiting[address] = result
        else:
            self._deliver(address, result)

    async def _settle(self, waiting: Mapping[str, Waiting], lane: Lane) -> None:
        broken: Exception | None = None
        try:
            if waiting:
                send = partial(send_fault_free, self._task(next(iter(waiting))), lane)
                async with lane.fault_free_lock:
                    await ask_fault_free(lane.evidence, send, lane.provider.name, self._of(lane.provider.name).known)
        except Exception as error:  # noqa: BLE001 - as above
            broken = error
        for address, each in waiting.items():
            self._deliver(address, settle(each, lane) if broken is None else self._broken(address, broken))

    def _deliver(self, address: str, result: Result) -> None:
        """Hand over a result, which is judged by now: what its verdict quotes leaves the run from here on."""
        self._results[address].set_result(redact_result(result, self.redactor))

    def _broken(self, address: str, error: Exception) -> Result:
        reason = Reason(ReasonCode.RECIPE_ERROR, place_of(error, self.redactor))
        return replace(unprobed(self.catalog[address], reason, self._sent[address]), outcome=Outcome.HARNESS_ERROR)

    def _task(self, address: str) -> Task:
        record, recipe = self.catalog[address], self._sent[address]
        stated = asserted(record, self.catalog.__getitem__)
        expected = tuple(each for each in stated if each.label not in recipe.left_out)
        return Task(
            record=record,
            recipe=recipe,
            expected=expected,
            known=self._of(recipe.provider).known,
            control=book.control_of(recipe),
            run=self.run,
            journal=self.journal,
            reprobe_after_s=self.target.reprobe_after_s,
            faults=self._faults(expected),
            allowance=self.allowance,
            twin=partial(self._twin, recipe.credential),
            success=self._success,
        )

    def _faults(self, expected: Iterable[Expected]) -> dict[str, str]:
        """What is provoked under each label that is to be refused: the row of the error that describes it."""
        errors = {each.label: self.catalog[each.address] for each in expected if "/errors/" in each.address}
        return {label: own_row(error) for label, error in errors.items()}

    def _success(self, endpoint: str) -> Expected | None:
        """What is documented of an endpoint's success; nothing of where no endpoint is, or of one that has none."""
        if not endpoint:
            return None
        stated = asserted(self.catalog[endpoint], self.catalog.__getitem__)
        return next((each for each in stated if each.label == SUCCESS and succeeds(each.status)), None)

    def _twin(self, role: str, endpoint: str) -> Recipe | Reason:
        """How an endpoint is asked without a fault with this role's key, or what keeps it from being asked here."""
        found = twin(endpoint)
        if isinstance(found, Reason):
            return found
        recipe = replace(found, credential=role)
        return obstacle(recipe, self.target, self.allow) or recipe

    def _lane(self, recipe: Recipe) -> Lane:
        return self._of(recipe.provider).lane(recipe)

    def _of(self, provider: str) -> ProviderRun:
        if provider not in self._providers:
            records = tuple(self.catalog.select(provider=provider))
            self._providers[provider] = ProviderRun.of(
                self.target.providers[provider], records, self.redactor, live=self.target.live
            )
        return self._providers[provider]

    def _deadline_s(self, address: str) -> float:
        recipe = self._sent[address]
        provider = self.target.providers[recipe.provider]
        each = (recipe.requests + 1) * provider.timeout_s + self.target.reprobe_after_s
        queue = len(self._results) / max(1, provider.concurrency)
        return SLACK_S + each * MAX_ATTEMPTS + queue * provider.timeout_s


def _recipe(address: str) -> Recipe | None:
    return book.book(Address.parse(address).provider).recipes.get(address)
