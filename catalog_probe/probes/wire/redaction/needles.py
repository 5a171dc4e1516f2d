"""Finds secrets in bytes that are bare (`peeled`): whole ones, and parts of which enough is there to matter."""

from __future__ import annotations

import base64
import re
from bisect import bisect_right
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import compress
from typing import TYPE_CHECKING, Literal, NamedTuple

from catalog_probe.probes.wire.redaction.unescaped import bare

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

ENOUGH = 12
"""So many characters of a secret in a row are hidden; fewer are found in ordinary text as well."""

GRAM = 8
STRIDE = 4
"""Of a text each word of GRAM bytes that begins at a multiple of STRIDE is looked up: a run of ENOUGH holds one."""

DISTINCT = 4
"""A run of fewer different characters than this is a line of dashes or a number of zeros, and no part of a secret."""

AROUND = 16
"""So many bytes on either side of such a word are looked at first: mostly they tell that there is not enough of it."""

MANY = 500
"""A text with more hits than this is hidden whole."""

CROWDED = 50_000
"""So is one with more places than this at which something might be."""

REMEMBERED = 5_000
"""Of so many parts of secrets it is remembered whether they are public."""


class Hit(NamedTuple):
    """Where a secret, or a part of it, stands, and what it is to be shown as."""

    start: int
    end: int
    marker: str

    @property
    def size(self) -> int:
        """In bytes."""
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class _Needle:
    """One form of a secret, bare; `least` of its bytes in a row are a hit."""

    form: bytes
    least: int
    marker: str


_BETWEEN = b"\0"
"""What stands between two forms: a gap, and so in none of them."""


@dataclass(slots=True)
class Needles:
    """The forms of all secrets of a run; secrets are added as answers hand them out."""

    public: Callable[[], bytes] = bytes
    """Words that are no secret, bare: what a secret has in common with one of them alone is no part of it.

    They are asked for when that is first in question.
    """
    shortest: int = ENOUGH
    """No text of fewer bytes holds anything that is looked for."""
    _known: set[bytes] = field(default_factory=set)
    _long: list[_Needle] = field(default_factory=list)
    _words: set[int] = field(default_factory=set)
    """Words of the long needles, as the machine reads eight bytes: one at least of those looked up in a hit."""
    _all: bytearray = field(default_factory=bytearray)
    """The long needles' forms, one after the other: a word that was met is looked up here, for there are few of those,
    and an index of all that could be would be the largest thing in a run's memory."""
    _starts: list[int] = field(default_factory=list)
    """Where each long needle's form begins there."""
    _standing: dict[bytes, tuple[tuple[_Needle, int], ...]] = field(default_factory=dict)
    """In which long needles each word that was met stands, and where."""
    _near: dict[tuple[int, bytes], bool] = field(default_factory=dict)
    """Of words with what stood around them, whether enough may be there: the same few come again."""
    _is_public: dict[bytes, bool] = field(default_factory=dict)
    """Of what secrets have in common with texts, whether it is public: the same few come again."""
    _short: dict[bytes, str] = field(default_factory=dict)
    _any_short: re.Pattern[bytes] | None = None

    def copy(self, public: Callable[[], bytes]) -> Needles:
        """The same needles, to which others can be added apart; `public` is what these have in common with texts."""
        return replace(
            self,
            public=public,
            _known=set(self._known),
            _long=list(self._long),
            _words=set(self._words),
            _all=bytearray(self._all),
            _starts=list(self._starts),
            _standing=dict(self._standing),
            _near=dict(self._near),
            _is_public={},
            _short=dict(self._short),
        )

    def add(self, secret: str, marker: str, *, whole: bool = False) -> None:
        """Look for a secret in all its forms from now on; only for all of it where it is to be found `whole`."""
        added: list[bytes] = []
        for form, least in _forms(secret):
            if form and form not in self._known:
                self._known.add(form)
                self._add(_Needle(form, len(form) if whole else min(least, len(form)), marker))
                added.append(form)
        if self._standing:  # what is near a word was found by looking the word up
            self._forget(added)

    @property
    def marker(self) -> str:
        """What is shown where it is not known whose part it is."""
        return self._long[0].marker

    def met(self, raw: bytes) -> bool:
        """Whether it is worth looking closer; quick, and hardly ever wrong."""
        if self._any_short is not None and self._any_short.search(raw):
            return True
        view, words = memoryview(raw), self._words
        if words.isdisjoint(_words(view, 0)) and words.isdisjoint(_words(view, STRIDE)):
            return False
        places = self._places(raw)
        return len(places) > CROWDED or any(self._may_be_enough(raw, place) for place in places)

    def hits(self, raw: bytes) -> Iterator[Hit]:
        """Every run of bytes that is enough of a secret; runs of different secrets may overlap.

        Where there are more than MANY, the whole text is one: that is an attack, and nothing to look at closely.
        """
        for count, hit in enumerate(self._each(raw)):
            if count == MANY:
                yield Hit(0, len(raw), hit.marker)
                return
            yield hit

    def _each(self, raw: bytes) -> Iterator[Hit]:
        if self._any_short is not None:
            for match in self._any_short.finditer(raw):
                yield Hit(match.start(), match.end(), self._short[match[0]])
        reached = 0
        places = self._places(raw)
        if len(places) > CROWDED:
            yield Hit(0, len(raw), self.marker)
            return
        for place in places:
            if place < reached:
                continue
            runs = (
                Hit(*run, needle.marker)
                for needle, offset in self._with(raw[place : place + GRAM])
                if self._is_enough(raw, run := _run(raw, place, needle.form, offset), needle)
            )
            longest = max(runs, key=lambda hit: hit.size, default=None)
            if longest is not None:
                reached = longest.end
                yield longest

    def _places(self, raw: bytes) -> list[int]:
        """Where a word stands that is part of a secret, in the order of the text."""
        view, is_one = memoryview(raw), self._words.__contains__
        found: list[int] = []
        for phase in (0, STRIDE):
            found += compress(range(phase, len(raw), GRAM), map(is_one, _words(view, phase)))
        return sorted(found)

    def _may_be_enough(self, raw: bytes, place: int) -> bool:
        """Whether enough of a needle may stand around this word of it: many texts have no more in common."""
        before = min(place, AROUND)
        around = raw[place - before : place + GRAM + AROUND]
        known = self._near.get((before, around))
        if known is None:
            known = any(
                self._is_enough(around, run, needle) or _goes_on(run, around)
                for needle, offset in self._with(raw[place : place + GRAM])
                if _long_enough(run := _run(around, before, needle.form, offset))
            )
            if len(self._near) < REMEMBERED:
                self._near[before, around] = known
        return known

    def _is_enough(self, raw: bytes, run: tuple[int, int], needle: _Needle) -> bool:
        start, end = run
        if end - start == len(needle.form):
            return True
        if end - start < needle.least:
            return False
        same = raw[start:end]
        return len(set(same)) >= DISTINCT and not self._common(same)

    def _common(self, same: bytes) -> bool:
        """Whether it stands in what is public."""
        known = self._is_public.get(same)
        if known is None:
            known = same in self.public()
            if len(self._is_public) < REMEMBERED:
                self._is_public[same] = known
        return known

    def _add(self, needle: _Needle) -> None:
        """Look for it from now on."""
        if needle.least < ENOUGH:
            self._short.setdefault(needle.form, needle.marker)
            self.shortest = min(self.shortest, len(needle.form))
            alternatives = sorted(self._short, key=len, reverse=True)
            self._any_short = re.compile(b"|".join(map(re.escape, alternatives)))
            return
        self._long.append(needle)
        self._starts.append(len(self._all))
        self._all += needle.form + _BETWEEN
        form = memoryview(needle.form)
        # Enough of it has `least - GRAM + 1` words, of which each STRIDE-th is looked up: STRIDE in a row are kept of
        # `apart` times GRAM, so that one that is kept is among them.
        apart = (needle.least - GRAM + 1) // GRAM
        for phase in range(STRIDE if apart else GRAM):
            self._words.update(_words(form, phase)[:: apart or 1])

    def _forget(self, forms: Iterable[bytes]) -> None:
        """Forget what was found of words that now stand in another needle as well."""
        words = {form[begin : begin + GRAM] for form in forms for begin in range(len(form) - GRAM + 1)}
        for word in self._standing.keys() & words:
            del self._standing[word]
        self._near = {
            (before, around): enough
            for (before, around), enough in self._near.items()
            if around[before : before + GRAM] not in words
        }

    def _with(self, word: bytes) -> tuple[tuple[_Needle, int], ...]:
        """The long needles in which a word of GRAM bytes stands, and where in each."""
        if word not in self._standing:
            self._standing[word] = tuple(self._looked_up(word))
        return self._standing[word]

    def _looked_up(self, word: bytes) -> Iterator[tuple[_Needle, int]]:
        at = self._all.find(word)
        while at >= 0:
            number = bisect_right(self._starts, at) - 1
            yield self._long[number], at - self._starts[number]
            at = self._all.find(word, at + 1)


@lru_cache(maxsize=4)
def needles_of(secrets: tuple[tuple[str, str], ...]) -> Needles:
    """The needles of (secret, marker) pairs, to be copied: making them takes long, and a process makes the same anew.

    What is added to them would be looked for in every other text as well.
    """
    needles = Needles()
    for secret, marker in secrets:
        needles.add(secret, marker)
    return needles


def _words(view: memoryview, phase: int) -> memoryview:
    """The words of eight bytes that begin at `phase` and follow each other."""
    return view[phase : phase + max(0, len(view) - phase & -GRAM)].cast("Q")


def _long_enough(run: tuple[int, int]) -> bool:
    return run[1] - run[0] >= ENOUGH


def _goes_on(run: tuple[int, int], around: bytes) -> bool:
    """Whether there may be more of it in the text than in these bytes of it."""
    return run[0] == 0 or run[1] == len(around)


def _run(raw: bytes, place: int, form: bytes, offset: int) -> tuple[int, int]:
    """How far text and form are the same around the GRAM bytes that are in both."""
    begin = place - offset
    if begin >= 0 and raw.startswith(form, begin):
        return begin, begin + len(form)
    before = min(place, offset)
    back = _alike(raw[place - before : place], form[offset - before : offset], "big")
    after = min(len(raw) - place, len(form) - offset)
    ahead = _alike(raw[place : place + after], form[offset : offset + after], "little")
    return place - back, place + ahead


def _alike(one: bytes, other: bytes, order: Literal["big", "little"]) -> int:
    """How many bytes two texts of one length have in common: at their end ("big") or at their beginning ("little")."""
    differing = int.from_bytes(one, order) ^ int.from_bytes(other, order)
    return (differing & -differing).bit_length() - 1 >> 3 if differing else len(one)


def _forms(secret: str) -> Iterator[tuple[bytes, int]]:
    """The secret bare, as bytes are written down, and that written down once more; how much of each form is enough."""
    spellings = _spellings(secret)
    for raw in spellings:
        yield bare(raw), ENOUGH
        yield from _written(raw, ENOUGH)
        yield raw.hex(":").encode(), 3 * ENOUGH - 1
    yield from _of_base32(spellings[0])  # as it is: in each case it would take as much memory as all the rest
    for once in (base64.b64encode(spellings[0]), spellings[0].hex().encode()):
        yield from _written(once, 2 * ENOUGH)
    if " " in secret:
        yield secret.lower().replace(" ", "+").encode("utf-8", "surrogatepass"), ENOUGH


def _written(raw: bytes, enough: int) -> Iterator[tuple[bytes, int]]:
    """Bytes in hexadecimal and in base64, as text has them."""
    yield raw.hex().encode(), 2 * enough
    for before in range(3):
        # The characters that belong to the bytes alone, wherever in a longer text they stand.
        first = -(-before * 8 // 6)
        encoded = base64.b64encode(b"\0" * before + raw)[first : (before + len(raw)) * 8 // 6].lower()
        least = enough * 8 // 6 - 1  # a part of the bytes may begin at any of the three places, and own one fewer
        yield encoded, least
        yield encoded.translate(_URLSAFE), least


def _of_base32(raw: bytes) -> Iterator[tuple[bytes, int]]:
    """Bytes in base32, from each of the five places of a group at which they may begin."""
    for before in range(5):
        first = -(-before * 8 // 5)
        encoded = base64.b32encode(b"\0" * before + raw)[first : (before + len(raw)) * 8 // 5]
        yield encoded.lower(), ENOUGH * 8 // 5 - 1


_URLSAFE = bytes.maketrans(b"+/", b"-_")


def _spellings(secret: str) -> list[bytes]:
    """The bytes of a secret in each case; of one that is no UTF-8, also those that the environment held."""
    cases = dict.fromkeys((secret, secret.lower(), secret.upper()))
    spelt = [each.encode("utf-8", "surrogatepass") for each in cases]
    with suppress(UnicodeEncodeError):  # half a surrogate pair that stands for no byte
        spelt.append(secret.encode("utf-8", "surrogateescape"))
    return list(dict.fromkeys(spelt))
