"""The budget of one provider in one run, in requests and tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Reason
from catalog_probe.catalog.model.outcome import ReasonCode

if TYPE_CHECKING:
    from catalog_probe.probes.targets.target import Provider


@dataclass(slots=True)
class Budget:
    """What a provider's lanes have used, held against the target's limits.

    Tokens are reserved for a whole attempt, at the upper bound that its recipe states, and are never given back: what
    the provider charges is known only after the request, when it is too late to refuse it.
    """

    provider: Provider
    requests: int = 0
    tokens: int = 0

    def take_request(self) -> Reason | None:
        """Count a request that is about to be sent, or return why it must not be."""
        limit = self.provider.max_requests
        if limit is not None and self.requests >= limit:
            return self._explain("max_requests", limit)
        self.requests += 1
        return None

    def reserve_tokens(self, tokens: int) -> Reason | None:
        """Count the tokens that an attempt may take, or return why it must not begin."""
        limit = self.provider.max_tokens
        if limit is not None and tokens and self.tokens + tokens > limit:
            return self._explain("max_tokens", limit)
        self.tokens += tokens
        return None

    def _explain(self, key: str, limit: int) -> Reason:
        usage = f"{self.requests} requests sent, {self.tokens} tokens reserved"
        return Reason(ReasonCode.BUDGET_SPENT, f"providers.{self.provider.name}.{key} = {limit}; {usage}")
