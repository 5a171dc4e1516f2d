"""One provider in one run: what all of its lanes share, and the lanes themselves."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from catalog_probe.catalog.recognition.vocabulary import ProviderVocabulary
from catalog_probe.probes.running.lane import Lane
from catalog_probe.probes.running.pacing.budget import Budget
from catalog_probe.probes.running.pacing.rate_limits import RateLimitPolicy
from catalog_probe.probes.running.pacing.throttle import Throttle

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Record
    from catalog_probe.probes.recipes.recipe import Recipe
    from catalog_probe.probes.targets.target import Provider
    from catalog_probe.probes.wire.redaction.redactor import Redactor


@dataclass(slots=True)
class ProviderRun:
    """One provider in one run, with the budget and throttle of all its lanes."""

    provider: Provider
    redactor: Redactor
    vocabulary: ProviderVocabulary
    throttle: Throttle | None
    """None on a mock, which answers each probe as if it were alone."""
    budget: Budget
    lanes: dict[str, Lane] = field(default_factory=dict)
    """By name; each is made when its first probe is sent."""

    @classmethod
    def from_records(cls, provider: Provider, records: tuple[Record, ...], redactor: Redactor, *, live: bool) -> Self:
        """Prepare the run of a provider that documents these records."""
        policy = RateLimitPolicy.from_records(records)
        throttle = Throttle(policy, provider.max_wait_s, own_rate=provider.rate is not None) if live else None
        return cls(provider, redactor, ProviderVocabulary.from_records(records), throttle, Budget(provider))

    def get_lane(self, recipe: Recipe) -> Lane:
        """Return the lane on which a recipe's calls are sent."""
        if recipe.lane not in self.lanes:
            self.lanes[recipe.lane] = Lane(
                self.provider,
                recipe.credential,
                self.redactor,
                self.budget,
                mock=self.throttle is None,
                throttle=self.throttle,
            )
        return self.lanes[recipe.lane]
