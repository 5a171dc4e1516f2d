"""The engine: probes the records of all providers in a thread of its own.

The lanes run concurrently, and each record that is probed has a future. Words: docs/concepts.md.
"""

from __future__ import annotations

import time
from collections import Counter
from concurrent.futures import Future, wait
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, NamedTuple, Self

import anyio
from anyio.from_thread import BlockingPortal, start_blocking_portal

from catalog_probe.catalog.evidence.retention import RetentionBudget
from catalog_probe.catalog.model import Address, Outcome, Reason
from catalog_probe.catalog.model.clock import format_utc_now
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.catalog.reading.assertions import asserted_expectations
from catalog_probe.catalog.reading.record_fields import own_row
from catalog_probe.catalog.recognition.vocabulary import ProviderVocabulary
from catalog_probe.probes.judging.attempts import MAX_ATTEMPTS
from catalog_probe.probes.judging.control import expect_control, self_test
from catalog_probe.probes.planning.plan import ALL_ENDPOINTS, Rotation, make_plan
from catalog_probe.probes.planning.reach import find_obstacle
from catalog_probe.probes.recipes import book
from catalog_probe.probes.recipes.book import fault_free_request
from catalog_probe.probes.running.fault_free import (
    ask_fault_free,
    ask_suspected_families,
    check_endpoints,
    send_fault_free,
)
from catalog_probe.probes.running.lane import Lane, Stage
from catalog_probe.probes.running.limits import Budget, RateLimitPolicy
from catalog_probe.probes.running.probing import (
    UnfinishedResult,
    describe_error,
    finish_result,
    make_unprobed_result,
    preview_result,
    probe_record,
)
from catalog_probe.probes.running.task import Task
from catalog_probe.probes.running.throttle import Throttle
from catalog_probe.probes.targets.target import Cost, Target
from catalog_probe.probes.wire.redaction import redact_result

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import date

    from catalog_probe.catalog.evidence.results import Result
    from catalog_probe.catalog.files.store import Catalog
    from catalog_probe.catalog.model import Record
    from catalog_probe.catalog.reading.expectations import Expected
    from catalog_probe.probes.recipes.recipe import PlannedRecipe, Recipe
    from catalog_probe.probes.running.journal import Journal
    from catalog_probe.probes.running.upstream import Upstream
    from catalog_probe.probes.targets.target import Provider
    from catalog_probe.probes.wire.redaction import Redactor


@dataclass(slots=True)
class ProviderRun:
    """One provider in one run, with the budget and throttle of all its lanes."""

    provider: Provider
    redactor: Redactor
    vocabulary: ProviderVocabulary
    throttle: Throttle | None
    """None on a mock, which answers each probe as if it were alone."""
    budget: Budget
    is_compatible: bool = False
    """Whether it is a compatible server, which need not have all endpoints."""
    upstream: Upstream | None = None
    lanes: dict[str, Lane] = field(default_factory=dict)
    """By name; each is made when its first probe is sent."""

    @classmethod
    def from_records(
        cls,
        provider: Provider,
        records: tuple[Record, ...],
        redactor: Redactor,
        target: Target,
        upstream: Upstream | None,
    ) -> Self:
        """Prepare the run of a provider that documents these records."""
        live = target.live
        policy = RateLimitPolicy.from_records(records)
        throttle = (
            Throttle(policy, provider.limits.max_wait_s, own_rate=provider.limits.rate is not None) if live else None
        )
        vocabulary = ProviderVocabulary.from_records(records)
        return cls(provider, redactor, vocabulary, throttle, Budget(provider), target.is_compatible, upstream)

    def get_lane(self, recipe: Recipe) -> Lane:
        """Return the lane on which a recipe's calls are sent."""
        if recipe.lane not in self.lanes:
            self.lanes[recipe.lane] = Lane(
                self.provider,
                recipe.credential,
                self.redactor,
                self.budget,
                mock=self.throttle is None,
                throttle=self.throttle,
                upstream=self.upstream,
            )
            self.lanes[recipe.lane].evidence.is_compatible = self.is_compatible
        return self.lanes[recipe.lane]


@dataclass(frozen=True, slots=True)
class TaskFactory:
    """Makes the tasks of one run."""

    catalog: Catalog
    target: Target
    allow: frozenset[Cost]
    run: str
    journal: Journal | None = None
    allowance: RetentionBudget = field(default_factory=RetentionBudget)

    def make_task(self, address: str, recipe: PlannedRecipe, vocabulary: ProviderVocabulary) -> Task:
        """Return the task of a record; `vocabulary` is of its provider."""
        record = self.catalog[address]
        documented = asserted_expectations(record, self.catalog.__getitem__)
        not_sent = recipe.left_out.keys() | set(recipe.variants_not_drawn)
        expected = tuple(step for step in documented if step.label not in not_sent)
        if self.target.is_compatible:
            expected = tuple(step.for_compatible_server(self.target.leave_out) for step in expected)
        return Task(
            record=record,
            recipe=recipe,
            expected=expected,
            vocabulary=vocabulary,
            control=book.find_control(recipe),
            run=self.run,
            journal=self.journal,
            reprobe_after_s=self.target.reprobe_after_s,
            faults=self._describe_faults(expected),
            allowance=self.allowance,
            fault_free=partial(self._find_fault_free, recipe.credential),
        )

    def _describe_faults(self, expected: Iterable[Expected]) -> dict[str, str]:
        """Return the row of the error behind each label that should be refused."""
        errors = {step.label: self.catalog[step.address] for step in expected if "/errors/" in step.address}
        return {label: own_row(error) for label, error in errors.items()}

    def _find_fault_free(self, role: str, endpoint: str) -> Recipe | Reason:
        """Return an endpoint's fault-free request, or why it cannot be sent here."""
        request = fault_free_request(endpoint)
        if isinstance(request, Reason):
            return request
        recipe = replace(request, credential=role)
        # If the endpoint's own key is not set, e.g. an admin key, the records that send no key or a made-up one run on
        # another lane. The endpoint may refuse that lane's key as documented, which shows nothing of the faults.
        obstacle = find_obstacle(request, self.target, self.allow) or find_obstacle(recipe, self.target, self.allow)
        return obstacle or recipe


# Seconds between two looks at the progress, while somebody waits for a result.
TICK_S = 0.2

# Seconds that a record may take beyond what its requests may.
SLACK_S = 30.0

# Seconds that probes may take to end when the run is interrupted. A CI that cancels a job kills it after about ten.
SHUTDOWN_S = 4.0

# Live, probes of other costs are sent only when their own test item runs. On a mock nothing costs anything.
PREFETCHED_LIVE = frozenset({Cost.FREE, Cost.DESTRUCTIVE, Cost.SLOW})


@dataclass(frozen=True, slots=True)
class LaneState:
    """The progress of a lane that is not done."""

    name: str
    remaining: int
    """Its records without a result."""
    paused_s: float = 0.0
    """Seconds, from now, for which the provider asked to be left alone."""


class Report(NamedTuple):
    """What is known of a record; a later report replaces an earlier one."""

    result: Result
    is_final: bool
    """Whether the rules have seen all answers that they need."""


@dataclass(slots=True)
class Engine:
    """Probes records of one catalog on one target.

    Pytest's thread calls the public methods. Coroutines, and what they call, run in the loop thread.
    """

    catalog: Catalog
    target: Target
    allow: frozenset[Cost]
    run: str
    redactor: Redactor
    journal: Journal | None = None
    """Notes what probes make on a live account."""
    today: date | None = None
    """Selects what the self-tests claim; None for a run without self-tests."""
    drawing: Rotation = ALL_ENDPOINTS
    """Selects the endpoints on which each error is provoked, and the variants of its request."""
    allowance: RetentionBudget = field(default_factory=RetentionBudget)
    """How much of large answers the results may keep."""
    _stack: ExitStack = field(default_factory=ExitStack)
    _portal: BlockingPortal | None = None
    _upstream: Upstream | None = None
    _providers: dict[str, ProviderRun] = field(default_factory=dict)
    _results: dict[str, Future[Result]] = field(default_factory=dict)
    """Address -> the future of a result that `result` has not returned yet."""
    _reports: SimpleQueue[Report] = field(default_factory=SimpleQueue)
    """What `take_reports` has not returned yet."""
    _has_ended: bool = False
    """Whether `stop_sending` was called: from then on, rules lack answers that would still have come."""
    _batches: list[Future[None]] = field(default_factory=list)
    """The tasks of the loop thread, one for each batch of records."""
    _not_probed: dict[str, Reason] = field(default_factory=dict)
    _deadlines: dict[str, float] = field(default_factory=dict)
    """Address -> when waiting for its result ends, by `time.monotonic`; set by the first wait for the result."""
    _recipes: dict[str, PlannedRecipe] = field(default_factory=dict)
    """Address -> the recipe of each record that is or was probed."""

    def start(self, addresses: Iterable[str]) -> None:
        """Begin to probe records, concurrently, and return at once; records that were begun before are left alone."""
        chosen = make_plan(self.catalog, self.target, self.allow, addresses, self.drawing)
        for address in chosen.not_probed.keys() - self._not_probed.keys():
            result = make_unprobed_result(self.catalog[address], chosen.not_probed[address], _find_recipe(address))
            self._report(result, is_final=True)
        self._not_probed |= chosen.not_probed
        self._submit(
            {
                address: recipe
                for address, recipe in chosen.probed.items()
                if address not in self._recipes and (recipe.cost in PREFETCHED_LIVE or not self.target.live)
            }
        )

    def result(self, address: str) -> Result:
        """Return the result of one record; a record that was not started is probed now.

        The result is returned once and not kept, because it may be large: another call probes the record again. After
        the deadline, the result is a harness error, `deadline-passed`, until the probe has ended after all.

        Raises:
            CancelledError: the run ended before the record had a result.
        """
        self._ensure_started(address)
        if address in self._not_probed:
            return make_unprobed_result(self.catalog[address], self._not_probed[address], _find_recipe(address))
        try:
            result = self._results[address].result(max(0.0, self._deadlines[address] - time.monotonic()))
        except TimeoutError:
            reason = Reason(ReasonCode.DEADLINE_PASSED, f"no result within {self._compute_time_limit_s(address):.0f} s")
            return self._make_error_result(address, reason)
        del self._deadlines[address], self._results[address]
        return result

    def wait_for_result(self, address: str, on_tick: Callable[[], None]) -> None:
        """Wait until `result` would return at once, and call `on_tick` meanwhile."""
        self._ensure_started(address)
        while address in self._results and time.monotonic() < self._deadlines[address]:
            on_tick()
            if wait([self._results[address]], TICK_S).done:
                break

    def take_reports(self) -> list[Report]:
        """Return what became known since the last call, oldest first; may be called at any moment, and after `close`.

        A record is reported as soon as it is answered, and again when the other records of its lane were asked.
        """
        reports = []
        with suppress(Empty):
            while True:
                reports.append(self._reports.get_nowait())
        return reports

    def count_requests(self) -> tuple[int, int]:
        """Return how many requests were sent, and about how many will have been sent at the end.

        About, because a recipe's number is an upper bound of one attempt, and a difference is asked for again.
        """
        sent = sum(provider.budget.requests for provider in self._providers.values())
        planned = sum(recipe.requests for recipe in self._recipes.values())
        return sent, max(sent, planned)

    def list_lanes(self) -> list[LaneState]:
        """Return the lanes that are not done; may be called at any moment."""
        recipes = (self._recipes[address] for address, result in self._results.items() if not result.done())
        remaining = Counter((recipe.provider, recipe.lane) for recipe in recipes)
        states = []
        for (provider_name, lane_name), count in remaining.items():
            provider = self._providers.get(provider_name)
            lane = provider.lanes.get(lane_name) if provider is not None else None
            if lane is not None:
                states.append(LaneState(lane_name, count, lane.paused_s))
        return states

    def self_test(self, address: str) -> Result | None:
        """Return the self-test of a record's lane; None if the lane has none yet, or never has one.

        Example: a record of `pa inference` has that lane's self-test, if its control succeeded. On a mock no lane has
        one.
        """
        recipe = self._recipes.get(address)
        if recipe is None or self.today is None or not self.target.live:
            return None
        provider = self._providers.get(recipe.provider)
        lane = provider.lanes.get(recipe.lane) if provider is not None else None
        if provider is None or lane is None or lane.green_control is None:
            return None  # nothing was sent yet, or the control failed: a later record asks again
        expected = expect_control(recipe.provider)
        result = self_test(recipe.lane, expected, lane.green_control, provider.vocabulary, self.today, format_utc_now())
        return redact_result(result, self.redactor)

    def stop_sending(self) -> None:
        """Let every lane send nothing more but what cleans up."""
        self._has_ended = True
        for lane in self._list_all_lanes():
            lane.stop(Reason(ReasonCode.LANE_STOPPED, "the run ended"))

    def close(self) -> None:
        """Let running probes clean up, close all connections, end the thread."""
        self.stop_sending()
        if self._portal is not None:
            self._end_running_probes()
            for lane in self._list_all_lanes():
                self._portal.call(lane.aclose)
        self._stack.close()
        self._portal = None

    def _list_all_lanes(self) -> list[Lane]:
        return [lane for provider in self._providers.values() for lane in provider.lanes.values()]

    def _ensure_started(self, address: str) -> None:
        """Start to probe a record if it was not, or note why it is not probed."""
        if address not in self._results and address not in self._not_probed:
            chosen = make_plan(self.catalog, self.target, self.allow, [address], self.drawing)
            self._not_probed |= chosen.not_probed
            self._submit(chosen.probed)
        if address in self._results:
            self._deadlines.setdefault(address, time.monotonic() + self._compute_time_limit_s(address))

    def _end_running_probes(self) -> None:
        """Cancel the probes that still run after a while; only an interrupted run has such probes."""
        _, running = wait(self._batches, timeout=SHUTDOWN_S if self.target.live else 0)
        for batch in running:
            batch.cancel()  # their clean-up is shielded and still runs; what it leaves is in the journal

    def _submit(self, recipes: Mapping[str, PlannedRecipe]) -> None:
        """Begin to probe a batch of records."""
        if not recipes:
            return
        if self._portal is None:
            self._portal = self._stack.enter_context(start_blocking_portal())
        self._recipes.update(recipes)
        # Before anything is sent: a probe that waits at its lane's barrier waits for the whole batch. If a later batch
        # registers more probes, only those that still wait then wait for them too.
        self._portal.call(self._register, recipes)
        addresses = tuple(recipes)
        if not self.target.live:  # live, the probes that send most could use up the budget of the others
            addresses = tuple(sorted(recipes, key=lambda address: recipes[address].requests, reverse=True))
        self._results.update((address, Future()) for address in addresses)
        # One call for the whole batch, because each call costs both threads a switch.
        self._batches.append(self._portal.start_task_soon(self._probe_batch, addresses))

    def _register(self, recipes: Mapping[str, PlannedRecipe]) -> None:
        for address, recipe in recipes.items():
            self._get_lane(recipe).barrier.register([address])

    async def _probe_batch(self, addresses: Iterable[str]) -> None:
        """Probe these records, those of each lane in their order."""
        addresses_by_lane: dict[Lane, list[str]] = {}
        for address in addresses:
            addresses_by_lane.setdefault(self._get_lane(self._recipes[address]), []).append(address)
        async with anyio.create_task_group() as group:
            for lane, lane_addresses in addresses_by_lane.items():
                group.start_soon(self._probe_lane, lane, lane_addresses)

    async def _probe_lane(self, lane: Lane, addresses: Sequence[str]) -> None:
        unfinished: dict[str, UnfinishedResult] = {}
        try:
            async with anyio.create_task_group() as group:
                for address in addresses:
                    # `probe_record` enters the semaphore by itself. It is entered and left here only to delay the next
                    # task until there is room for its probe: a lane may have thousands of records.
                    async with lane.semaphore:
                        group.start_soon(self._probe, address, lane, unfinished)
            await lane.barrier.wait_for(Stage.JUDGED)
            await self._finish_results(unfinished, lane)
        except BaseException:
            for address in addresses:
                self._results[address].cancel()  # the run ended meanwhile; futures that are done stay done
            raise

    async def _probe(self, address: str, lane: Lane, unfinished: dict[str, UnfinishedResult]) -> None:
        try:
            result = await probe_record(self._make_task(address), lane)
        except Exception as error:  # noqa: BLE001 - a traceback could show secrets
            result = self._make_crash_result(address, error)
        finally:
            lane.barrier.leave(address)
        if isinstance(result, UnfinishedResult):
            unfinished[address] = result
            self._report(preview_result(result, lane), is_final=False)
        elif self._has_ended and not result.attempts:
            self._results[address].cancel()  # it was never asked, so there is nothing to report
        else:
            self._deliver(address, result)

    async def _finish_results(self, unfinished: Mapping[str, UnfinishedResult], lane: Lane) -> None:
        """Deliver the results that waited for the other records of their lane."""
        crash: Exception | None = None
        try:
            if unfinished and not self._has_ended:
                any_task = self._make_task(next(iter(unfinished)))  # all tasks of a lane find the same requests
                send = partial(send_fault_free, any_task, lane)
                provider = lane.provider.name
                endpoints = [str(record.address) for record in self.catalog.select(provider, "endpoints")]
                async with lane.fault_free_lock:
                    await ask_suspected_families(lane, send, endpoints)
                    await ask_fault_free(lane.evidence, send, provider, self._get_provider(provider).vocabulary)
                    await check_endpoints(lane.evidence, lane.evidence.endpoints_with_another_error, send, provider)
        except Exception as error:  # noqa: BLE001 - as above
            crash = error
        for address, result in unfinished.items():
            if crash is not None:
                finished = self._make_crash_result(address, crash)
            else:  # the run may have ended since the first look at `_has_ended`, while fault-free requests were sent
                finished = preview_result(result, lane) if self._has_ended else finish_result(result, lane)
            self._deliver(address, finished)

    def _deliver(self, address: str, result: Result) -> None:
        """Hand over the result of a record that is done."""
        self._results[address].set_result(self._report(result, is_final=True))

    def _report(self, result: Result, *, is_final: bool) -> Result:
        """Queue a result for pytest's thread, redacted: the rules that compare secrets have seen it."""
        redacted = redact_result(result, self.redactor)
        self._reports.put(Report(redacted, is_final=is_final))
        return redacted

    def _make_crash_result(self, address: str, error: Exception) -> Result:
        return self._make_error_result(address, Reason(ReasonCode.RECIPE_ERROR, describe_error(error, self.redactor)))

    def _make_error_result(self, address: str, reason: Reason) -> Result:
        result = make_unprobed_result(self.catalog[address], reason, self._recipes[address])
        return replace(result, outcome=Outcome.HARNESS_ERROR)

    def _make_task(self, address: str) -> Task:
        factory = TaskFactory(self.catalog, self.target, self.allow, self.run, self.journal, self.allowance)
        recipe = self._recipes[address]
        return factory.make_task(address, recipe, self._get_provider(recipe.provider).vocabulary)

    def _get_lane(self, recipe: Recipe) -> Lane:
        return self._get_provider(recipe.provider).get_lane(recipe)

    def _get_provider(self, name: str) -> ProviderRun:
        if name not in self._providers:
            records = tuple(self.catalog.select(provider=name))
            self._providers[name] = ProviderRun.from_records(
                self.target.providers[name], records, self.redactor, self.target, self._get_upstream()
            )
        return self._providers[name]

    def _get_upstream(self) -> Upstream | None:
        """Return the mock behind the server, which all providers share."""
        if self._upstream is None and self.target.upstream:
            from catalog_probe.probes.running.upstream import Upstream  # imports httpx, which few runs need

            self._upstream = Upstream(self.target.upstream)
        return self._upstream

    def _compute_time_limit_s(self, address: str) -> float:
        """Return how long the result of a record may take, in the worst case: its own attempts, and all before it."""
        recipe = self._recipes[address]
        provider = self.target.providers[recipe.provider]
        attempt_s = (recipe.requests + 1) * provider.limits.timeout_s + self.target.reprobe_after_s + recipe.waits_s
        # A record that waits for minutes delays those after it on its lane. The longest of the run bounds each lane's.
        slowest_s = max((other.waits_s for other in self._recipes.values()), default=0.0)
        queue_length = len(self._results) / max(1, provider.limits.concurrency)
        return SLACK_S + slowest_s + attempt_s * MAX_ATTEMPTS + queue_length * provider.limits.timeout_s


def _find_recipe(address: str) -> Recipe | None:
    return book.recipe_book(Address.parse(address).provider).recipes.get(address)
