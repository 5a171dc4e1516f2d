"""Teardown: removes what an attempt made, however the attempt ends."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import anyio

from catalog_probe.catalog.model.exchange import is_success
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.probes.calls import Call
from catalog_probe.probes.recipes.book import RecipeError, recipe_book, recipes_path

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Exchange, Json
    from catalog_probe.probes.calls import Removal
    from catalog_probe.probes.running.journal import Journal, JournalEntry
    from catalog_probe.probes.targets.target import Provider

# How long the removals of one attempt may take together. What is left then is in the journal.
REMOVAL_S = 60.0

# Refusals of a removal which say that there is nothing left to do: the thing is not there, or has ended by itself.
GONE: Mapping[str, frozenset[int]] = {"DELETE": frozenset({404, 410}), "POST": frozenset({400, 409})}

BUSY = 409

# Backoff, in seconds, of a removal that met a conflict. 2:7.3 and 2:7.5 call 409 retryable: the thing may still be at
# work. The sum leaves time for the other removals of the attempt within `REMOVAL_S`.
BUSY_PAUSES_S = (1.0, 2.0, 4.0, 8.0, 16.0)

# Failures that occur before the request is sent.
UNSENT = frozenset(
    {ReasonCode.CONNECT_REFUSED, ReasonCode.CONNECT_TIMEOUT, ReasonCode.NAME_UNRESOLVED, ReasonCode.TLS_FAILED}
)

Send = Callable[[Call], Awaitable["Exchange"]]


def is_gone(removal: Call, exchange: Exchange) -> bool:
    """Whether the answer to a removal says that the thing is gone: 2xx, or 404 to a DELETE."""
    status = exchange.response.status if exchange.response else None
    return is_success(status) or status in GONE.get(removal.method, ())


@dataclass(frozen=True, slots=True)
class _Fixture:
    entry: JournalEntry | None
    """None on a mock, whose state ends with it."""
    removal: Call


@dataclass(slots=True)
class Fixtures:
    """The things that one attempt made, each noted in the journal first."""

    record: str
    provider: Provider
    role: str
    journal: Journal | None
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep
    _fixtures: list[_Fixture] = field(default_factory=list)
    _removed: set[tuple[str, str]] = field(default_factory=set)

    def announce(self, call: Call) -> JournalEntry | None:
        """Note that a call which makes something is about to be sent.

        Raises:
            RecipeError: the provider's recipes do not list how it is removed, so `cleanup` could not remove it.
        """
        if call.removal is None:
            return None
        if recipe_book(self.provider.name).removals.get(call.removal.name) != call.removal:
            what = f"{_describe_call(call)} has the removal {call.removal.name!r}, which is not listed"
            raise RecipeError(what, f"put it into REMOVALS in {recipes_path(self.provider.name)}")
        if self.journal is None:
            return None
        address = self.provider.addresses.get(call.removal.call.service, "")
        return self.journal.begin(self.record, self.provider.name, address, self._find_role(call), _describe_call(call))

    def withdraw(self, entry: JournalEntry | None) -> None:
        """Note that the announced call was not sent after all."""
        if self.journal is not None and entry is not None:
            self.journal.end(entry, "not sent")

    def learn(self, call: Call, exchange: Exchange, entry: JournalEntry | None) -> None:
        """Note what an answer says: something was made, was not, or was removed."""
        status = exchange.response.status if exchange.response else None
        succeeded = is_success(status)
        if succeeded:
            self._removed.add((call.method, call.path))
        if call.removal is None:
            return
        if succeeded and exchange.response is not None:
            self._keep(call, call.removal, exchange.response.body, entry)
        elif self.journal is not None and entry is not None:
            if exchange.failure is not None and exchange.failure.code in UNSENT:
                self.journal.end(entry, f"not sent: {exchange.failure.code}")
            # After a 5xx the thing may exist all the same, so its entry stays open.
            elif status is not None and status < 500:
                self.journal.end(entry, f"not made: HTTP {status}")

    async def remove(self, send: Send) -> None:
        """Remove everything, last made first; what stays is in the journal."""
        with anyio.move_on_after(REMOVAL_S, shield=True):
            while self._fixtures:
                fixture = self._fixtures.pop()
                call = fixture.removal
                if (call.method, call.path) in self._removed:
                    self._end(fixture, "removed by the probe")
                    continue
                exchange = await send(call)
                # On a mock nothing is worth the wait, because its state ends with it.
                for pause_s in BUSY_PAUSES_S if fixture.entry else ():
                    if is_gone(call, exchange) or exchange.response is None or exchange.response.status != BUSY:
                        break
                    await self.sleep(pause_s)
                    exchange = await send(call)
                if is_gone(call, exchange):
                    status = f"HTTP {exchange.response.status}" if exchange.response else "no answer"
                    self._end(fixture, f"removed: {status}")

    def _keep(self, call: Call, removal: Removal, body: Json, entry: JournalEntry | None) -> None:
        resource_id = removal.find_id(body)
        if resource_id is None:
            return  # the answer does not name what it made: the open entry says that a person must look for it
        role = removal.call.credential_role(self._find_role(call)) or ""
        if self.journal is not None and entry is not None:
            key = self.provider.credential(role).value or ""
            self.journal.complete(entry, removal.name, resource_id, role, key)
        self._fixtures.append(_Fixture(entry, removal.make_call(resource_id).replace(credential=role or None)))

    def _end(self, fixture: _Fixture, how: str) -> None:
        if self.journal is not None and fixture.entry is not None:
            self.journal.end(fixture.entry, how)

    def _find_role(self, call: Call) -> str:
        """Return the role whose key removes what the call makes."""
        return call.credential_role(self.role) or self.role


def _describe_call(call: Call) -> str:
    return f"{call.method} {call.path}"
