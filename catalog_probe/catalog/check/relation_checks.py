"""Check the relations of a record: their labels, locations, constants and sources."""

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


def unsound_relations(record: Record, assertions: Sequence[Assertion]) -> Iterator[Complaint]:
    """Complain about unknown labels, invalid locations and constants, missing sources, and relations stated twice."""
    labels = list(dict.fromkeys(assertion.key.label for assertion in assertions))
    key_counts = Counter(
        (label, parse_relation(entry).key_location)
        for entry in raw_relations(record)
        for label in relation_labels(entry)
    )
    entries = record.data.get("relations")
    for index, entry in enumerate(entries if isinstance(entries, list) else []):
        if not isinstance(entry, dict):
            continue
        path = f"$.relations[{index}]"
        relation = parse_relation(entry, str(record.data.get("path", "")))
        own_labels = relation_labels(entry)
        yield from _check_labels(f"{path}.label", own_labels, labels)
        yield from _check_labels(f"{path}.of", relation.of, labels)
        for label in set(own_labels) & set(relation.of):
            yield Complaint(f"{path}.of", f"{label!r} would be compared with itself", "name another label")
        yield from _check_path_parameters(path, entry, record)
        yield from _check_constant(f"{path}.value", relation)
        yield from _check_source(path, own_labels, relation, record)
        if any(key_counts[label, relation.key_location] > 1 for label in own_labels):
            mend = "make one of the two, or give them different locations"
            yield Complaint(path, f"another relation has the same key ({relation.local_key})", mend)


def _check_labels(path: str, names: Sequence[str], labels: Sequence[str]) -> Iterator[Complaint]:
    for name in names:
        if name not in labels:
            mend = suggest_similar(name, labels) or f"its labels are {', '.join(labels)}"
            yield Complaint(path, f"{name!r} is no label of this record", mend)


def _check_path_parameters(path: str, entry: Mapping[str, Json], record: Record) -> Iterator[Complaint]:
    url_path = str(entry.get("path", record.data.get("path", "")))
    for field in ("at", "with"):
        location = Location.parse(entry.get(field, ""))
        if location.kind == "ask/path" and f"{{{location.name}}}" not in url_path:
            names = re.findall(r"\{([a-z0-9_]+)\}", url_path)
            mend = suggest_similar(location.name, names) or (f"it has {', '.join(names)}" if names else "it has none")
            yield Complaint(f"{path}.{field}", f"{location.name!r} is no part of the path {url_path!r}", mend)


def _check_constant(path: str, relation: Relation) -> Iterator[Complaint]:
    if relation.kind == "pattern":
        try:
            re.compile(str(relation.value))
        except re.error as error:
            what = f"{quote_value(relation.value)} does not compile: {error}"
            yield Complaint(path, what, "correct the regular expression")
    elif relation.kind == "every":
        from jsonschema import Draft202012Validator, SchemaError  # slow to import; few relations hold a schema

        try:
            Draft202012Validator.check_schema(relation.value)
        except SchemaError as error:
            yield Complaint(path, f"is no JSON Schema 2020-12: {quote_value(error.message, 160)}", "correct the schema")


def _check_source(path: str, labels: Sequence[str], relation: Relation, record: Record) -> Iterator[Complaint]:
    assumed = record.data.get("assumed") or {}
    for label in labels:
        key = f"{label}/{relation.local_key}"
        if not relation.source and key not in assumed:
            mend = f"cite the row that says it, or give the reason in assumed[{key!r}]"
            yield Complaint(path, "has no source", mend)
