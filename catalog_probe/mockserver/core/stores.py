"""What a session keeps of one kind of thing, so many at most."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.errors import ErrorRow

Key = TypeVar("Key")
Value = TypeVar("Value")

MOST = 1_000
"""Things in one store: more than any client looks back on, so that a long-lived mock cannot grow without bound."""


class BoundedStore(OrderedDict[Key, Value]):
    """A mapping that forgets what was put there first when it holds too many things."""

    def __setitem__(self, key: Key, value: Value) -> None:
        super().__setitem__(key, value)
        self.move_to_end(key)
        if len(self) > MOST:
            self.popitem(last=False)

    def newest_first(self) -> list[Value]:
        """What is here, the last first."""
        return [*reversed(self.values())]

    def find(self, key: Key, absent: ErrorRow) -> Value:
        """The thing under a key, or the refusal of the row for what is not there; its message may name {id}."""
        if key not in self:
            raise absent(id=key)
        return self[key]
