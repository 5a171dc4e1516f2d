"""Which worker gets which items where one dies at a bad moment: the real scheduler, and workers that only listen."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from catalog_probe.probes.plugin.collection.scheduling import GroupScheduling

if TYPE_CHECKING:
    import pytest

ITEMS = [f"probes/test_errors.py::test_error[{address}]" for address in ("pa/a", "pa/b", "pb/a", "pb/b", "pc/a")]


class Worker:
    """Notes the items that it is given; nothing can be sent to a dead one."""

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


def scheduler_of(*workers: Worker) -> GroupScheduling:
    options = SimpleNamespace(loadscopereorder=False)
    config = SimpleNamespace(getvalue=lambda _: [f"{len(workers)}*popen"], option=options)
    log = SimpleNamespace(loadscopesched=lambda *_: None)
    scheduler = GroupScheduling(cast("pytest.Config", config), log, lambda address: address.partition("/")[0])
    for worker in workers:
        scheduler.add_node(worker)
    return scheduler


def collect(scheduler: GroupScheduling, *workers: Worker) -> None:
    """Say that each has collected, and give out items when all have, as xdist's own loop does."""
    for worker in workers:
        scheduler.add_node_collection(worker, ITEMS)
        if scheduler.collection_is_completed:
            scheduler.schedule()


def given(*workers: Any) -> list[str]:
    return sorted(item for worker in workers for item in worker.items)


def test_all_items_of_a_group_go_to_one_worker() -> None:
    first, second = Worker(), Worker()
    scheduler = scheduler_of(first, second)
    collect(scheduler, first, second)
    assert given(first, second) == ITEMS
    assert first.items[:2] == ITEMS[:2]
    assert second.items == ITEMS[2:4]


def test_a_worker_that_dies_before_others_have_collected_is_not_waited_for() -> None:
    """Its replacement may have collected before the other one of the first two."""
    first, second, third = Worker(), Worker(), Worker()
    scheduler = scheduler_of(first, second)
    collect(scheduler, first)
    assert scheduler.remove_node(first) is None
    scheduler.add_node(third)
    collect(scheduler, third)
    assert given(second, third) == []
    collect(scheduler, second)
    assert given(second, third) == ITEMS


def test_items_that_could_not_be_sent_go_to_another_worker() -> None:
    first, second = Worker(dead=True), Worker()
    scheduler = scheduler_of(first, second)
    collect(scheduler, first, second)
    assert scheduler.remove_node(first) == ITEMS[0], "xdist reports the first as what killed it"
    for item in list(second.items):
        scheduler.mark_test_complete(second, ITEMS.index(item))
    assert given(second) == ITEMS
