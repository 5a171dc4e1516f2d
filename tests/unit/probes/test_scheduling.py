"""Starting, waiting and handing out: the probes of a lane wait for each other, and each result is handed out once."""

from __future__ import annotations

import gc
from collections import Counter
from types import SimpleNamespace
from typing import Any, cast

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.catalog.evidence.results import Result
from catalog_probe.catalog.model import Outcome
from catalog_probe.probes.plugin.scheduling import GroupScheduling
from catalog_probe.probes.running.lane import Barrier, Stage
from tests.harness.engines import engine, mock_target_at
from tests.harness.serving import serving
from tests.harness.wrong_provider import WrongProvider

ITEMS = [f"probes/test_errors.py::test_error[{address}]" for address in ("pa/a", "pa/b", "pb/a", "pb/b", "pc/a")]


class Worker:
    """Records the items that it is given; sending to a dead one fails."""

    def __init__(self, *, dead: bool = False) -> None:
        self.dead = dead
        self.gateway = SimpleNamespace(id="gw")
        self.shutting_down = False
        self.items: list[str] = []

    def send_runtest_some(self, indices: list[int]) -> None:
        if self.dead:
            raise OSError("cannot send (already closed?)")
        self.items += [ITEMS[index] for index in indices]

    def shutdown(self) -> None:
        self.shutting_down = True


def make_scheduler(*workers: Worker) -> GroupScheduling:
    options = SimpleNamespace(loadscopereorder=False)
    config = SimpleNamespace(getvalue=lambda _: [f"{len(workers)}*popen"], option=options)
    log = SimpleNamespace(loadscopesched=lambda *_: None)
    scheduler = GroupScheduling(cast("pytest.Config", config), log, lambda address: address.partition("/")[0])
    for worker in workers:
        scheduler.add_node(worker)
    return scheduler


def collect(scheduler: GroupScheduling, *workers: Worker) -> None:
    """Report each worker's collection, and schedule when all have collected, as xdist's loop does."""
    for worker in workers:
        scheduler.add_node_collection(worker, ITEMS)
        if scheduler.collection_is_completed:
            scheduler.schedule()


def list_given_items(*workers: Any) -> list[str]:
    return sorted(item for worker in workers for item in worker.items)


def test_all_items_of_a_group_go_to_one_worker() -> None:
    first, second = Worker(), Worker()
    scheduler = make_scheduler(first, second)
    collect(scheduler, first, second)
    assert list_given_items(first, second) == ITEMS
    assert first.items[:2] == ITEMS[:2]
    assert second.items == ITEMS[2:4]


def test_worker_that_dies_before_collection_is_not_waited_for() -> None:
    """Its replacement may collect before the other of the first two."""
    first, second, third = Worker(), Worker(), Worker()
    scheduler = make_scheduler(first, second)
    collect(scheduler, first)
    assert scheduler.remove_node(first) is None
    scheduler.add_node(third)
    collect(scheduler, third)
    assert list_given_items(second, third) == []
    collect(scheduler, second)
    assert list_given_items(second, third) == ITEMS


def test_unsent_items_go_to_another_worker() -> None:
    first, second = Worker(dead=True), Worker()
    scheduler = make_scheduler(first, second)
    collect(scheduler, first, second)
    assert scheduler.remove_node(first) == ITEMS[0], "xdist reports the first as what killed it"
    for item in list(second.items):
        scheduler.mark_test_complete(second, ITEMS.index(item))
    assert list_given_items(second) == ITEMS


STAGES = (Stage.ASKED, Stage.JUDGED)


async def run_probes(plans: dict[str, tuple[bool, ...]], log: list[tuple[str, str]]) -> None:
    """Run probes that wait for the stages of their plan, and then leave."""
    barrier = Barrier()
    barrier.register(plans)

    async def probe(name: str, waits: tuple[bool, ...]) -> None:
        for stage, wait in zip(STAGES, waits, strict=True):
            await anyio.lowlevel.checkpoint()
            log.append((name, f"at {stage.name}"))
            if wait:
                await barrier.wait_for(stage, name)
                log.append((name, f"past {stage.name}"))
        barrier.leave(name)

    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            for name, waits in plans.items():
                group.start_soon(probe, name, waits)


@given(st.dictionaries(st.sampled_from("abcdefgh"), st.tuples(st.booleans(), st.booleans()), min_size=1))
def test_no_probe_passes_a_stage_before_all_reach_it(plans: dict[str, tuple[bool, ...]]) -> None:
    log: list[tuple[str, str]] = []
    anyio.run(run_probes, plans, log)
    for stage in STAGES:
        passed = [index for index, (_, event) in enumerate(log) if event == f"past {stage.name}"]
        arrived = [index for index, (_, event) in enumerate(log) if event == f"at {stage.name}"]
        assert len(arrived) == len(plans)
        assert not passed or max(arrived) < min(passed)


def test_all_waiting_probes_get_the_same_moment() -> None:
    moments: list[float] = []

    async def run() -> None:
        barrier = Barrier()
        barrier.register("ab")

        async def probe(name: str) -> None:
            moments.append(await barrier.wait_for(Stage.ASKED, name))

        async with anyio.create_task_group() as group:
            for name in "ab":
                group.start_soon(probe, name)

    anyio.run(run)
    assert len(moments) == 2
    assert len(set(moments)) == 1


@pytest.mark.parametrize("stage", STAGES)
def test_barrier_ignores_probes_that_left_or_come_late(stage: Stage) -> None:
    async def run() -> None:
        barrier = Barrier()
        barrier.register("ab")
        barrier.leave("b")
        with anyio.fail_after(60):
            await barrier.wait_for(stage, "a")
            await barrier.wait_for(stage, "late")

    anyio.run(run)


ADDRESSES = ["pd/errors/not_found/model_missing", "pd/endpoints/models/list_models"]


def results_in_memory() -> list[Result]:
    """Return all results of these records that this process holds."""
    return [item for item in gc.get_objects() if type(item) is Result and item.record in ADDRESSES]


def test_result_is_released_and_not_probed_again() -> None:
    held_by_tests = {id(result): result for result in results_in_memory()}  # what other tests share
    paths: Counter[str] = Counter()
    provider = WrongProvider(lambda answer: paths.update([answer.path]))
    with serving(provider) as base, engine(mock_target_at(base)) as running:
        running.start(ADDRESSES)
        assert {running.result(address).outcome for address in ADDRESSES} == {Outcome.CONFORMS}
        assert {report.result.record for report in running.take_reports()} == set(ADDRESSES)
        assert [result.record for result in results_in_memory() if id(result) not in held_by_tests] == []
        sent = paths.total()
        running.start(ADDRESSES)
        assert running.list_lanes() == []
        assert paths.total() == sent > 0
