"""The share of a provider's assertions that a run observed. Pure."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog_probe.catalog.reading.assertions import assertions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from catalog_probe.catalog.model import Record
    from catalog_probe.reports.content.reported_records import ReportedRecord


@dataclass(frozen=True, slots=True)
class ObservedShare:
    """How many of a provider's assertions within reach were observed on some endpoint, and how many there are."""

    observed: int
    stated: int

    @property
    def percent(self) -> int:
        """Rounded down, so that only all of them are 100."""
        return 100 * self.observed // self.stated if self.stated else 0


def count_observed_shares(records: Sequence[ReportedRecord]) -> dict[str, ObservedShare]:
    """Count by provider. A provider of which nothing was observed has no share."""
    record_by_address = {
        record.address: record.result.parsed_record for record in records if record.result.probed_record
    }
    observed_counts: Counter[str] = Counter()
    stated_counts: Counter[str] = Counter()
    for record in records:
        observed = {
            f"{observation.label}/{key}"
            for observation in record.result.observations
            for key in (*observation.matched, *observation.mismatched)
        }
        stated = _list_stated(record_by_address.get(record.address), record_by_address) | observed
        observed_counts[record.provider] += len(observed)
        stated_counts[record.provider] += len(stated)
    return {
        provider: ObservedShare(observed_count, stated_counts[provider])
        for provider, observed_count in observed_counts.items()
        if observed_count
    }


def _list_stated(record: Record | None, record_by_address: Mapping[str, Record]) -> frozenset[str]:
    """Return the keys that a record asserts within reach; empty if it refers to a record that was not selected."""
    if record is None:
        return frozenset()
    try:
        stated = assertions(record, lambda address: record_by_address[str(address)])
        return frozenset(str(assertion.key) for assertion in stated if not assertion.out_of_reach)
    except (AttributeError, KeyError, TypeError, ValueError):
        return frozenset()
