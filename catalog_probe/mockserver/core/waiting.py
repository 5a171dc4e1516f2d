"""Causes that wait for a session's next requests, as `POST /__mock__/next` sets them for clients without headers."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from catalog_probe.mockserver.core.scenarios import ActiveScenario, MockMisuse, Registry, ScenarioRequest, Waiting

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_WAITING = 1_000
"""How many causes may wait in one session."""


@dataclass
class Next:
    """The causes that wait in one session, in order."""

    waiting: deque[Waiting] = field(default_factory=deque)

    def add(self, registry: Registry, text: str, providers: Iterable[str]) -> None:
        """Let causes wait for requests to whichever of `providers` knows them; each for one, unless `times` says more.

        Raises:
            MockMisuse: none of the providers knows one of them.
        """
        made = [_waiting(registry, each.strip(), tuple(providers)) for each in text.split(",")]
        if len(self.waiting) + len(made) > MAX_WAITING:
            raise MockMisuse(f"at most {MAX_WAITING} causes can wait in a session")
        self.waiting.extend(made)

    def strike(self, provider: str) -> ActiveScenario | None:
        """The first cause that waits for a request to this provider; the request has it, unless it gives it back."""
        for waiting in self.waiting:
            if provider in waiting.by_provider:
                waiting.left -= 1
                if not waiting.left:
                    self.waiting.remove(waiting)
                asked = waiting.by_provider[provider]
                return ActiveScenario(asked.name, asked.params, waits=waiting)
        return None

    def give_back(self, scenario: ActiveScenario | None) -> None:
        """Let a cause wait again that found nothing to act on, before all others."""
        if scenario is None or scenario.waits is None or scenario.taken:
            return
        if not scenario.waits.left:
            self.waiting.appendleft(scenario.waits)
        scenario.waits.left += 1
        scenario.waits = None


def _waiting(registry: Registry, text: str, providers: tuple[str, ...]) -> Waiting:
    known: dict[str, ScenarioRequest] = {}
    failures: list[MockMisuse] = []
    for provider in providers:
        try:
            (known[provider],) = registry.read(provider, text)
        except MockMisuse as failure:
            failures.append(failure)
    if not known:
        raise failures[0]
    times = next(iter(known.values())).times
    return Waiting(text, known, 1 if times is None else times)
