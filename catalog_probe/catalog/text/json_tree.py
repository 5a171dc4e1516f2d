"""The one walk over all strings in a JSON value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from catalog_probe.catalog.text.json_value import Json


_OBJECTS = (dict, Mapping)
"""Nearly every object is a dict, and that is seen at once. A pair here costs a third of `list | tuple` in its place."""

_LISTS = (list, tuple)


class RepeatingObject(dict[str, Any]):
    """A JSON object that was written with a name more than once: of its values the last counts.

    `repeated` are the positions of such members, for a name may be changed to hide a secret.
    """

    def __init__(self, members: Mapping[str, Json], repeated: Collection[int]) -> None:
        super().__init__(members)
        self.repeated = repeated


def object_of(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    """The object that these members make, as they were written."""
    members = dict(pairs)
    if len(members) == len(pairs):
        return members
    counts = Counter(name for name, _ in pairs)
    return RepeatingObject(members, frozenset(at for at, name in enumerate(members) if counts[name] > 1))


def repeated_members(value: Json, place: str = "") -> Iterator[tuple[str, Json]]:
    """Each member whose name its object has more than once, with its JSON pointer; `*` stands for each item."""
    if isinstance(value, dict):
        repeated = value.repeated if isinstance(value, RepeatingObject) else ()
        for at, (name, item) in enumerate(value.items()):
            if at in repeated:
                yield f"{place}/{name}", item
            yield from repeated_members(item, f"{place}/{name}")
    elif isinstance(value, list):
        for item in value:
            yield from repeated_members(item, f"{place}/*")


def _rebuilt(value: Json, members: dict[str, Json]) -> dict[str, Json]:
    return RepeatingObject(members, value.repeated) if isinstance(value, RepeatingObject) else members


def texts(value: Json) -> list[str]:
    """Every string in a value, in its order; the names of members are not among them."""
    found: list[str] = []
    _add_texts(value, found, names=False)
    return found


def all_texts(value: Json) -> list[str]:
    """Every string and every name of a member, in the order in which `map_texts` changes them."""
    found: list[str] = []
    _add_texts(value, found, names=True)
    return found


def placed_texts(value: Json, place: str = "") -> Iterator[tuple[str, str]]:
    """Every string with its JSON pointer, in the order of `texts`; `*` stands for each item of a list."""
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield from placed_texts(item, f"{place}/{name}")
    elif isinstance(value, list | tuple):
        for item in value:
            yield from placed_texts(item, f"{place}/*")


def map_texts(value: Json, change: Callable[[str], str], *, names: bool = False) -> Json:
    """The value with every string changed, and with `names` the names of members too."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, _OBJECTS):
        members = value.items()
        changed = {change(str(key)) if names else key: map_texts(item, change, names=names) for key, item in members}
        return _rebuilt(value, changed)
    if isinstance(value, list):
        return [map_texts(item, change, names=names) for item in value]
    if isinstance(value, tuple):
        return tuple(map_texts(item, change, names=names) for item in value)
    return value


def _add_texts(value: Json, found: list[str], *, names: bool) -> None:
    if isinstance(value, str):
        found.append(value)
    elif isinstance(value, _LISTS):
        for item in value:
            _add_texts(item, found, names=names)
    elif isinstance(value, _OBJECTS):
        for name, item in value.items():
            if names:
                found.append(str(name))
            _add_texts(item, found, names=names)
