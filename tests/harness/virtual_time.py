"""An event loop on which nobody waits: time passes when everybody sleeps, and as late as one likes."""

from __future__ import annotations

import asyncio
import selectors
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable, Iterator

T = TypeVar("T")


class Deadlock(AssertionError):
    """Nothing would ever happen again."""


class _VirtualSelector(selectors.DefaultSelector):
    """Lets time pass in place of waiting; nothing but timers is waited for."""

    def __init__(self, now: float, late_s: Iterator[float]) -> None:
        super().__init__()
        self.now = now
        self._late_s = late_s

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise Deadlock("everybody waits, and for no time")
        if timeout:
            self.now += timeout + next(self._late_s, 0.0)
        return super().select(0)


def run(
    main: Callable[[Callable[[], float]], Coroutine[Any, Any, T]], *, now: float = 0.0, late_s: Iterable[float] = ()
) -> T:
    """What a coroutine returns that is handed the clock, which begins at `now`.

    Let it be small: asyncio counts in billionths of a second, which dates of today no longer hold.
    The loop wakes later than it should by each of `late_s`, in seconds, and then on time.

    Raises:
        Deadlock: everybody waits for somebody else.
    """
    selector = _VirtualSelector(now, iter(late_s))
    loop = asyncio.SelectorEventLoop(selector)
    loop.time = lambda: selector.now  # type: ignore[method-assign]
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        return runner.run(main(loop.time))
