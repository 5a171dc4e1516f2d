"""The barrier of a lane: its probes wait for each other stage by stage, in any order, and never for ever."""

from __future__ import annotations

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.probes.running.barrier import Barrier, Stage

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
