"""Relations between values of an exchange, and the locations of the values."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Self

from catalog_probe.catalog.text.json_values import ABSENT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from catalog_probe.catalog.model import Json, Record


ANY_EVENT = "*"
"""As the name of an event: every event."""

_LOCATION = re.compile(
    r"(?P<body>(?:/.*)?)|(?P<kind>header|ask/header|ask/query|ask/path):(?P<name>[^:/]+)"
    r"|(?P<request_body>ask/body)(?P<request_pointer>:/.*)?"
    r"|(?P<event>event)(?::(?P<event_name>[^/]+)(?P<event_pointer>/.*)?)?"
    r"|(?P<sent_event>ask/event):(?P<sent_name>[^/]+)(?P<sent_pointer>/.*)?",
    re.DOTALL,
)

LOCATION_FORMS = (
    "/a/json/pointer, header:NAME, event:NAME/pointer, ask/query:NAME, ask/header:NAME, ask/path:NAME, "
    "ask/body:/pointer or ask/event:NAME/pointer"
)
"""How a location is written, for messages."""


class Location(NamedTuple):
    """A location as a record writes it: `/data/*/id`, `header:request-id`, `event:error/code`, `ask/query:limit`."""

    kind: str
    """`body`, `header` or `event`; of the request `ask/query`, `ask/header`, `ask/body`, `ask/path` (the value of a
    `{name}` in the endpoint's path) or `ask/event` (a frame that we sent)."""
    name: str
    """The name of the header, parameter or event."""
    pointer: str = ""
    """The JSON pointer into the body or the event's data."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse a location.

        >>> Location.parse("header:request-id")
        Location(kind='header', name='request-id', pointer='')
        >>> Location.parse("event:error/code")
        Location(kind='event', name='error', pointer='/code')

        Raises:
            ValueError: with one line that says how a location is written.
        """
        match = _LOCATION.fullmatch(text)
        if match is None:
            raise ValueError(f"{text!r} is no place in an exchange: write {LOCATION_FORMS}")
        if match["kind"]:
            return cls(match["kind"], match["name"])
        if match["request_body"]:
            return cls("ask/body", "", (match["request_pointer"] or ":")[1:])
        if match["sent_event"]:
            return cls("ask/event", match["sent_name"], match["sent_pointer"] or "")
        if match["event"]:
            return cls("event", match["event_name"] or "", match["event_pointer"] or "")
        return cls("body", "", text)

    @property
    def is_text(self) -> bool:
        """Whether its values are always text, even if they look like numbers: `limit=2`."""
        return self.kind in ("header", "ask/query", "ask/header", "ask/path")


BINARY_KINDS = frozenset({"equals", "differs", "subset", "none", "at_most", "at_least", "version_of", "contains"})
"""Kinds that compare with the values at `with`, in the exchanges `of`, or with the constant `value`."""

_DESCRIPTIONS: Mapping[str, str] = {
    "equals": "the same as {}",
    "differs": "not the same as {}",
    "subset": "each among {}",
    "none": "none among {}",
    "at_most": "at most {}",
    "at_least": "at least {}",
    "version_of": "each named as {}, or as a dated version of it",
    "contains": "somewhere in it: {}",
    "every": "each valid by {}",
    "prefix": "each beginning with {}",
    "pattern": "each matching {}",
    "ordered": "{}",
    "non_empty": "not empty",
}


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation of the values at a location of an answer. Fields are called as in the record, if Python allows."""

    kind: str
    """`is` in the record."""
    at: str = ""
    """The location of the values, as `Location` parses it; empty for the whole body."""
    of: tuple[str, ...] = ()
    """The labels of the exchanges whose values, taken together, they are compared with; none for this exchange."""
    other: str = ""
    """`with` in the record: the location of the values that they are compared with."""
    value: Json = ABSENT
    """The constant that they are compared with, or ABSENT."""
    source: str = ""
    path: str = ""
    """The path of the endpoint, for a location `ask/path:name`. Envelopes and error records write one of their own."""

    @property
    def key_location(self) -> str:
        """The location part of its assertion key, which contains no value: `equals:/id` or `subset:/ids:list`."""
        return ":".join(part for part in (self.kind, self.at, "+".join(self.of)) if part)

    @property
    def local_key(self) -> str:
        """The key of its assertion without the label."""
        return f"relation:{self.key_location}"

    @property
    def description(self) -> str:
        """What the relation states, in words: `at most ask/query:limit`."""
        return _DESCRIPTIONS[self.kind].format(self._right_side)

    @property
    def _right_side(self) -> str:
        if self.value is not ABSENT:
            return self.value if isinstance(self.value, str) else json.dumps(self.value, ensure_ascii=False)
        location = self.other or "the body"
        return f"{location} of {' and '.join(self.of)}" if self.of else location

    def locations(self) -> Iterator[Location]:
        """Yield the locations that the relation reads in its own exchange.

        Raises:
            ValueError: a location cannot be parsed.
        """
        yield Location.parse(self.at)
        if not self.of and self.value is ABSENT and self.kind in BINARY_KINDS:
            yield Location.parse(self.other)


def raw_relations(record: Record) -> list[Mapping[str, Json]]:
    """Return the relations as written in a record; the related addresses of an endpoint (1:2.1) are not relations."""
    entries = record.data.get("relations")
    return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []


def relation_labels(entry: Mapping[str, Json]) -> tuple[str, ...]:
    """Return the labels of the answers that a relation is about."""
    label = entry["label"]
    return (label,) if isinstance(label, str) else tuple(label)


def relations_of(record: Record, label: str) -> tuple[Relation, ...]:
    """Return the relations that a record states of the answer with a label."""
    path = str(record.data.get("path", ""))
    return tuple(parse_relation(entry, path) for entry in raw_relations(record) if label in relation_labels(entry))


def parse_relation(entry: Mapping[str, Json], path: str = "") -> Relation:
    """Parse a relation of a record or an envelope (`x-relations`).

    A relation that names other exchanges and no location there compares with the values at the same location.
    Example: `{"is": "equals", "at": "/id", "of": "created"}` compares `/id` of this answer with `/id` of `created`.
    """
    of = entry.get("of", ())
    at = entry.get("at", "")
    return Relation(
        kind=entry["is"],
        at=at,
        of=(of,) if isinstance(of, str) else tuple(of),
        other=entry.get("with", at if of else ""),
        value=entry.get("value", ABSENT),
        source=entry.get("source", ""),
        path=entry.get("path", path),
    )
