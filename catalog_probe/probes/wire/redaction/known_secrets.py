"""Finds the secrets of a run in strings: as they are, in hexadecimal and in base64, whole or in part."""

from __future__ import annotations

import re
from base64 import b64encode
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from catalog_probe.probes.wire.redaction.normal_form import fold, normal_forms
from catalog_probe.probes.wire.redaction.work import PER_STRING, Work

if TYPE_CHECKING:
    from collections.abc import Iterator

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
