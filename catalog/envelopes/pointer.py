"""JSON pointers (RFC 6901) with `*` for some item of an array."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from catalog.model import Json


class _Absent:
    def __repr__(self) -> str:
        return "absent"


ABSENT: Json = _Absent()
"""What a pointer finds where there is nothing; JSON null is a value."""


def find(document: Json, pointer: str) -> Json:
    """The first value a pointer leads to, or ABSENT."""
    return next(find_all(document, pointer), ABSENT)


def find_all(document: Json, pointer: str) -> Iterator[Json]:
    """Every value a pointer leads to: more than one only where it holds a `*`."""
    if pointer in ("", "/"):
        yield document
        return
    head, _, rest = pointer[1:].partition("/")
    tail = f"/{rest}" if rest else ""
    for item in _step(document, head.replace("~1", "/").replace("~0", "~")):
        yield from find_all(item, tail)


def rebuilt(values: Mapping[str, Json]) -> Json:
    """A document that holds just these values, each at its pointer; an item of an array is its only one."""
    document: Json = {}
    for pointer, value in values.items():
        names = [name.replace("~1", "/").replace("~0", "~") for name in pointer[1:].split("/")]
        document = _with(document, names, value)
    return document


def _with(document: Json, names: list[str], value: Json) -> Json:
    """The document with a value at the end of a path; what stands in the way, as a value's beginning, gives way."""
    if not names:
        return value
    name, rest = names[0], names[1:]
    if name == "*" or name.isdigit():
        first = document[0] if isinstance(document, list) else {}
        return [_with(first, rest, value)]
    members = document if isinstance(document, dict) else {}
    return {**members, name: _with(members.get(name, {}), rest, value)}


def _step(document: Json, name: str) -> Iterator[Json]:
    if isinstance(document, dict) and name in document:
        yield document[name]
    elif isinstance(document, list) and name == "*":
        yield from document
    elif isinstance(document, list) and name.isascii() and name.isdigit() and int(name) < len(document):
        yield document[int(name)]
