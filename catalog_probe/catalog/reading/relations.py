"""The relations that a record or an envelope states: what values must be to each other, or to a constant."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog_probe.catalog.envelopes.location import Location
from catalog_probe.catalog.text.json_pointer import ABSENT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from catalog_probe.catalog.model import Json, Record

BINARY_KINDS = frozenset({"equals", "differs", "subset", "none", "at_most", "at_least", "version_of"})
"""Kinds that compare with other values: those at `with`, of the exchanges `of`, or the constant `value`."""


@dataclass(frozen=True, slots=True)
class Relation:
    """What the values at a place of an answer must be: to others, in this exchange or in others, or to a constant."""

    kind: str
    """What the record calls `is`."""
    at: str = ""
    """Where the values stand, as `Place` reads it; the whole body where it is empty."""
    of: tuple[str, ...] = ()
    """The labels of the exchanges with whose values, taken together, they are compared; none for this exchange."""
    other: str = ""
    """What the record calls `with`: where the values stand with which they are compared."""
    value: Json = ABSENT
    """The constant with which they are compared, or ABSENT."""
    source: str = ""
    path: str = ""
    """The path of the endpoint, of whose `{name}` a place `ask/path:name` speaks; where there is no one endpoint, in an
    envelope or an error record, the relation writes one of its own."""

    @property
    def place(self) -> str:
        """What names it within its label, as the place of an assertion's key; no value is in it."""
        return ":".join(part for part in (self.kind, self.at, "+".join(self.of)) if part)

    @property
    def within(self) -> str:
        """The key of its assertion without the label."""
        return f"relation:{self.place}"

    @property
    def words(self) -> str:
        """What it states of the values at its place."""
        return _WORDS[self.kind].format(self._right)

    @property
    def _right(self) -> str:
        if self.value is not ABSENT:
            return self.value if isinstance(self.value, str) else json.dumps(self.value, ensure_ascii=False)
        where = self.other or "the body"
        return f"{where} of {' and '.join(self.of)}" if self.of else where

    def places(self) -> Iterator[Location]:
        """Where it looks, in the answer and in the request that it is stated of.

        Raises:
            ValueError: a place is not written as one.
        """
        yield Location.parse(self.at)
        if not self.of and self.value is ABSENT and self.kind in BINARY_KINDS:
            yield Location.parse(self.other)


_WORDS: Mapping[str, str] = {
    "equals": "the same as {}",
    "differs": "not the same as {}",
    "subset": "each among {}",
    "none": "none among {}",
    "at_most": "at most {}",
    "at_least": "at least {}",
    "version_of": "each named as {}, or as a dated version of it",
    "every": "each valid by {}",
    "prefix": "each beginning with {}",
    "pattern": "each matching {}",
    "ordered": "{}",
    "non_empty": "not empty",
}


def raw_relations(record: Record) -> list[Mapping[str, Json]]:
    """The relations of a record as they stand in it; an endpoint's addresses of related records (1:2.1) are none."""
    written = record.data.get("relations")
    return [each for each in written if isinstance(each, dict)] if isinstance(written, list) else []


def relation_labels(written: Mapping[str, Json]) -> tuple[str, ...]:
    """The labels that a relation is stated of."""
    label = written["label"]
    return (label,) if isinstance(label, str) else tuple(label)


def relations_of(record: Record, label: str) -> tuple[Relation, ...]:
    """What a record states of the answer with this label."""
    path = str(record.data.get("path", ""))
    return tuple(parse_relation(each, path) for each in raw_relations(record) if label in relation_labels(each))


def parse_relation(written: Mapping[str, Json], path: str = "") -> Relation:
    """A relation as a record or an envelope (`x-relations`) writes it.

    Where it names another exchange and no place there, it is compared with what stands at the same place.
    """
    of = written.get("of", ())
    at = written.get("at", "")
    return Relation(
        kind=written["is"],
        at=at,
        of=(of,) if isinstance(of, str) else tuple(of),
        other=written.get("with", at if of else ""),
        value=written.get("value", ABSENT),
        source=written.get("source", ""),
        path=written.get("path", path),
    )
