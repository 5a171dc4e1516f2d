"""What a probe makes on the account, and its removal at the end of the attempt, whatever became of the attempt."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import anyio

from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.catalog.model.status import is_success
from catalog_probe.probes.calls.call import Call
from catalog_probe.probes.recipes.book import book
from catalog_probe.probes.recipes.loading import RecipeError, recipes_place

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Exchange, Json
    from catalog_probe.probes.calls.call import Removal
    from catalog_probe.probes.running.journal import Journal, Made
    from catalog_probe.probes.targets.target import Provider

REMOVAL_S = 60.0
"""How long the removals of one attempt may take together; what is left then is in the journal."""

GONE: Mapping[str, frozenset[int]] = {"DELETE": frozenset({404, 410}), "POST": frozenset({400, 409})}
"""Refusals of a removal that say there is nothing left to do: it is not there, or it has ended by itself."""

BUSY = 409
BUSY_PAUSES_S = (1.0, 2.0, 4.0, 8.0, 16.0)
"""Seconds to wait before a removal that met a conflict is sent again. 2:7.3 and 2:7.5 call 409 retryable: what is made
may still be at work. Together they leave room for the removals of an attempt within `REMOVAL_S`."""

UNSENT = frozenset(
    {ReasonCode.CONNECT_REFUSED, ReasonCode.CONNECT_TIMEOUT, ReasonCode.NAME_UNRESOLVED, ReasonCode.TLS_FAILED}
)
"""Failures that come before the request is sent."""

Send = Callable[[Call], Awaitable["Exchange"]]


def is_gone(removal: Call, exchange: Exchange) -> bool:
    """Whether the answer to a removal says that the thing no longer burdens the account."""
    status = exchange.response.status if exchange.response else None
    return is_success(status) or status in GONE.get(removal.method, ())


@dataclass(frozen=True, slots=True)
class _Fixture:
    made: Made | None
    """As the journal has it; None on a mock, whose state ends with it."""
    removal: Call


@dataclass(slots=True)
class Fixtures:
    """The things that one attempt made. The journal knows each before its answer is used."""

    record: str
    provider: Provider
    role: str
    journal: Journal | None
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep
    _fixtures: list[_Fixture] = field(default_factory=list)
    _removed: set[tuple[str, str]] = field(default_factory=set)

    def about_to(self, call: Call) -> Made | None:
        """Note that a call which makes something is about to be sent.

        Raises:
            RecipeError: the provider's recipes do not list how it is removed, so `cleanup` could not remove it.
        """
        if call.removal is None:
            return None
        if book(self.provider.name).removals.get(call.removal.name) != call.removal:
            what = f"{_named(call)} has the removal {call.removal.name!r}, which is not listed"
            raise RecipeError(what, f"put it into REMOVALS in {recipes_place(self.provider.name)}")
        if self.journal is None:
            return None
        address = self.provider.addresses.get(call.removal.call.service, "")
        return self.journal.making(self.record, self.provider.name, address, self._role(call), _named(call))

    def not_sent(self, made: Made | None) -> None:
        """Note that the call was not sent after all."""
        if self.journal is not None and made is not None:
            self.journal.ended(made, "not sent")

    def learn(self, call: Call, exchange: Exchange, made: Made | None) -> None:
        """Note what an answer says: something was made, was not, or was removed by the probe itself."""
        status = exchange.response.status if exchange.response else None
        succeeded = is_success(status)
        if succeeded:
            self._removed.add((call.method, call.path))
        if call.removal is None:
            return
        if succeeded and exchange.response is not None:
            self._keep(call, call.removal, exchange.response.body, made)
        elif self.journal is not None and made is not None:
            if exchange.failure is not None and exchange.failure.code in UNSENT:
                self.journal.ended(made, f"not sent: {exchange.failure.code}")
            elif status is not None and status < 500:
                self.journal.ended(made, f"not made: HTTP {status}")

    async def remove(self, send: Send) -> None:
        """Remove everything, the last made first; what cannot be removed stays in the journal."""
        with anyio.move_on_after(REMOVAL_S, shield=True):
            while self._fixtures:
                fixture = self._fixtures.pop()
                call = fixture.removal
                if (call.method, call.path) in self._removed:
                    self._end(fixture, "removed by the probe")
                    continue
                exchange = await send(call)
                # a mock's state ends with it, so nothing is worth the wait there
                for pause_s in BUSY_PAUSES_S if fixture.made else ():
                    if is_gone(call, exchange) or exchange.response is None or exchange.response.status != BUSY:
                        break
                    await self.sleep(pause_s)
                    exchange = await send(call)
                if is_gone(call, exchange):
                    self._end(fixture, f"removed: {_status(exchange)}")

    def _keep(self, call: Call, removal: Removal, body: Json, made: Made | None) -> None:
        resource_id = removal.find_id(body)
        if resource_id is None:
            return  # the answer does not name what it made: the journal says that somebody must look by hand
        role = removal.call.role_in(self._role(call)) or ""
        if self.journal is not None and made is not None:
            key = self.provider.credential(role).value or ""
            self.journal.made(made, removal.name, resource_id, role, key)
        self._fixtures.append(_Fixture(made, removal.of(resource_id).but(credential=role or None)))

    def _end(self, fixture: _Fixture, how: str) -> None:
        if self.journal is not None and fixture.made is not None:
            self.journal.ended(fixture.made, how)

    def _role(self, call: Call) -> str:
        """Whose key removes what the call makes: the one that it is made with, or else the lane's."""
        return call.role_in(self.role) or self.role


def _named(call: Call) -> str:
    return f"{call.method} {call.path}"


def _status(exchange: Exchange) -> str:
    return f"HTTP {exchange.response.status}" if exchange.response else "no answer"
