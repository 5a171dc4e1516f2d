"""Finds the secrets of a run in strings, in many forms and bounded work.

Of escapes only those of URLs, JSON and HTML are undone. SECURITY.md says which encodings are not covered.
"""

from __future__ import annotations

import re
import unicodedata
from base64 import b64encode
from dataclasses import dataclass, field
from html.entities import html5
from typing import TYPE_CHECKING, NamedTuple

from catalog_probe.catalog.text.readable_text import HIDDEN_CHARACTERS

if TYPE_CHECKING:
    from collections.abc import Iterator


OPERATIONS = 40_000_000
"""Operations that one answer may take: about a second. The largest body, of 4 MB, takes 8 million where it is plain."""

PER_STRING = 32
"""Operations that a string takes however short it is."""

PER_ESCAPE = 8
"""Operations that an escape takes beside those of its characters."""


class TooMuchWorkError(Exception):
    """An answer takes more operations than it may."""


@dataclass(slots=True)
class Work:
    """The operations that one answer has taken: each is one step (fold, unescape, search) over one character."""

    limit: int = OPERATIONS
    done: int = 0

    def spend(self, operations: int) -> None:
        """Count operations that are about to be done.

        Raises:
            TooMuchWorkError: they are more than are left.
        """
        self.done += operations
        if self.done > self.limit:
            raise TooMuchWorkError


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


ENOUGH = 12
"""Characters of a form in a row that count as the secret; ordinary text shares fewer by accident."""

_GRAM = 6
_STRIDE = ENOUGH - _GRAM + 1
"""A text is looked up at each seventh character: ENOUGH characters in a row contain the six that begin at one."""

_PUBLIC_PREFIX = re.compile(r"(?:[a-z]{2,12}[0-9]{0,2}[-_/])*")
"""Words and signs at the beginning of a secret, as `sk-ant-api03-` and `auth_tokens/`, which documents print."""


class _Form(NamedTuple):
    """One form of a secret, folded; `min_length` characters of it in a row count as the secret."""

    text: str
    min_length: int
    marker: str

    def is_at(self, text: str, start: int) -> bool:
        """Whether enough of it stands around the gram that begins at `start`, which it shares with the text."""
        around = text[max(0, start + _GRAM - self.min_length) : start + self.min_length]
        return any(around[at : at + self.min_length] in self.text for at in range(len(around) - self.min_length + 1))


@dataclass(slots=True)
class KnownSecrets:
    """The secrets of a run, and what stands for each in what is shown."""

    _by_gram: dict[str, tuple[_Form, ...]] = field(default_factory=dict)
    _short: list[_Form] = field(default_factory=list)
    """Forms of fewer than ENOUGH characters, which only count whole."""
    _shortest: int = ENOUGH
    """No string of fewer characters contains anything."""

    def add(self, secret: str, marker: str) -> None:
        """Look for a secret from now on; where little more than a public prefix is in it, only for all of it."""
        own = secret[_end_of_prefix(secret) :]
        is_part_enough = len(own) >= ENOUGH
        for text in dict.fromkeys(_list_forms(own if is_part_enough else secret)):
            self._add(_Form(text, ENOUGH if is_part_enough else len(text), marker))

    def find(self, string: str, work: Work) -> str | None:
        """What stands for the secret that is in a string, or None.

        Raises:
            TooMuchWorkError: there is no work left to look for it.
        """
        work.spend(PER_STRING)
        if len(string) < self._shortest and string.isascii():  # a ligature may fold to several characters
            return None
        markers = (self._find_form(text, work) for text in normal_forms(string, work))
        return next((marker for marker in markers if marker is not None), None)

    def _find_form(self, text: str, work: Work) -> str | None:
        work.spend(len(text) * (1 + len(self._short)))
        for form in self._short:
            if form.text in text:
                return form.marker
        forms_by_gram = self._by_gram
        shared = [at for at in range(0, len(text) - _GRAM + 1, _STRIDE) if text[at : at + _GRAM] in forms_by_gram]
        for start in shared:
            for form in forms_by_gram[text[start : start + _GRAM]]:
                work.spend(len(form.text))
                if form.is_at(text, start):
                    return form.marker
        return None

    def _add(self, form: _Form) -> None:
        if len(form.text) < ENOUGH:
            self._short.append(form)
            self._shortest = min(self._shortest, len(form.text))
            return
        alone = (form,)  # nearly each gram is in one form; a tuple of its own for each would double the memory
        for gram in {form.text[at : at + _GRAM] for at in range(len(form.text) - _GRAM + 1)}:
            self._by_gram[gram] = self._by_gram.get(gram, ()) + alone


def _end_of_prefix(secret: str) -> int:
    prefix = _PUBLIC_PREFIX.match(secret)
    return prefix.end() if prefix is not None else 0


def _list_forms(secret: str) -> Iterator[str]:
    """The forms in which a secret is looked for, folded as the strings are."""
    yield from normal_forms(secret, Work())
    raw = secret.encode("utf-8", "surrogatepass")
    yield raw.hex()
    for before in range(3):
        # Of base64 only the characters that no neighbouring byte shares: the secret may stand within a longer text.
        encoded = b64encode(bytes(before) + raw)[-(-before * 8 // 6) : (before + len(raw)) * 8 // 6]
        yield fold(encoded.decode())
