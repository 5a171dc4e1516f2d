"""Which error records an answer alone cannot tell apart: computed from what they state, never listed by hand."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Self

from catalog_probe.catalog.model import Address, Json, Record
from catalog_probe.catalog.reading.assertions import asserted_expectations

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from catalog_probe.catalog.reading.expected import Expected

Look = tuple[Json, ...]
"""All that the documents say of one answer, hashable."""


@dataclass(frozen=True, slots=True)
class Lookalikes:
    """The error records by what their answers look like: the more are documented alike, the less an answer tells."""

    _alike: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def from_records(cls, records: Iterable[Record]) -> Self:
        """Compare the error records among these; of other kinds none is an answer to be recognised."""
        showing: dict[Look, list[str]] = defaultdict(list)
        looks_of: dict[str, tuple[Look, ...]] = {}
        for record in records:
            if record.kind == "errors":
                address = str(record.address)
                try:
                    looks_of[address] = list_looks(record)
                except KeyError:  # not sound: `check` tells it, and nothing is like it
                    continue
                for look in looks_of[address]:
                    showing[look].append(address)
        return cls(
            {
                address: tuple(sorted({other for look in own for other in showing[look]} - {address}))
                for address, own in looks_of.items()
            }
        )

    def __getitem__(self, address: Address | str) -> tuple[str, ...]:
        """The addresses, in order, of the other records that an answer to this one may belong to as well."""
        return self._alike.get(str(address), ())


def list_looks(record: Record) -> tuple[Look, ...]:
    """What an error record's answers may look like, one look for each status and value that the documents allow.

    Headers are left out: an edge may add or drop them.

    Raises:
        KeyError: the surface that the record names does not exist.
    """
    expectations = asserted_expectations(record, {str(record.address): record}.__getitem__)
    return tuple(dict.fromkeys(look for expected in expectations for look in _looks(record.provider, expected)))


def _looks(provider: str, expected: Expected) -> Iterator[Look]:
    status = expected.body_status if expected.body_status is not None else expected.status
    for chosen_status in _choices(expected, "status", status):
        wire = [
            [(aspect, json.dumps(value)) for value in _choices(expected, aspect, documented)]
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


def _choices(expected: Expected, aspect: str, documented: Json) -> tuple[Json, ...]:
    """The values that conform: what is documented, and what else the documents leave to choice."""
    stated = expected.assertions.get(f"{expected.label}/{aspect}")
    return (stated.alternatives if stated is not None else ()) or (documented,)
