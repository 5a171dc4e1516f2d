"""An event loop with virtual time: when all tasks sleep, the clock jumps to the next timer."""

from __future__ import annotations

import asyncio
import selectors
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable, Iterator

T = TypeVar("T")


class Deadlock(AssertionError):
    """All tasks wait, and no timer is set."""


class _VirtualSelector(selectors.DefaultSelector):
    """Advances the clock instead of waiting; only timers can be waited for."""

    def __init__(self, now: float, late_s: Iterator[float]) -> None:
        super().__init__()
        self.now = now
        self._late_s = late_s

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise Deadlock("all tasks wait, and no timer is set")
        if timeout:
            self.now += timeout + next(self._late_s, 0.0)
        return super().select(0)


def run(
    main: Callable[[Callable[[], float]], Coroutine[Any, Any, T]], *, now: float = 0.0, late_s: Iterable[float] = ()
) -> T:
    """Run a coroutine function with a clock that begins at `now`, and return its result.

    `now` must be small: a float of today's timestamps has no room for the nanoseconds of asyncio's timers. The first
    wake-ups are late by each of `late_s`, in seconds; later ones are on time.

    Raises:
        Deadlock: all tasks wait for each other.
    """
    selector = _VirtualSelector(now, iter(late_s))
    loop = asyncio.SelectorEventLoop(selector)
    loop.time = lambda: selector.now  # type: ignore[method-assign]
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        return runner.run(main(loop.time))
