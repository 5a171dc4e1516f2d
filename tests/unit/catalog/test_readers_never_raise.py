"""No reader raises for a record that `catalog check` accepts, however unlike the shipped ones it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import pytest

from catalog.check.validate import Scene, is_malformed, problems_of
from catalog.model import KINDS, Json, Record
from catalog.reading.classification import classification
from catalog.reading.documented_fields import documented_fields
from catalog.reading.expectations import expectations
from catalog.reading.facts import keywords, pin, seen, stated, tags
from catalog.reading.headers import header_names
from catalog.reading.last_seen import last_seen, messages_seen, target_of
from catalog.reading.rate_limits import rate_limits
from catalog.reading.retry import retry
from catalog.reading.store import Catalog

CATALOG = Catalog.load()
SCENE = Scene(CATALOG, unread=frozenset(), shipped=False)

OF_ALL: tuple[Callable[[Record], object], ...] = (
    documented_fields,
    header_names,
    keywords,
    last_seen,
    lambda record: expectations(record, CATALOG.__getitem__),
    messages_seen,
    pin,
    seen,
    stated,
    tags,
    target_of,
)
READERS: Mapping[str, tuple[Callable[[Record], object], ...]] = {
    "endpoints": OF_ALL,
    "errors": (*OF_ALL, retry, classification),
    "rate_limits": (*OF_ALL, rate_limits),
}

ODD: tuple[Json, ...] = (None, "words", {}, True, 3, "502/503", [], ["words"], {"protocol": "sse"})


def variants(value: Json, depth: int = 2) -> Iterator[Json]:
    """The value with one thing in it gone, or something else, down to some depth; of alike siblings only the first."""
    if isinstance(value, dict):
        shapes: set[str] = set()
        for name, inner in value.items():
            shape = str(sorted(inner)) if isinstance(inner, dict) else name
            if shape in shapes:
                continue
            shapes.add(shape)
            yield {key: item for key, item in value.items() if key != name}
            yield from ({**value, name: odd} for odd in (ODD if depth == 2 else ODD[:3]))
            if depth:
                yield from ({**value, name: changed} for changed in variants(inner, depth - 1))
    elif isinstance(value, list) and value:
        yield from ([changed, *value[1:]] for changed in variants(value[0], depth))


def unlike_each_other(kind: str) -> Iterator[Record]:
    """Shipped records that each have a field, or a type of value in one, that those before had not."""
    known: set[tuple[str, str]] = set()
    for record in CATALOG.select(kind=kind):
        own = {(name, type(value).__name__) for name, value in record.data.items()}
        if not own <= known:
            known |= own
            yield record


@pytest.mark.parametrize("kind", KINDS)
def test_what_cannot_be_read_is_refused(kind: str) -> None:
    """The check is slow beside a reader, so it is asked only where one raises."""
    made = [Record(record.address, data) for record in unlike_each_other(kind) for data in variants(record.data)]
    raising = [variant for variant in made if raises(variant)]
    assert len(made) > len(raising) > 0
    for variant in raising:
        refused = is_malformed(variant, SCENE) or problems_of(variant, SCENE)
        assert refused, (str(variant.address), raises(variant), variant.data)


def raises(record: Record) -> str:
    """The first trouble that a reader of its kind has with a record, or nothing."""
    for reader in READERS[record.kind]:
        try:
            reader(record)
        except Exception as error:  # noqa: BLE001 - any at all is one that a user would see
            return repr(error)
    return ""


@pytest.mark.parametrize("kind", KINDS)
def test_every_shipped_record_can_be_read(kind: str) -> None:
    for record in CATALOG.select(kind=kind):
        for reader in READERS[kind]:
            reader(record)
