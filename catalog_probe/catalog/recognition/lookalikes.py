"""Error records that an answer alone cannot tell apart, computed from what they state."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Self

from catalog_probe.catalog.model import Address, Json, Record
from catalog_probe.catalog.reading.assertions import asserted_expectations
from catalog_probe.catalog.recognition.answer_patterns import conforming_values

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from catalog_probe.catalog.reading.expected import Expected

Look = tuple[Json, ...]
"""Everything that the documents say of one answer, hashable."""


@dataclass(frozen=True, slots=True)
class Lookalikes:
    """For each error record, the others with the same documented answer."""

    _lookalikes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def from_records(cls, records: Iterable[Record]) -> Self:
        """Compare the error records; records of other kinds are ignored."""
        addresses_by_look: dict[Look, list[str]] = defaultdict(list)
        looks_by_address: dict[str, tuple[Look, ...]] = {}
        for record in records:
            if record.kind == "errors":
                address = str(record.address)
                try:
                    looks_by_address[address] = list_looks(record)
                except KeyError:  # a broken record, which `catalog-probe check` reports
                    continue
                for look in looks_by_address[address]:
                    addresses_by_look[look].append(address)
        return cls(
            {
                address: tuple(sorted({other for look in looks for other in addresses_by_look[look]} - {address}))
                for address, looks in looks_by_address.items()
            }
        )

    def __getitem__(self, address: Address | str) -> tuple[str, ...]:
        """Return the sorted addresses of the other records that such an answer may belong to."""
        return self._lookalikes.get(str(address), ())


def list_looks(record: Record) -> tuple[Look, ...]:
    """Return the looks of a record's answers, one for each status and value that the documents allow.

    Headers are left out, because a proxy may add or drop them.

    Raises:
        KeyError: the surface that the record names does not exist.
    """
    expectations = asserted_expectations(record, {str(record.address): record}.__getitem__)
    return tuple(dict.fromkeys(look for expected in expectations for look in _vary_answer(record.provider, expected)))


def _vary_answer(provider: str, expected: Expected) -> Iterator[Look]:
    status = expected.body_status if expected.body_status is not None else expected.status
    for chosen_status in conforming_values(expected, "status", status):
        wire = [
            [(aspect, json.dumps(value)) for value in conforming_values(expected, aspect, documented)]
            for aspect, documented in sorted(expected.wire.items())
        ]
        for chosen_wire in product(*wire):
            yield (
                provider,
                expected.envelope.name,
                chosen_status,
                expected.status_class,
                chosen_wire,
                expected.message_pattern if "message" in expected.envelope.wire else None,
                json.dumps(expected.fields, sort_keys=True),
                expected.stream,
                expected.failure,
            )
