"""JSON pointers (RFC 6901), extended by `*` for every item of an array."""

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
"""The result of a pointer that leads nowhere. JSON null is a value, so None cannot say it."""


def find_value(document: Json, pointer: str) -> Json:
    """Return the first value at a pointer, or ABSENT."""
    return next(iter(find_values(document, pointer)), ABSENT)


def find_values(document: Json, pointer: str) -> Sequence[Json]:
    """Return every value at a pointer; without a `*` in it there is at most one."""
    values: Sequence[Json] = (document,)
    for name in _split_pointer(pointer):
        values = [child for value in values for child in _children(value, name)]
    return values


def points_into_empty_list(document: Json, pointer: str) -> bool:
    """Whether a pointer leads to items of lists that are all present and empty, so that no item shows anything."""
    values: Sequence[Json] = (document,)
    for name in _split_pointer(pointer):
        if name == "*" and values and all(value == [] for value in values):
            return True
        values = [child for value in values for child in _children(value, name)]
    return False


def find_blocking(document: Json, pointer: str) -> Json:
    """Return the value at which a pointer ends too early, because it has another JSON type than needed; else ABSENT.

    Null, an empty list and an empty object block nothing: they merely have no children. Nor does the document itself,
    because its type is the envelope's matter.
    """
    values: Sequence[Json] = (document,)
    for name in _split_pointer(pointer):
        for value in values:
            is_wrong_container = name == "*" if isinstance(value, dict) else name != "*" and not name.isdigit()
            is_blocking = bool(value) and is_wrong_container if isinstance(value, dict | list) else value is not None
            if is_blocking and value is not document:
                return value
        values = [child for value in values for child in _children(value, name)]
    return ABSENT


def build_document(values: Mapping[str, Json]) -> Json:
    """Build a document that holds these values, each at its pointer. Every array gets a single item."""
    document: Json = {}
    for pointer, value in values.items():
        names = [_unescape(name) for name in pointer[1:].split("/")]
        document = _put_value(document, names, value)
    return document


@lru_cache(maxsize=4096)  # the few pointers of a catalog are followed in every answer
def _split_pointer(pointer: str) -> tuple[str, ...]:
    """Return the unescaped names of a pointer."""
    if pointer in ("", "/"):
        return ()
    return tuple(_unescape(name) for name in pointer[1:].removesuffix("/").split("/"))


def _unescape(name: str) -> str:
    return name.replace("~1", "/").replace("~0", "~")


def _children(value: Json, name: str) -> Sequence[Json]:
    if isinstance(value, dict):
        return (value[name],) if name in value else ()
    if isinstance(value, list) and name == "*":
        return value
    if isinstance(value, list) and name.isascii() and name.isdigit() and int(name) < len(value):
        return (value[int(name)],)
    return ()


def _put_value(document: Json, names: list[str], value: Json) -> Json:
    """Return the document with a value at the end of a path. A scalar on the way (a shortened value) is replaced."""
    if not names:
        return value
    name, further_names = names[0], names[1:]
    if name == "*" or name.isdigit():
        first_item = document[0] if isinstance(document, list) else {}
        return [_put_value(first_item, further_names, value)]
    members = document if isinstance(document, dict) else {}
    return {**members, name: _put_value(members.get(name, {}), further_names, value)}
