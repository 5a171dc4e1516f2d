"""Results come in one thread and are waited for in another: none is missed, none is handed out twice."""

from __future__ import annotations

from concurrent.futures import CancelledError
from threading import Thread

import pytest

from catalog.evidence.results import Result
from catalog.model import Outcome
from probes.running.promised import Promised

NAMES = [f"record_{number}" for number in range(300)]
ENOUGH_S = 60.0


def result(name: str) -> Result:
    return Result(name, {}, Outcome.CONFORMS)


@pytest.mark.parametrize("order", [1, -1])
def test_each_that_comes_is_handed_out_in_whichever_order(order: int) -> None:
    promised = Promised()
    promised.promise(NAMES)

    def keep_all() -> None:
        for name in NAMES[::order]:
            promised.keep(name, result(name))

    keeping = Thread(target=keep_all)
    keeping.start()
    assert [each.record for name in NAMES if (each := promised.take(name, ENOUGH_S))] == NAMES
    keeping.join()
    assert len(promised) == 0


def test_what_does_not_come_in_time_is_still_expected() -> None:
    promised = Promised()
    promised.promise(["late"])
    assert promised.take("late", 0) is None
    assert promised.missing == ["late"]
    promised.keep("late", result("late"))
    assert promised.missing == []
    assert promised.take("late", 0) == result("late")
    assert "late" not in promised


def test_what_is_given_up_is_said_at_once_and_what_came_before_stays() -> None:
    promised = Promised()
    promised.promise(["there", "lost", "of another lane"])
    promised.keep("there", result("there"))
    waiting = Thread(target=promised.give_up, args=(["there", "lost"],))
    waiting.start()
    assert promised.wait("lost", ENOUGH_S)
    with pytest.raises(CancelledError):
        promised.take("lost", ENOUGH_S)
    waiting.join()
    assert promised.missing == ["of another lane"]
    assert promised.take("there", 0) == result("there")
    promised.promise(["lost"])
    assert set(promised.missing) == {"lost", "of another lane"}
