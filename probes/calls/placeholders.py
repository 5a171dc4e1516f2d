"""Placeholders: `{small_model}` in a path, header, query or body stands for a value of the target."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from catalog.model.json_tree import map_texts, texts

PLACEHOLDER = re.compile(r"\{([a-z][a-z0-9_]*)\}")


def placeholders_in(value: Any) -> Iterator[str]:
    """The name of every placeholder in the texts of a value, as often as it occurs."""
    for text in texts(value):
        if "{" in text:
            yield from PLACEHOLDER.findall(text)


def filled(value: Any, values: Mapping[str, str]) -> Any:
    """The value with every placeholder of a known name replaced by the target's value for it."""

    def fill(text: str) -> str:
        return PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), text) if "{" in text else text

    return fill(value) if isinstance(value, str) else map_texts(value, fill)
