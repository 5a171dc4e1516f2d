"""An assertion: one thing that a record states, under a label, of one aspect at a place. The unit of evidence."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from catalog_probe.catalog.text.json_value import Json


class Basis(StrEnum):
    """Whether a row of the documents says it, or we chose it because they are silent."""

    DOCUMENTED = "documented"
    ASSUMED = "assumed"


ASK = "ask"
"""In place of a label: what is assumed of the request (`ask/path`, `ask/header:…`, `ask/body:…`), not of an answer."""

EVERY = "*"
"""In place of a label: each label of the record. In place of an aspect: each aspect of the label."""

_KEY = re.compile(r"(?P<label>[a-z0-9_]+|\*)/(?P<aspect>[a-z_]+|\*)(?::(?P<place>.+))?")


@dataclass(frozen=True, slots=True, order=True)
class Key:
    """What names an assertion within its record: `answer/header:retry-after`. No value and no endpoint is in it.

    `place` narrows the aspect: a header's name, a JSON pointer, an event; empty where the aspect is only one.
    """

    label: str
    aspect: str
    place: str = ""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a key.

        Raises:
            ValueError: with one line saying what a key looks like.
        """
        return cls(*_parsed(text))

    def covers(self, other: Key) -> bool:
        """Whether this key, in which `*` may stand for a label or an aspect, names the other."""
        return (
            self.label in (other.label, EVERY)
            and self.aspect in (other.aspect, EVERY)
            and (self.place == other.place or self.aspect == EVERY)
        )

    @property
    def within(self) -> str:
        """The key without its label."""
        return f"{self.aspect}:{self.place}" if self.place else self.aspect

    def __str__(self) -> str:
        return f"{self.label}/{self.within}"


@lru_cache(maxsize=4096)
def _parsed(text: str) -> tuple[str, str, str]:
    """Of a key its label, aspect and place. Records and results write the same few hundred keys again and again."""
    match = _KEY.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} names no assertion: it should read <label>/<aspect>[:<place>]")
    return match["label"], match["aspect"], match["place"] or ""


@dataclass(frozen=True, slots=True)
class Assertion:
    """One thing that a record states, how sure it is, and what it takes to look at it."""

    address: str
    key: Key
    documented: Json
    """What is asserted: a value, a rule or a schema."""
    basis: Basis
    source: str = ""
    """The rows that say it, as `2:7.3#row`, parted by `; `; empty where it is assumed, but for a relation's place."""
    assumed: str = ""
    """Why we chose it; empty where it is documented."""
    alternatives: tuple[Json, ...] = ()
    """All values that conform, where the documents leave a choice; `documented` is the first."""
    out_of_reach: str = ""
    """Why no client can bring it about, or empty."""
    resolved: str = ""
    """What an assumption turned out to be: the observed class, or empty while nobody saw."""
    of_surface: bool = False
    """Whether it is a member that the envelope assumes, for all answers of its surface alike, and not the record."""
    optional: bool = False
    """Whether what it speaks of may be absent: then nobody need ever see it."""
    since: str = ""
    """The first revision under which it holds; empty where it holds under the oldest."""
    until: str = ""
    """The first revision under which it holds no more; empty where it holds under the newest."""
    depends: tuple[str, ...] = ()
    """Labels that must have been seen as documented before this one means anything."""
    others: tuple[str, ...] = ()
    """Labels of the exchanges with whose values it is compared."""

    @property
    def place_alone(self) -> bool:
        """Whether just where it stands is assumed: a value stated to the letter is documented wherever it stands.

        So is a relation for which a row is cited: assumed of it is the place where its values are looked for.
        """
        if self.basis is not Basis.ASSUMED:
            return False
        if self.key.aspect == "relation":
            return bool(self.source)
        stated_to_the_letter = isinstance(self.documented, dict) and not {"const", "enum"}.isdisjoint(self.documented)
        return self.key.aspect == "body" and stated_to_the_letter

    @property
    def outcome_alone(self) -> bool:
        """Whether just which status it is is assumed: that it is a success, or a refusal, is what the documents say."""
        return self.basis is Basis.ASSUMED and self.key.within == "status"

    @property
    def id(self) -> str:
        """`<address>#<label>/<aspect>[:<place>]`: it lives as long as the statement."""
        return f"{self.address}#{self.key}"
