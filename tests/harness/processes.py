"""Looks at other processes: whether they run, which children they have, and when something has happened."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TypeVar

from tests.harness.command import DEADLINE_S

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Result = TypeVar("Result")


def wait_for(find: Callable[[], Result | None]) -> Result:
    """Call a function again and again until it finds something, and return that."""
    deadline = time.monotonic() + DEADLINE_S
    while not (result := find()):
        assert time.monotonic() < deadline, "it did not come to pass"
        time.sleep(0.005)
    return result


def wait_for_signal() -> NoReturn:
    """Sleep until a signal ends the process. `signal.pause` would miss one that comes right before it."""
    while True:
        time.sleep(0.05)


def list_children(pid: int) -> list[int]:
    """Return the child processes that have not been waited for."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def is_alive(pid: int) -> bool:
    """Whether a process runs; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def have_ended(pids: Iterable[int]) -> bool:
    """Whether none of these processes runs."""
    return not any(map(is_alive, pids))
