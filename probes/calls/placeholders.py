"""Placeholders: `{small_model}` in a path, header, query or body stands for a value of the target."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

PLACEHOLDER = re.compile(r"\{([a-z][a-z0-9_]*)\}")


def placeholders_in(value: Any) -> Iterator[str]:
    """The name of every placeholder in the texts of a value, as often as it occurs."""
    if isinstance(value, str):
        yield from PLACEHOLDER.findall(value)
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from placeholders_in(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from placeholders_in(item)


def filled(value: Any, values: Mapping[str, str]) -> Any:
    """The value with every placeholder of a known name replaced by the target's value for it."""
    if isinstance(value, str):
        return PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), value)
    if isinstance(value, Mapping):
        return {key: filled(item, values) for key, item in value.items()}
    if isinstance(value, tuple):
        return tuple(filled(item, values) for item in value)
    if isinstance(value, list):
        return [filled(item, values) for item in value]
    return value
