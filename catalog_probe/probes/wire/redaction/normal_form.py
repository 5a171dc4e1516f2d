"""The normal form in which a string is searched: one case, and the escapes of URLs, JSON and HTML undone.

Nothing else is undone. SECURITY.md says which encodings are not covered.
"""

from __future__ import annotations

import re
import unicodedata
from html.entities import html5
from typing import TYPE_CHECKING

from catalog_probe.catalog.text.readable_text import HIDDEN_CHARACTERS
from catalog_probe.probes.wire.redaction.work import PER_ESCAPE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from catalog_probe.probes.wire.redaction.work import Work

LAYERS = 4
"""Layers of escapes that are undone. JSON in JSON in JSON has three, and one more if a URL carries it."""

_ESCAPE = re.compile(
    # A URL's: a run together, since a character may take several bytes. Possessive (`++`), because the way back into a
    # run of a million escapes takes a hundred megabytes.
    r"((?:%[0-9a-f]{2})++)"
    r"|\\u([0-9a-f]{4})|\\([\"\\/bfnrt])"  # JSON's
    r"|&#x0*([0-9a-f]{1,6});?|&#0*([0-9]{1,7});?|&([a-z][a-z0-9]{1,31};)"  # HTML's
)
"""One escape, or a run of them, in a folded text."""

_SIGNS = "%\\&"
"""Each escape begins with one of these."""

_ASCII_CONTROLS = "".join(chr(point) for point in range(128) if HIDDEN_CHARACTERS.match(chr(point)))

_ONE_ALPHABET = str.maketrans("-_", "+/", _ASCII_CONTROLS)
"""Base64 for URLs has other signs than base64; the secrets are folded in the same way. Controls show nothing."""

_LONGEST_FORM = 4
"""Characters; a few ligatures of whole words have up to 18, by which a body would grow in memory."""

_REMEMBERED = 20_000
"""Characters whose folded form is remembered: more than any script has, less than a hostile body can."""


class _FoldedCharacters(dict[int, str]):
    """The folded form of each character, for `str.translate`.

    Character by character, since `normalize` takes quadratic time over a long run of combining marks.
    """

    def __missing__(self, point: int) -> str:
        character = chr(point)
        compatible = unicodedata.normalize("NFKC", character).casefold()
        if HIDDEN_CHARACTERS.match(character):
            compatible = ""
        folded = (compatible if len(compatible) <= _LONGEST_FORM else character).translate(_ONE_ALPHABET)
        if len(self) < _REMEMBERED:
            self[point] = folded
        return folded


_FOLDED = _FoldedCharacters()


def fold(text: str) -> str:
    """The text in one case, in Unicode's compatibility form and in the alphabet of plain base64."""
    return text.lower().translate(_ONE_ALPHABET) if text.isascii() else text.translate(_FOLDED)


def normal_forms(text: str, work: Work) -> Iterator[str]:
    """Yield the folded text, then what it is without each of its layers of escapes.

    All of them are to be searched: what reads like an escape may be part of a secret.

    Raises:
        TooMuchWorkError: there is no work left for it.
    """
    work.spend(len(text))
    folded = fold(text)
    yield folded
    for _ in range(LAYERS):
        signs = sum(map(folded.count, _SIGNS))
        if not signs:
            return
        work.spend(2 * len(folded) + PER_ESCAPE * signs)
        unescaped = fold(_ESCAPE.sub(_unescape, folded))
        if unescaped == folded:
            return
        folded = unescaped
        yield folded


def _unescape(escape: re.Match[str]) -> str:
    percent, unit, sign, hexadecimal, decimal, name = escape.groups()
    if percent is not None:
        return bytes.fromhex(percent.replace("%", "")).decode("utf-8", "replace")
    if unit is not None:
        return chr(int(unit, 16))
    if sign is not None:
        return sign if sign in '"\\/' else " "
    if name is not None:
        return html5.get(name, escape[0])
    point = int(decimal) if decimal is not None else int(hexadecimal, 16)
    return chr(point) if point <= 0x10FFFF else escape[0]
