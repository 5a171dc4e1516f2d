"""The share of a provider's assertions that a run observed, as shown beside the provider's name. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog_probe.catalog.reading.assertions import assertions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from catalog_probe.catalog.model import Record
    from catalog_probe.reports.content.standing import Standing


@dataclass(frozen=True, slots=True)
class ObservedShare:
    """Of a provider's assertions within reach, how many were observed on some endpoint, and how many there are."""

    observed: int
    stated: int

    @property
    def percent(self) -> int:
        """Rounded down: nothing less than all is 100."""
        return 100 * self.observed // self.stated if self.stated else 0


def observed_shares(standings: Sequence[Standing]) -> dict[str, ObservedShare]:
    """Count for each provider; there is none if a record is not as this version reads it."""
    known = {each.address: each.result.parsed_record for each in standings if each.result.probed_record}
    found: dict[str, tuple[int, int]] = {}
    for each in standings:
        provider = each.result.address.provider
        observed = {
            f"{observation.label}/{key}"
            for observation in each.result.observations
            for key in (*observation.matched, *observation.mismatched)
        }
        stated = _stated(known.get(each.address), known) | observed
        before = found.get(provider, (0, 0))
        found[provider] = before[0] + len(observed), before[1] + len(stated)
    return {provider: ObservedShare(*numbers) for provider, numbers in found.items() if numbers[0]}


def _stated(record: Record | None, known: Mapping[str, Record]) -> frozenset[str]:
    if record is None:
        return frozenset()
    try:
        return frozenset(
            str(each.key) for each in assertions(record, lambda at: known[str(at)]) if not each.out_of_reach
        )
    except (AttributeError, KeyError, TypeError, ValueError):
        return frozenset()  # it names a record which this run did not select
