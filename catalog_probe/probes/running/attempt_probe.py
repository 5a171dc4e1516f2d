"""The probe that recipes use: sends the calls of one attempt, cleans up."""

from __future__ import annotations

import time
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import anyio

from catalog_probe.catalog.files.manifest import USUAL_ADDRESS
from catalog_probe.catalog.model import Exchange, Reason, Response
from catalog_probe.catalog.model.exchange import ANSWER, CLEANUP, SETUP, UNJUDGED_LABELS
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.catalog.reading.expectations import http_status_of
from catalog_probe.catalog.text.json_values import list_strings
from catalog_probe.probes.judging.attempts import TRANSIENT_REASONS
from catalog_probe.probes.judging.comparison.findings import MAX_QUOTE, quote
from catalog_probe.probes.judging.control import explain_transient
from catalog_probe.probes.recipes.probe import ProbeStopped
from catalog_probe.probes.running.teardown import Fixtures

if TYPE_CHECKING:
    from collections.abc import Iterator

    from catalog_probe.probes.calls import Call
    from catalog_probe.probes.running.journal import Journal
    from catalog_probe.probes.running.lane import Lane


class AttemptProbe:
    """Sends the calls of one attempt on a lane, and keeps every exchange.

    `last_setup` is the last setup that succeeded: what a later step took from its answer may have misled that step.
    `other_key_labels` are the labels under which another key was sent than the lane's, or none. With `stops_clock`, the
    whole attempt happens at one moment of the mock's clock. `tokens` is what the attempt may take at most.
    """

    def __init__(
        self,
        address: str,
        role: str,
        lane: Lane,
        session: str,
        journal: Journal | None = None,
        *,
        stops_clock: bool = False,
        tokens: int = 0,
    ) -> None:
        self.provider = lane.provider.name
        self.values = lane.provider.values
        self.exchanges: list[Exchange] = []
        self.endpoint = ""
        self.last_setup: str | None = None
        self.other_key_labels: set[str] = set()
        self.started = time.perf_counter()
        self._last_exchange: Exchange | None = None
        self._address = address
        self._journal = journal
        self._lane = lane
        self._role = role
        self._session = session
        self._stops_clock = stops_clock
        self._tokens = tokens
        self._fixtures: dict[str, Fixtures] = {}
        """What was made, by the mock's session that it was made in."""

    async def send(self, call: Call, label: str = ANSWER) -> Exchange:
        """Send a call whose exchange is judged under `label`.

        What it makes is removed when the attempt ends.
        """
        if self._session not in self._fixtures:
            self._fixtures[self._session] = Fixtures(self._address, self._lane.provider, self._role, self._journal)
        fixtures = self._fixtures[self._session]
        entry = fixtures.announce(call)
        try:
            exchange = await self._send(call, label)
        except ProbeStopped:
            fixtures.withdraw(entry)
            raise
        fixtures.learn(call, exchange, entry)
        if self._lane.live and call.may_not_come and _lacks_behaviour(exchange, call.may_not_come):
            self.exchanges[-1] = replace(exchange, label=SETUP)
            detail = f"{call.method} {call.path}: {call.may_not_come} did not come; the provider need not show it"
            raise ProbeStopped(Reason(ReasonCode.ASSUMPTION_FAILED, detail))
        return exchange

    async def remove_all(self) -> None:
        """Remove what this attempt made; what cannot be removed is in the journal."""
        for session, fixtures in reversed(self._fixtures.items()):
            self._session = session
            with suppress(ProbeStopped):
                await fixtures.remove(lambda call: self._send(call, CLEANUP, cleanup=True))

    @contextmanager
    def use_mock_session(self, name: str) -> Iterator[None]:
        """Use a mock session of this name in the block; live, nothing changes."""
        session = self._session
        if name and not self._lane.live:
            self._session = f"{session}+{name}"
        try:
            yield
        finally:
            self._session = session

    async def setup(self, call: Call, *statuses: int) -> Response:
        """Send a call that the probe relies on, such as the upload of the file that is then deleted.

        Any answer but a success (or one of `statuses`) ends the attempt. A conversation is a success if every message
        came that its script waits for.

        Raises:
            ProbeStopped: the call did not succeed. The reason is `setup-failed`; for a 503 or a reset it is that fault,
                after which another attempt is worth while.
        """
        exchange = await self.send(call, SETUP)
        response = exchange.response
        status = http_status_of(response, self.provider)
        if response is not None and status is not None:
            unheard = call.missing_messages(event.event for event in response.events or () if not event.sent)
            is_accepted = status in (statuses or ((101,) if call.is_websocket else range(200, 300)))
            if is_accepted and not unheard:
                self.last_setup = f"{call.method} {call.path}"
                return response
            outcome = _describe_missing_event(response, unheard[0]) if is_accepted else quote(response)
        else:
            outcome = exchange.failure.code if exchange.failure else "no answer"
        code = _find_transient_code(exchange, self.provider) or ReasonCode.SETUP_FAILED
        if call.service == USUAL_ADDRESS:
            raise ProbeStopped(Reason(code, f"{call.method} {call.path}: {outcome}"))
        detail = f"{call.method} {exchange.request.url}: {outcome}"
        # The control may have shown nothing of this host: its address in the target may be wrong.
        advice = f"look at {self._lane.provider.address_name(call.service)}"
        raise ProbeStopped(Reason.with_advice(code, detail, advice))

    async def wait(self, seconds: float) -> None:
        """Wait on a live provider; on a mock return at once."""
        if self._lane.live:
            await anyio.sleep(seconds)

    @property
    def transient_code(self) -> str | None:
        """The code of the transient fault that took away the last answer, or None."""
        return _find_transient_code(self._last_exchange, self.provider) if self._last_exchange is not None else None

    def explain_stop(self, reason: Reason) -> Reason:
        """Return why a recipe stopped: the fault that took the last answer away, rather than its own `setup-failed`.

        Example: a recipe misses the `id` in a gateway's page, because it cannot tell the page from an answer without
        an `id`. The reason is `gateway-page`.
        """
        if reason.code != ReasonCode.SETUP_FAILED:
            return reason
        return replace(reason, code=self.transient_code or reason.code)

    async def _send(self, call: Call, label: str, *, cleanup: bool = False) -> Exchange:
        if self._stops_clock:
            call = call.with_stopped_clock()
        # Nobody knows which call of the attempt takes its tokens. Counted with the first, none is sent too early.
        tokens = self._tokens if self._tokens and self._lane.has_token_limit(call, self._role) else 0
        self._tokens -= tokens
        exchange = await self._lane.send(
            call, label, self._session, self.started, self._role, tokens=tokens, cleanup=cleanup
        )
        if self.endpoint and label not in UNJUDGED_LABELS:
            exchange = replace(exchange, endpoint=self.endpoint)
        self.exchanges.append(exchange)
        self._last_exchange = exchange
        # A key in a header of the call's own choice says nothing about the key either: it may be in the wrong place.
        has_other_key = call.credential_role(self._role) != self._lane.role or call.key_header is not None
        if has_other_key:
            self.other_key_labels.add(label)
        return exchange


def _lacks_behaviour(exchange: Exchange, text: str) -> bool:
    """Whether an answer is a success in which no string is `text`. A refusal is judged: it is no missing behaviour."""
    response = exchange.response
    return response is not None and response.status == 200 and text not in list_strings(response.body)


def _describe_missing_event(response: Response, event: str) -> str:
    """Say that an event did not come, and how the socket was closed instead."""
    text = f"HTTP {response.status}, no {event}"
    if response.close is None:
        return text
    return f"{text}; closed with {response.close.code}: {response.close.reason[:MAX_QUOTE].strip() or 'no reason'}"


def _find_transient_code(exchange: Exchange, provider: str) -> str | None:
    """Return the code of the transient fault that an exchange met, or None."""
    trouble = exchange.failure if exchange.response is None else explain_transient(exchange, provider)
    return trouble.code if trouble is not None and trouble.code in TRANSIENT_REASONS else None
