"""No reader raises for a record that `catalog-probe check` accepts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.check.record_checks import CheckContext, check_record, is_malformed
from catalog_probe.catalog.model import KINDS, Json, Record
from catalog_probe.catalog.observed import last_seen, live_messages, target_of
from catalog_probe.catalog.reading.expectations import expectations
from catalog_probe.catalog.reading.rate_limits import rate_limits
from catalog_probe.catalog.reading.record_fields import (
    classification,
    documented_fields,
    documented_rows,
    keywords,
    observed_rows,
    pinned_reason,
    retry_advice,
    tags,
)
from catalog_probe.catalog.reading.response_headers import header_names
from tests.harness.engines import catalog

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

CATALOG = catalog()
SCENE = CheckContext(CATALOG, unread=frozenset(), shipped=False)

OF_ALL: tuple[Callable[[Record], object], ...] = (
    documented_fields,
    header_names,
    keywords,
    last_seen,
    lambda record: expectations(record, CATALOG.__getitem__),
    live_messages,
    pinned_reason,
    lambda record: tuple(observed_rows(record)),
    lambda record: tuple(documented_rows(record)),
    tags,
    target_of,
)
READERS: Mapping[str, tuple[Callable[[Record], object], ...]] = {
    "endpoints": OF_ALL,
    "errors": (*OF_ALL, retry_advice, classification),
    "rate_limits": (*OF_ALL, rate_limits),
}

ODD: tuple[Json, ...] = (None, "words", {}, True, 3, "502/503", [], ["words"], {"protocol": "sse"})
DEPTH = 2
"""How many names lead to a value that is changed within its parent."""
FEW = 3


def variants(value: Json, known_locations: set[tuple[str, ...]], place: tuple[str, ...] = ()) -> Iterator[Json]:
    """The value with one thing in it gone, or something else, three deep: once for each place and shape of its value.

    Of alike siblings only the first is changed, and what an earlier record had at the same place is not changed again.
    """
    if isinstance(value, dict):
        free = bool(place) and not all(map(str.isidentifier, value))
        for name, inner in value.items():
            there = (*place, _shape("*" if free else name, inner))
            if there not in known_locations:
                known_locations.add(there)
                yield {key: item for key, item in value.items() if key != name}
                yield from ({**value, name: odd} for odd in (ODD if not place else ODD[:3]))
            if len(place) < DEPTH:
                yield from ({**value, name: changed} for changed in variants(inner, known_locations, there))
    elif isinstance(value, list) and value:
        yield from ([changed, *value[1:]] for changed in variants(value[0], known_locations, place))


def shorten_lists(value: Json) -> Json:
    """Return the value with two items of each list: readers treat those after them alike, and take long over many."""
    if isinstance(value, dict):
        return {name: shorten_lists(inner) for name, inner in value.items()}
    return [shorten_lists(item) for item in value[:2]] if isinstance(value, list) else value


def _shape(name: str, value: Json) -> str:
    """What siblings have in common: their fields, or else their name and the type of what it names.

    Names that are no fields' (assertions, headers, pointers) are all `*`: a reader treats them alike.
    """
    return str(sorted(value)) if isinstance(value, dict) else f"{name}: {type(value).__name__}"


@pytest.mark.parametrize("kind", KINDS)
def test_unreadable_records_are_refused_by_the_check(kind: str) -> None:
    """The check is slow beside a reader, so it is asked only where one raises, and of a few that raise alike."""
    known_locations: set[tuple[str, ...]] = set()
    records = [
        Record(record.address, data)
        for record in CATALOG.select(kind=kind)
        for data in variants(shorten_lists(dict(record.data)), known_locations)
    ]
    raising: dict[str, list[Record]] = {}
    for number, variant in enumerate(records):
        if trouble := raises(alone(variant, number)):
            raising.setdefault(trouble, []).append(variant)
    assert len(records) > len(raising) > 0
    for trouble, alike in raising.items():
        for variant in alike[:FEW]:
            refused = is_malformed(variant, SCENE) or check_record(variant, SCENE)
            assert refused, (str(variant.address), trouble, variant.data)


def alone(record: Record, number: int) -> Record:
    """At an address of its own: what readers remember of a record is found by it, and then compared field by field."""
    return Record(replace(record.address, slug=f"v{number}"), record.data)


def raises(record: Record) -> str:
    """The first trouble that a reader of its kind has with a record, or nothing."""
    for reader in READERS[record.kind]:
        try:
            reader(record)
        except Exception as error:  # noqa: BLE001 - any at all is one that a user would see
            return repr(error)
    return ""


def test_every_shipped_record_can_be_read_whole_and_shortened() -> None:
    for kind in KINDS:
        for record in CATALOG.select(kind=kind):
            for reader in READERS[kind]:
                reader(record)
            assert raises(Record(record.address, shorten_lists(dict(record.data)))) == ""
