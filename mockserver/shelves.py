"""Shelves: what a session keeps of one sort, within a number of bytes; the oldest goes first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")

MOST_BYTES = 32 * 1024 * 1024
"""Of one shelf. One thing alone may be larger: the limits on bodies bound it."""

LEAF_BYTES = 64
"""About what the smallest thing takes."""


class Shelf(MutableMapping[Key, Value]):
    """A mapping that forgets what was put there first when it holds too much."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._kept: dict[Key, Value] = {}
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
    total, left = 0, [value]
    while left:
        each = left.pop()
        total += LEAF_BYTES
        if isinstance(each, (str, bytes)):
            total += len(each)
        elif isinstance(each, Mapping):
            total += LEAF_BYTES * len(each)
            left.extend(each.values())
        elif isinstance(each, (list, tuple)):
            left.extend(each)
        elif hasattr(each, "__dataclass_fields__"):
            left.extend(getattr(each, name) for name in each.__dataclass_fields__)
    return total


def held_in(state: object) -> int:
    """How many bytes the shelves of a state hold, about: its own, and those it has by name."""
    values = [getattr(state, name) for name in getattr(state, "__dataclass_fields__", ())]
    return sum(shelf.held for value in values for shelf in _shelves(value))


def _shelves(value: object) -> list[Shelf[Any, Any]]:
    if isinstance(value, Shelf):
        return [value]
    return [each for each in value.values() if isinstance(each, Shelf)] if isinstance(value, dict) else []
