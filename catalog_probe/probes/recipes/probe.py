"""What the steps of a recipe may use: to send, to rely on a setup, to stop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from catalog_probe.catalog.model.labels import ANSWER, SETUP

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager

    from catalog_probe.catalog.model import Exchange, Reason, Response
    from catalog_probe.probes.calls.call import Call


class Stopped(Exception):
    """A probe could not be sent or not be trusted; the reason says why."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(f"{reason.code}: {reason.detail}")
        self.reason = reason


class Probe(Protocol):
    """One attempt at a record, as its recipe sees it."""

    endpoint: str
    """The endpoint that is asked from now on, where the recipe names it; what is judged is judged as sent to it."""

    @property
    def provider(self) -> str:
        """The name of the provider that is asked."""

    @property
    def values(self) -> Mapping[str, str]:
        """The target's values, which placeholders stand for."""

    @property
    def exchanges(self) -> Sequence[Exchange]:
        """Everything that was sent so far in this attempt, in order."""

    async def send(self, call: Call, label: str = ANSWER) -> Exchange:
        """Send a call whose exchange is judged under `label`. What it makes is removed when the attempt ends.

        Raises:
            Stopped: the lane has ended, the budget is spent, or the provider asks for too long a wait.
        """

    async def setup(self, call: Call, *statuses: int, label: str = SETUP) -> Response:
        """Send a call that the probe relies on; any answer but a success (or one of `statuses`) ends the attempt.

        A conversation is a success when everything was heard that its script waits for.

        Raises:
            Stopped: with reason `setup-failed`: no verdict on the record.
        """

    def explain_stop(self, reason: Reason) -> Reason:
        """Return why a recipe stopped; its own `setup-failed` gives way to a fault that took the last answer away."""

    def apart(self, name: str) -> AbstractContextManager[None]:
        """Within it, on a mock, the session of this name, which nothing else meets; without a name, the attempt's."""
