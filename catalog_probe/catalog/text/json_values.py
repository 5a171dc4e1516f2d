"""JSON values: their type, walks over them, and pointers into them (RFC 6901)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence


# Not a recursive type: records are data that people edit, and their shape is checked by the schemas.
Json = Any


# For `isinstance`. A tuple takes a third of the time of `dict | Mapping`, and nearly every object is a dict.
_OBJECTS = (dict, Mapping)
_LISTS = (list, tuple)


class ObjectWithRepeatedNames(dict[str, Any]):
    """A JSON object that was written with a name more than once. It holds the last value of each name.

    `repeated_positions` are positions of members, not names: redaction may change a name.
    """

    def __init__(self, members: Mapping[str, Json], repeated_positions: Collection[int]) -> None:
        super().__init__(members)
        self.repeated_positions = repeated_positions


def build_object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    """Build an object from its members as they were written (an `object_pairs_hook` of `json.loads`)."""
    members = dict(pairs)
    if len(members) == len(pairs):
        return members
    counts = Counter(name for name, _ in pairs)
    positions = frozenset(position for position, name in enumerate(members) if counts[name] > 1)
    return ObjectWithRepeatedNames(members, positions)


def iterate_repeated_members(value: Json, pointer: str = "") -> Iterator[tuple[str, Json]]:
    """Yield each member whose name its object repeats, with its JSON pointer; `*` stands for the items of a list."""
    if isinstance(value, dict):
        positions = value.repeated_positions if isinstance(value, ObjectWithRepeatedNames) else ()
        for position, (name, member) in enumerate(value.items()):
            if position in positions:
                yield f"{pointer}/{name}", member
            yield from iterate_repeated_members(member, f"{pointer}/{name}")
    elif isinstance(value, list):
        for item in value:
            yield from iterate_repeated_members(item, f"{pointer}/*")


def list_strings(value: Json) -> list[str]:
    """Return every string in a value, in its order, without the names of members."""
    strings: list[str] = []
    _add_strings(value, strings, names=False)
    return strings


def list_strings_and_names(value: Json) -> list[str]:
    """Return every string and every name of a member, in the order in which `map_strings` changes them."""
    strings: list[str] = []
    _add_strings(value, strings, names=True)
    return strings


def _add_strings(value: Json, strings: list[str], *, names: bool) -> None:
    if isinstance(value, str):
        strings.append(value)
    elif isinstance(value, _LISTS):
        for item in value:
            _add_strings(item, strings, names=names)
    elif isinstance(value, _OBJECTS):
        for name, member in value.items():
            if names:
                strings.append(str(name))
            _add_strings(member, strings, names=names)


def iterate_strings_with_pointers(value: Json, pointer: str = "") -> Iterator[tuple[str, str]]:
    """Yield every string with its JSON pointer, in the order of `list_strings`; `*` stands for the items of a list."""
    if isinstance(value, str):
        yield pointer, value
    elif isinstance(value, Mapping):
        for name, member in value.items():
            yield from iterate_strings_with_pointers(member, f"{pointer}/{name}")
    elif isinstance(value, list | tuple):
        for item in value:
            yield from iterate_strings_with_pointers(item, f"{pointer}/*")


def map_strings(value: Json, change: Callable[[str], str], *, names: bool = False) -> Json:
    """Return the value with every string changed, and with `names` the names of members too."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, _OBJECTS):
        members = {
            change(str(name)) if names else name: map_strings(member, change, names=names)
            for name, member in value.items()
        }
        if isinstance(value, ObjectWithRepeatedNames):
            return ObjectWithRepeatedNames(members, value.repeated_positions)
        return members
    if isinstance(value, list):
        return [map_strings(item, change, names=names) for item in value]
    if isinstance(value, tuple):
        return tuple(map_strings(item, change, names=names) for item in value)
    return value


def is_deeper_than(value: Json, levels: int) -> bool:
    """Whether objects and lists are nested in more levels: `{"a": [1]}` has two."""
    layer = [value]
    for _ in range(levels + 1):
        layer = [
            member
            for container in layer
            if isinstance(container, (*_OBJECTS, *_LISTS))
            for member in (container.values() if isinstance(container, _OBJECTS) else container)
        ]
        if not layer:
            return False
    return True


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
