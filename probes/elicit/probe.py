"""What the steps of a recipe may use: to send, to rely on a setup, to stop."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Protocol, TypeVar

from catalog.model.labels import ANSWER, SETUP

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from catalog.model import Exchange, Reason, Response
    from probes.calls.call import Call


T = TypeVar("T")

Part = Callable[["Probe"], Awaitable[T]]
"""Some steps of an attempt, and what comes of them."""


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

    async def side_by_side(self, parts: Sequence[Part[T]], *, apart: bool = False) -> list[T]:
        """What comes of parts of which none rests on what another sends: on a mock side by side, else in turn.

        Those that are `apart` leave something behind that the others must not meet: on a mock each has a session of its
        own. What they exchanged is kept in their order.
        """
