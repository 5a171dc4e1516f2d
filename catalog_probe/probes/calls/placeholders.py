"""Placeholders: `{small_model}` in a path, header, query or body stands for a value of the target."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from zlib import crc32

from catalog_probe.catalog.text.json_tree import map_texts, texts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

OWN_NAME = "own_name"
"""Stands for a name that no other attempt has, of this night or another: where there may be one thing of a name."""

PLACEHOLDER = re.compile(r"\{([a-z][a-z0-9_]*)\}")


def placeholders_in(value: Any) -> Iterator[str]:
    """The name of every placeholder in the texts of a value, as often as it occurs."""
    for text in texts(value):
        if "{" in text:
            yield from PLACEHOLDER.findall(text)


def own_name(session: str) -> str:
    """What that stands for in the session of one attempt."""
    return f"catalog probe {crc32(session.encode()):08x}"


def filled(value: Any, values: Mapping[str, str]) -> Any:
    """The value with every placeholder of a known name replaced by the target's value for it."""

    def fill(text: str) -> str:
        return PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), text) if "{" in text else text

    return fill(value) if isinstance(value, str) else map_texts(value, fill)


def fill_path(path: str, values: Mapping[str, str]) -> str:
    """Fill placeholders of a path; what a value holds that would end a path, or that none has, is percent-encoded."""

    def fill(match: re.Match[str]) -> str:
        return quote(values[match[1]], _OF_A_PATH, errors="replace") if match[1] in values else match[0]

    return PLACEHOLDER.sub(fill, path)


_OF_A_PATH = "/%:@!$&'()*+,;="
"""Besides letters, digits and `-._~`, what stands for itself in a path (RFC 3986, 3.3); ids may be encoded already."""
