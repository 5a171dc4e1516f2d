"""Which worker gets which items, even if one dies: xdist's scheduler with recording workers."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from catalog_probe.probes.plugin.collection.scheduling import GroupScheduling

if TYPE_CHECKING:
    import pytest

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
