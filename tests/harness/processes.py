"""Looks at other processes: whether they live, which they started, and until when."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TypeVar

from tests.harness.command import DEADLINE_S

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Found = TypeVar("Found")


def until(found: Callable[[], Found | None]) -> Found:
    """What is looked for, again and again, once it is there; what never comes is given up for lost."""
    deadline = time.monotonic() + DEADLINE_S
    while not (seen := found()):
        assert time.monotonic() < deadline, "it did not come to pass"
        time.sleep(0.005)
    return seen


def idle() -> NoReturn:
    """Do nothing until a signal ends it. A wait without an end would miss one that comes right before it begins."""
    while True:
        time.sleep(0.05)


def children(pid: int) -> list[int]:
    """The processes that one has started and that have not been waited for."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and that nobody waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def gone(pids: Iterable[int]) -> bool:
    """Whether none of these processes runs."""
    return not any(map(alive, pids))
