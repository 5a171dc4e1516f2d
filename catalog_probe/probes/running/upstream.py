"""Our own mock behind a gateway: arms one fault at a time, and sees whether the gateway asked for it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import anyio
import httpx

from catalog_probe.catalog.model import Reason
from catalog_probe.catalog.model.outcome import ReasonCode

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Exchange

# How often an armed fault answers. A gateway may ask its upstream again, and each time must meet the fault.
TIMES = 20


@dataclass(slots=True)
class Upstream:
    """The mock at an address such as `http://127.0.0.1:8000`, whose faults are armed for whoever asks next."""

    address: str
    _lock: anyio.Lock = field(default_factory=anyio.Lock)
    """Held while any request is on its way: else another one would meet the fault."""

    async def exchange(self, provider: str, fault: str | None, send: Callable[[], Awaitable[Exchange]]) -> Exchange:
        """Send a request through the gateway, after arming the fault that it is to meet, e.g. `overloaded`.

        If the gateway answered without asking the mock, the exchange has no response, and `upstream-not-asked` as its
        failure. Example: `GET /v1/models`, which a gateway answers from its own configuration.
        """
        async with self._lock:
            if fault is None:
                return await send()
            await self._ask("POST", provider, f"{fault};times={TIMES}")
            try:
                exchange = await send()
            finally:
                remaining = await self._ask("GET", provider)
                await self._ask("DELETE", provider)
        if remaining < TIMES or exchange.response is None:
            return exchange
        detail = f"it was answered {exchange.response.status}, and nobody asked the upstream"
        return replace(exchange, response=None, failure=Reason(ReasonCode.UPSTREAM_NOT_ASKED, detail))

    async def _ask(self, method: str, provider: str, fault: str = "") -> int:
        """Ask for the page of waiting faults, and return how many more times they will answer."""
        async with httpx.AsyncClient(trust_env=False, verify=False) as client:
            address = f"{self.address}/__mock__/next"
            answer = await client.request(method, address, params={"provider": provider}, content=fault)
        answer.raise_for_status()
        return sum(entry["times"] for entry in answer.json()["waiting"])
