"""The probe that recipes use: it sends the calls of one attempt, keeps its exchanges, and removes what it made."""

from __future__ import annotations

import time
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Exchange, Reason, Response
from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.catalog.model.labels import ANSWER, BESIDE, CLEANUP, SETUP
from catalog_probe.catalog.reading.grpc_statuses import status_of
from catalog_probe.probes.judging.comparison.message import QUOTED, quote
from catalog_probe.probes.judging.control import explain_moment
from catalog_probe.probes.judging.verdicts.attempts import PASSING
from catalog_probe.probes.recipes.probe import Stopped
from catalog_probe.probes.running.teardown import Fixtures

if TYPE_CHECKING:
    from collections.abc import Iterator

    from catalog_probe.probes.calls.call import Call
    from catalog_probe.probes.running.journal import Journal
    from catalog_probe.probes.running.lane import Lane


class AttemptProbe:
    """Sends the calls of one attempt on a lane, with the key of `role`, and keeps every exchange.

    `relied_on` is the last setup that succeeded: what a later step took from its answer may have misled it.
    `with_another_key` are the labels under which something was sent with another key than the lane's, or with none.
    With `still` all of it happens at one moment by the clock of a mock. `tokens` is what the attempt may take at most.
    """

    def __init__(
        self,
        address: str,
        role: str,
        lane: Lane,
        session: str,
        journal: Journal | None = None,
        *,
        still: bool = False,
        tokens: int = 0,
    ) -> None:
        self.provider = lane.provider.name
        self.values = lane.provider.values
        self.exchanges: list[Exchange] = []
        self.endpoint = ""
        self.relied_on: str | None = None
        self.with_another_key: set[str] = set()
        self._last: Exchange | None = None
        self._address = address
        self._journal = journal
        self._lane = lane
        self._role = role
        self._session = session
        self._still = still
        self._tokens = tokens
        self._fixtures: dict[str, Fixtures] = {}
        """What was made, by the session in which it is."""
        self.started = time.perf_counter()

    async def send(self, call: Call, label: str = ANSWER) -> Exchange:
        """Send a call whose exchange is judged under `label`. What it makes is removed when the attempt ends."""
        if self._session not in self._fixtures:
            self._fixtures[self._session] = Fixtures(self._address, self._lane.provider, self._role, self._journal)
        fixtures = self._fixtures[self._session]
        entry = fixtures.announce(call)
        try:
            exchange = await self._send(call, label)
        except Stopped:
            fixtures.withdraw(entry)
            raise
        fixtures.learn(call, exchange, entry)
        return exchange

    async def remove_all(self) -> None:
        """Remove what this attempt made and has not removed itself; what resists is in the journal."""
        for session, fixtures in reversed(self._fixtures.items()):
            self._session = session
            with suppress(Stopped):
                await fixtures.remove(lambda call: self._send(call, CLEANUP, owed=True))

    @contextmanager
    def apart(self, name: str) -> Iterator[None]:
        """Within it, on a mock, the session of this name: live all that is sent shares an account."""
        session = self._session
        if name and not self._lane.live:
            self._session = f"{session}+{name}"
        try:
            yield
        finally:
            self._session = session

    async def _send(self, call: Call, label: str, *, owed: bool = False) -> Exchange:
        if self._still:
            call = call.with_stopped_clock()
        tokens = self._tokens if self._tokens and self._lane.meters(call, self._role) else 0
        self._tokens -= tokens  # which of its calls takes them nobody knows; with the first, none comes too early
        exchange = await self._lane.send(call, label, self._session, self.started, self._role, tokens=tokens, owed=owed)
        if self.endpoint and label not in BESIDE:
            exchange = replace(exchange, endpoint=self.endpoint)
        self.exchanges.append(exchange)
        self._last = exchange
        if call.credential_role(self._role) != self._lane.role or call.key_header is not None:
            self.with_another_key.add(label)
        return exchange

    @property
    def befallen(self) -> str | None:
        """The code of what may pass that came in the way of the last answer, or None: nothing can be built on that."""
        code = _befallen(self._last, self.provider) if self._last is not None else None
        return code if code in PASSING else None

    def explain_stop(self, reason: Reason) -> Reason:
        """Return why a recipe stopped; its own `setup-failed` gives way to a fault that took the last answer away.

        A recipe cannot tell an answer that lacks something from a gateway's page.
        """
        return replace(reason, code=self.befallen or reason.code) if reason.code == ReasonCode.SETUP_FAILED else reason

    async def setup(self, call: Call, *statuses: int, label: str = SETUP) -> Response:
        """Send a call that the probe relies on; any answer but a success (or one of `statuses`) ends the attempt.

        A conversation is a success when everything was heard that its script waits for.

        Raises:
            Stopped: no verdict on the record. The reason is `setup-failed`, or what befell the answer where that may
                pass: then the attempt is worth another.
        """
        exchange = await self.send(call, label)
        response = exchange.response
        status = status_of(response, self.provider)
        if response is not None and status is not None:
            unheard = call.missing_messages(event.event for event in response.events or () if not event.sent)
            accepted = statuses or ((101,) if call.is_websocket else range(200, 300))
            if status in accepted and not unheard:
                self.relied_on = f"{call.method} {call.path}"
                return response
            seen = _unheard(response, unheard[0]) if status in accepted else quote(response)
        else:
            seen = exchange.failure.code if exchange.failure else "no answer"
        raise Stopped(Reason(_befallen(exchange, self.provider), f"{call.method} {call.path}: {seen}"))


def _unheard(response: Response, event: str) -> str:
    """That an event did not come; of a socket that was closed instead, with which code and reason."""
    seen = f"HTTP {response.status}, no {event}"
    if response.close is None:
        return seen
    return f"{seen}; closed with {response.close.code}: {response.close.reason[:QUOTED].strip() or 'no reason'}"


def _befallen(exchange: Exchange, provider: str) -> str:
    """The code of what came in the way of a setup: something that may pass, or that it failed."""
    trouble = exchange.failure
    if exchange.response is not None:
        trouble = explain_moment(exchange, provider)
    return trouble.code if trouble is not None and trouble.code in PASSING else ReasonCode.SETUP_FAILED
