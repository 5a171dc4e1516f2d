"""Read what a record says about its own assertions: assumptions, alternatives, reach, revisions, dependencies."""

from __future__ import annotations

import sys
from contextlib import suppress
from operator import itemgetter
from typing import TYPE_CHECKING

from catalog_probe.catalog.model.assertion import REQUEST_LABEL, WILDCARD, AssertionKey
from catalog_probe.catalog.model.labels import SUCCESS
from catalog_probe.catalog.reading.expectations import success_rule_labels

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.catalog.model import Json, Record


class Annotations:
    """The fields of one record that annotate its assertions by their keys, in which `*` may stand for a part."""

    def __init__(self, record: Record) -> None:
        self._data = record.data
        self._success_labels = success_rule_labels(record)
        self._parsed_fields: dict[str, _Field] = {}

    def assumed(self, key: AssertionKey) -> str:
        """Return why an assertion is assumed, or an empty string."""
        return str(self._find("assumed", key) or "")

    def source(self, key: AssertionKey) -> str:
        """Return the rows that state an assertion if the record names them for it, or an empty string."""
        return str(self._find("sources_of", key) or "")

    def out_of_reach(self, key: AssertionKey) -> str:
        """Return why no client can cause it, or an empty string."""
        return str(self._find("out_of_reach", key) or "")

    def alternatives(self, key: AssertionKey) -> tuple[Json, ...]:
        """Return all values that conform, if the documents allow several."""
        entry = self._find("alternatives", key)
        return tuple(entry["values"]) if entry else ()

    def revision(self, field: str, key: AssertionKey) -> str:
        """Return the revision that `since` or `until` names for an assertion, or an empty string."""
        entry = self._find(field, key)
        return str(entry["revision"]) if entry else ""

    def depends_on(self, label: str) -> tuple[str, ...]:
        """Return the labels that must have matched before this one means anything."""
        return tuple((self._data.get("depends") or {}).get(label, ()))

    def _find(self, field: str, key: AssertionKey) -> Json:
        """Return the value of the first entry for a key; `success` also covers each rule whose answer is a success."""
        if not self._data.get(field):
            return None
        if field not in self._parsed_fields:  # every statement of the record looks it up
            self._parsed_fields[field] = _Field(self._data[field])
        parsed_field = self._parsed_fields[field]
        match = parsed_field.first_match(key)
        if key.label in self._success_labels:
            success_key = AssertionKey(SUCCESS, key.aspect, key.location)
            match = min(match, parsed_field.first_match(success_key), key=itemgetter(0))
        return match[1]


class _Field:
    """One field, with exact keys in a dictionary because most entries have no `*`."""

    NO_MATCH = (sys.maxsize, None)

    def __init__(self, entries: Mapping[str, Json]) -> None:
        self._exact: dict[AssertionKey, tuple[int, Json]] = {}
        self._patterns: list[tuple[AssertionKey, tuple[int, Json]]] = []
        for position, (text, value) in enumerate(entries.items()):
            key = AssertionKey.parse(text)
            if WILDCARD in (key.label, key.aspect):
                self._patterns.append((key, (position, value)))
            else:
                self._exact[key] = (position, value)

    def first_match(self, key: AssertionKey) -> tuple[int, Json]:
        """Return position and value of the first entry whose key covers this one."""
        by_pattern = next((entry for pattern, entry in self._patterns if pattern.covers(key)), self.NO_MATCH)
        return min(by_pattern, self._exact.get(key, self.NO_MATCH), key=itemgetter(0))


def assumed_keys(record: Record) -> tuple[AssertionKey, ...]:
    """Return the keys of `assumed`, some with a `*`; a key that cannot be parsed is skipped."""
    keys = []
    for text in record.data.get("assumed") or ():
        with suppress(ValueError):
            keys.append(AssertionKey.parse(text))
    return tuple(keys)


def request_assumptions(record: Record) -> Mapping[AssertionKey, str]:
    """Return what is assumed of the request (`ask/path`, `ask/header:…`, `ask/body:…`), each with its reason."""
    reasons = {AssertionKey.parse(text): str(reason) for text, reason in (record.data.get("assumed") or {}).items()}
    return {key: reason for key, reason in reasons.items() if key.label == REQUEST_LABEL}
