"""Whether the relations that a record states can be looked at: their labels, places and constants."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from catalog_probe.catalog.envelopes.location import Location
from catalog_probe.catalog.files.schema_messages import Complaint, quote_value
from catalog_probe.catalog.model.errors import suggest_similar
from catalog_probe.catalog.reading.relations import parse_relation, raw_relations, relation_labels

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from catalog_probe.catalog.model import Json, Record
    from catalog_probe.catalog.model.assertion import Assertion
    from catalog_probe.catalog.reading.relations import Relation


def unsound_relations(record: Record, made: Sequence[Assertion]) -> Iterator[Complaint]:
    """Each relation of an unknown label, of a place or by a constant that is none, without source, or stated twice."""
    labels = list(dict.fromkeys(each.key.label for each in made))
    named = Counter((label, each.key_location) for label, each in _stated(record))
    for number, written in enumerate(_all(record)):
        where = f"$.relations[{number}]"
        if not isinstance(written, dict):
            continue
        own = parse_relation(written, str(record.data.get("path", "")))
        for field, told in (("label", relation_labels(written)), ("of", own.of)):
            yield from _unknown(f"{where}.{field}", told, labels)
        for label in set(relation_labels(written)) & set(own.of):
            yield Complaint(f"{where}.of", f"{label!r} would be compared with itself", "name another label")
        yield from _places(where, written, record)
        yield from _constant(f"{where}.value", own)
        yield from _basis(where, written, own, record)
        if any(named[label, own.key_location] > 1 for label in relation_labels(written)):
            mend = "make one of the two, or give them different locations"
            yield Complaint(where, f"another relation has the same key ({own.local_key})", mend)


def _all(record: Record) -> list[Json]:
    written = record.data.get("relations")
    return written if isinstance(written, list) else []


def _stated(record: Record) -> Iterator[tuple[str, Relation]]:
    for written in raw_relations(record):
        yield from ((label, parse_relation(written)) for label in relation_labels(written))


def _unknown(path: str, told: Sequence[str], labels: Sequence[str]) -> Iterator[Complaint]:
    for label in told:
        if label not in labels:
            mend = suggest_similar(label, labels) or f"its labels are {', '.join(labels)}"
            yield Complaint(path, f"{label!r} is no label of this record", mend)


def _places(where: str, written: Mapping[str, Json], record: Record) -> Iterator[Complaint]:
    path = str(written.get("path", record.data.get("path", "")))
    for field in ("at", "with"):
        place = Location.parse(written.get(field, ""))
        if place.kind == "ask/path" and f"{{{place.name}}}" not in path:
            named = re.findall(r"\{([a-z0-9_]+)\}", path)
            mend = suggest_similar(place.name, named) or (f"it has {', '.join(named)}" if named else "it has none")
            yield Complaint(f"{where}.{field}", f"{place.name!r} is no part of the path {path!r}", mend)


def _constant(path: str, own: Relation) -> Iterator[Complaint]:
    if own.kind == "pattern":
        try:
            re.compile(str(own.value))
        except re.error as error:
            yield Complaint(path, f"{quote_value(own.value)} does not compile: {error}", "mend the regular expression")
    elif own.kind == "every":
        from jsonschema import Draft202012Validator, SchemaError  # slow to import; few relations hold a schema

        try:
            Draft202012Validator.check_schema(own.value)
        except SchemaError as error:
            yield Complaint(path, f"is no JSON Schema 2020-12: {quote_value(error.message, 160)}", "mend the schema")


def _basis(where: str, written: Mapping[str, Json], own: Relation, record: Record) -> Iterator[Complaint]:
    assumed = record.data.get("assumed") or {}
    for label in relation_labels(written):
        key = f"{label}/{own.local_key}"
        if not own.source and key not in assumed:
            mend = f"cite the row that says it, or give the reason in assumed[{key!r}]"
            yield Complaint(where, "has no source", mend)
