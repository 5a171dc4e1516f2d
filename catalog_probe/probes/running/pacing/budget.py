"""What a provider's lanes may send all together in one run: requests and tokens, held before anything is sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Reason
from catalog_probe.catalog.model.codes import ReasonCode

if TYPE_CHECKING:
    from catalog_probe.probes.targets.target import Provider


@dataclass(slots=True)
class Budget:
    """One a provider, shared by its lanes. Requests are counted one by one.

    Tokens are reserved for a whole attempt at the upper bound its recipe states, and never given back: what a
    provider will charge is known only afterwards, when it is too late.
    """

    provider: Provider
    requests: int = 0
    tokens: int = 0

    def take_request(self) -> Reason | None:
        """Count a request that is about to be sent, or say why it must not be."""
        limit = self.provider.max_requests
        if limit is not None and self.requests >= limit:
            return self._spent("max_requests", limit)
        self.requests += 1
        return None

    def reserve_tokens(self, tokens: int) -> Reason | None:
        """Count the tokens that an attempt may take, or say why it must not begin."""
        limit = self.provider.max_tokens
        if limit is not None and tokens and self.tokens + tokens > limit:
            return self._spent("max_tokens", limit)
        self.tokens += tokens
        return None

    def _spent(self, key: str, limit: int) -> Reason:
        sent = f"{self.requests} requests sent, {self.tokens} tokens reserved"
        return Reason(ReasonCode.BUDGET_SPENT, f"providers.{self.provider.name}.{key} = {limit}; {sent}")
