"""What the steps of a recipe may use: send a call, set something up, stop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from catalog_probe.catalog.model import Reason
from catalog_probe.catalog.model.exchange import ANSWER
from catalog_probe.catalog.model.outcome import ReasonCode

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager

    from catalog_probe.catalog.model import Exchange, Response
    from catalog_probe.probes.calls import Call


class ProbeStopped(Exception):
    """A probe could not be sent, or cannot be relied on; `reason` says why."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(f"{reason.code}: {reason.detail}")
        self.reason = reason


class SetupFailed(ProbeStopped):
    """A step that the probe relies on did not do what it should, so the record gets no verdict."""

    def __init__(self, detail: str) -> None:
        super().__init__(Reason(ReasonCode.SETUP_FAILED, detail))


class Probe(Protocol):
    """One attempt at a record, as its recipe sees it."""

    endpoint: str
    """Address of the endpoint that is asked from now on, where the recipe names it; answers are judged under it."""

    @property
    def provider(self) -> str:
        """The name of the provider that is asked."""

    @property
    def values(self) -> Mapping[str, str]:
        """The target's values, which placeholders stand for."""

    async def send(self, call: Call, label: str = ANSWER) -> Exchange:
        """Send a call whose exchange is judged under `label`. What it makes is removed when the attempt ends.

        Raises:
            ProbeStopped: the lane has ended, the budget is spent, or the provider asks for too long a wait.
        """

    async def setup(self, call: Call, *statuses: int) -> Response:
        """Send a call that the probe relies on; any answer but a success (or one of `statuses`) ends the attempt.

        A conversation succeeds when every message that its script waits for came.

        Raises:
            ProbeStopped: with reason `setup-failed`: the record gets no verdict.
        """

    async def wait(self, seconds: float) -> None:
        """Wait on a live provider. A mock's clock is moved by the next call, so on a mock this returns at once."""

    def explain_stop(self, reason: Reason) -> Reason:
        """Return why a recipe stopped: the fault that took the last answer away, rather than its `setup-failed`."""

    def use_mock_session(self, name: str) -> AbstractContextManager[None]:
        """Use the mock session of this name until the context ends; live, or without a name, the attempt's own."""


def require_text(body: Any, field: str, request: str) -> str:
    """Return a text of an answer that the probe relies on, such as the id of what was made.

    Raises:
        SetupFailed: the answer to `request` has no such text.
    """
    text = body.get(field) if isinstance(body, dict) else None
    if not isinstance(text, str):
        raise SetupFailed(f"{request}: the answer has no {field}")
    return text
