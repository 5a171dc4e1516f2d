"""Walks over a JSON value: its strings, its depth, and its objects that repeat a name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from catalog_probe.catalog.text.json_value import Json

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
