"""A bounded store of one class of things in a session."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.errors import ErrorRow

Key = TypeVar("Key")
Value = TypeVar("Value")

MAX_ITEMS = 1_000  # more than any client looks back on; a long-lived mock must not grow without bound


class BoundedStore(OrderedDict[Key, Value]):
    """A mapping that forgets its oldest item when it holds too many."""

    def __setitem__(self, key: Key, value: Value) -> None:
        super().__setitem__(key, value)
        self.move_to_end(key)
        if len(self) > MAX_ITEMS:
            self.popitem(last=False)

    def newest_first(self) -> list[Value]:
        """Return all items, the newest first."""
        return [*reversed(self.values())]

    def find(self, key: Key, absent: ErrorRow) -> Value:
        """Return the item of a key, or raise the refusal of `absent` with its {id}."""
        if key not in self:
            raise absent(id=key)
        return self[key]
