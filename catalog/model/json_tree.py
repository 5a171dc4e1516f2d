"""The one walk over all strings in a JSON value."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from catalog.model.json_value import Json


def texts(value: Json) -> Iterator[str]:
    """Every string in a value, in its order; the names of members are not among them."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from texts(item)


def map_texts(value: Json, change: Callable[[str], str], *, names: bool = False) -> Json:
    """The value with every string changed, and with `names` the names of members too."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {change(str(key)) if names else key: map_texts(item, change, names=names) for key, item in value.items()}
    if isinstance(value, list):
        return [map_texts(item, change, names=names) for item in value]
    if isinstance(value, tuple):
        return tuple(map_texts(item, change, names=names) for item in value)
    return value
