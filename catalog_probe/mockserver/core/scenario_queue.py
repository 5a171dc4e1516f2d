"""Scenarios that wait for the next requests of a session (`POST /__mock__/next`)."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from catalog_probe.mockserver.core.scenarios import (
    ActiveScenario,
    MockMisuse,
    QueuedScenario,
    ScenarioRegistry,
    ScenarioRequest,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_QUEUED = 1_000  # scenarios in one session


@dataclass
class ScenarioQueue:
    """The scenarios that wait in one session, in order."""

    waiting: deque[QueuedScenario] = field(default_factory=deque)

    def add(self, registry: ScenarioRegistry, text: str, providers: Iterable[str]) -> None:
        """Queue scenarios for the providers that declare them.

        Each is for one request, or for `times` of them.

        Raises:
            MockMisuse: none of the providers declares one of them, or too many wait already.
        """
        new = [_read_queued(registry, part.strip(), tuple(providers)) for part in text.split(",")]
        if len(self.waiting) + len(new) > MAX_QUEUED:
            raise MockMisuse(f"at most {MAX_QUEUED} scenarios can wait in a session")
        self.waiting.extend(new)

    def take_for(self, provider: str) -> ActiveScenario | None:
        """Take the first scenario that waits for a request to this provider."""
        for queued in self.waiting:
            if provider in queued.by_provider:
                queued.left -= 1
                if not queued.left:
                    self.waiting.remove(queued)
                request = queued.by_provider[provider]
                return ActiveScenario(request.name, request.params, queued=queued)
        return None

    def give_back(self, scenario: ActiveScenario | None) -> None:
        """Put a queued scenario that no code acted on back to the front."""
        if scenario is None or scenario.queued is None or scenario.taken:
            return
        if not scenario.queued.left:
            self.waiting.appendleft(scenario.queued)
        scenario.queued.left += 1
        scenario.queued = None


def _read_queued(registry: ScenarioRegistry, text: str, providers: tuple[str, ...]) -> QueuedScenario:
    by_provider: dict[str, ScenarioRequest] = {}
    failures: list[MockMisuse] = []
    for provider in providers:
        try:
            (by_provider[provider],) = registry.read(provider, text)
        except MockMisuse as failure:
            failures.append(failure)
    if not by_provider:
        raise failures[0]
    times = next(iter(by_provider.values())).times
    return QueuedScenario(text, by_provider, 1 if times is None else times)
