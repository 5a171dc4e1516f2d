"""JSON pointers (RFC 6901) with `*` for some item of an array."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from catalog_probe.catalog.text.json_value import Json


class _Absent:
    def __repr__(self) -> str:
        return "absent"


ABSENT: Json = _Absent()
"""What a pointer finds where there is nothing; JSON null is a value."""


def find(document: Json, pointer: str) -> Json:
    """The first value a pointer leads to, or ABSENT."""
    return next(iter(find_all(document, pointer)), ABSENT)


def find_all(document: Json, pointer: str) -> Sequence[Json]:
    """Every value a pointer leads to: more than one only where it holds a `*`."""
    found: Sequence[Json] = (document,)
    for name in _names(pointer):
        found = [item for each in found for item in _step(each, name)]
    return found


def is_of_no_item(document: Json, pointer: str) -> bool:
    """Whether a pointer leads into the items of lists that are there, and all empty: they show nothing of an item."""
    found: Sequence[Json] = (document,)
    for name in _names(pointer):
        if name == "*" and found and all(each == [] for each in found):
            return True
        found = [item for each in found for item in _step(each, name)]
    return False


def find_blocking(document: Json, pointer: str) -> Json:
    """Return the value at which a pointer ends too early, for it has another JSON type than needed; else ABSENT.

    Null and empty lists or objects block nothing: they have no members or items, whichever of both was meant. Nor does
    the document itself: that it is no object its envelope says.
    """
    values: Sequence[Json] = (document,)
    for name in _names(pointer):
        for value in values:
            is_wrong_container = name == "*" if isinstance(value, dict) else name != "*" and not name.isdigit()
            is_blocking = bool(value) and is_wrong_container if isinstance(value, dict | list) else value is not None
            if is_blocking and value is not document:
                return value
        values = [item for value in values for item in _step(value, name)]
    return ABSENT


@lru_cache(maxsize=4096)
def _names(pointer: str) -> tuple[str, ...]:
    """The names on the way, unescaped. Kept, because the few pointers of a catalog are followed on every answer."""
    way = pointer[1:].removesuffix("/")
    return tuple(map(_unescaped, way.split("/"))) if pointer not in ("", "/") else ()


def _unescaped(name: str) -> str:
    return name.replace("~1", "/").replace("~0", "~")


def rebuilt(values: Mapping[str, Json]) -> Json:
    """A document that holds just these values, each at its pointer; an item of an array is its only one."""
    document: Json = {}
    for pointer, value in values.items():
        names = [_unescaped(name) for name in pointer[1:].split("/")]
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


def _step(document: Json, name: str) -> Sequence[Json]:
    if isinstance(document, dict):
        return (document[name],) if name in document else ()
    if isinstance(document, list) and name == "*":
        return document
    if isinstance(document, list) and name.isascii() and name.isdigit() and int(name) < len(document):
        return (document[int(name)],)
    return ()
