"""Placeholders: `{small_model}` in a path, header, query or body stands for a value of the target."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from zlib import crc32

from catalog_probe.catalog.text.json_values import list_strings, map_strings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# The placeholder for a name that no other attempt uses, tonight or later: an account may hold each name only once.
OWN_NAME = "own_name"

PLACEHOLDER = re.compile(r"\{([a-z][a-z0-9_]*)\}")

# Besides letters, digits and `-._~`, what stands for itself in a path (RFC 3986, 3.3). With `%`: ids may be encoded.
_PATH_CHARACTERS = "/%:@!$&'()*+,;="


def placeholders_in(value: Any) -> Iterator[str]:
    """Yield the name of every placeholder in the texts of a value, as often as it occurs."""
    for text in list_strings(value):
        if "{" in text:
            yield from PLACEHOLDER.findall(text)


def own_name(session: str) -> str:
    """Return the name that `{own_name}` stands for in the session of one attempt."""
    return f"catalog probe {crc32(session.encode()):08x}"


def fill_placeholders(value: Any, values: Mapping[str, str]) -> Any:
    """Return the value with every known placeholder replaced; an unknown one stays as it is."""

    def fill(text: str) -> str:
        return PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), text) if "{" in text else text

    return fill(value) if isinstance(value, str) else map_strings(value, fill)


def fill_path(path: str, values: Mapping[str, str]) -> str:
    """Fill the placeholders of a path, with what would end a path percent-encoded."""

    def fill(match: re.Match[str]) -> str:
        return quote(values[match[1]], _PATH_CHARACTERS, errors="replace") if match[1] in values else match[0]

    return PLACEHOLDER.sub(fill, path)
