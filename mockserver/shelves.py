"""Shelves: what a session keeps of one sort, within a number of bytes; the oldest goes first."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from typing import Any, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")

MOST_BYTES = 32 * 1024 * 1024
"""Of one shelf. One thing alone may be larger: the limits on bodies bound it."""

LEAF_BYTES = 64
"""About what the smallest thing takes."""

_LEAVES = frozenset({int, float, bool, type(None)})


class Shelf(MutableMapping[Key, Value]):
    """A mapping that forgets what was put there first when it holds too much."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._kept: OrderedDict[Key, Value] = OrderedDict()  # of a dict, the oldest is found past all that are gone
        self._sizes: dict[Key, int] = {}
        self.held = 0
        """In bytes, about."""

    def __getitem__(self, key: Key) -> Value:
        return self._kept[key]

    def __setitem__(self, key: Key, value: Value) -> None:
        if key in self._kept:
            del self[key]
        self._kept[key] = value
        self._sizes[key] = size = weight(value)
        self.held += size
        while self.held > self._most_bytes and len(self._kept) > 1:
            del self[next(iter(self._kept))]

    def __delitem__(self, key: Key) -> None:
        del self._kept[key]
        self.held -= self._sizes.pop(key)

    def __iter__(self) -> Iterator[Key]:
        return iter(self._kept)

    def newest_first(self) -> list[Value]:
        """What is here, the last first."""
        return [*reversed(self._kept.values())]

    def __len__(self) -> int:
        return len(self._kept)

    def __contains__(self, key: object) -> bool:
        return key in self._kept


def weight(value: Any) -> int:
    """About how many bytes a value takes: its texts, and something for each thing in it."""
    found, texts = [value], 0
    for each in found:  # it grows meanwhile
        kind = type(each)
        if kind is str or kind is bytes:
            texts += len(each)
        elif kind is dict:
            texts += LEAF_BYTES * len(each)
            found += each.values()
        elif kind is list or kind is tuple:
            found += each
        elif kind not in _LEAVES:
            found += _parts(each)
    return texts + LEAF_BYTES * len(found)


def _parts(value: object) -> Iterable[Any]:
    """What is in a value of a less usual type."""
    if isinstance(value, str):
        return (str(value),)
    if isinstance(value, Mapping):
        return dict(value).values()
    if isinstance(value, (list, tuple)):
        return list(value)
    return [getattr(value, name) for name in getattr(value, "__dataclass_fields__", ())]


def held_in(state: object) -> int:
    """How many bytes the shelves of a state hold, about: its own, and those it has by name."""
    values = [getattr(state, name) for name in getattr(state, "__dataclass_fields__", ())]
    return sum(shelf.held for value in values for shelf in _shelves(value))


def _shelves(value: object) -> list[Shelf[Any, Any]]:
    if isinstance(value, Shelf):
        return [value]
    return [each for each in value.values() if isinstance(each, Shelf)] if isinstance(value, dict) else []
