"""A text without case, gaps and escapes, level by level: what a secret looks like once a server's dress is off.

Everything here is bytes, since a server may send what is no text. A level remembers where each of its bytes stood.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import lru_cache
from html.entities import html5
from typing import TYPE_CHECKING
from unicodedata import normalize

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

MAX_LEVELS = 6
"""So often is an escape taken off an escape: JSON in JSON in JSON, percent-encoded twice, has five."""

_ASCII_GAPS = bytes([*range(0x21), 0x7F])
_LOWER = bytes(range(256)).lower()
_CONTROL = rb"(?:\x1b\[|\xc2\x9b)[0-?]*+[!-/]*+[@-~]|\x1b[()][0-9a-z]"
"""What a terminal takes for itself, in lower case: a control sequence (ECMA-48, 5.4), as of a colour or of `grep`, and
the choice of a set of characters (ECMA-35), as `tput sgr0` ends one."""

_GAPS = re.compile(
    rb"(?:" + _CONTROL + rb"|[\x00-\x20\x7f]"  # controls and white space
    rb"|\xc2[\x80-\xa0\xad]|\xcc[\x80-\xbf]|\xcd[\x80-\xaf]|\xd8\x9c"  # further controls, soft hyphen, accents, joiners
    rb"|\xe1(?:\x85[\x9f\xa0]|\x9a\x80|\x9e[\xb4\xb5]|\xa0[\x8b-\x8f])"
    rb"|\xe2(?:\x80[\x80-\x8f\xa8-\xaf]|\x81[\x9f-\xaf]|\xa0\x80)"  # spaces, zero-width, bidirectional controls
    rb"|\xe3(?:\x80\x80|\x85\xa4)|\xef(?:\xb8[\x80-\x8f]|\xbb\xbf|\xbe\xa0|\xbf[\xb0-\xbb])"
    rb"|\xf0\x9d\x85[\xb3-\xba]|\xf3\xa0[\x80-\xbf][\x80-\xbf])++"  # of music, tags and selectors
)
"""What a reader does not see between two characters, as UTF-8."""

_NAMED = {
    name.rstrip(";").lower().encode(): value.encode()
    for name, value in html5.items()
    if len(value) == 1 and (value.isascii() or _GAPS.fullmatch(value.encode()))
}
_ESCAPE = re.compile(
    rb"%u([0-9a-f]{4})|[%=]([0-9a-f]{2})"
    rb"|&#0*+(\d{1,7});?|&#x0*+([0-9a-f]{1,6});?|&(" + b"|".join(sorted(_NAMED, reverse=True)) + rb");?"
    rb"|\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})|\\u0000([0-9a-f]{4})|\\u([0-9a-f]{4})"
    rb"|\\[xu]\{([0-9a-f]{1,6})\}|\\n\{u\+([0-9a-f]{1,6})\}|\\x([0-9a-f]{2})|\\o\{([0-7]{1,3})\}|\\([0-3][0-7]{2}|[4-7][0-7](?![0-7]))"
    rb"|\\([!-/:-@\[-`{-~]|[bfnrtv0])"
    rb"|(\xef\xbc[\x81-\xbf]|\xef\xbd[\x80-\x9e]|\xef\xac[\x80-\x86]|\xe2[\x84\x85\x91-\x93][\x80-\xbf]"
    rb"|\xf0\x9d[\x90-\x9f][\x80-\xbf]|\xf0\x9f(?:\x84[\x80-\xbf]|\x85[\x80-\x8f]|\xaf[\xb0-\xb9])"
    rb"|\xc2[\xaa\xb2\xb3\xb9\xba]|\xc5\xbf|\xca[\xb0-\xb8]|\xcb[\xa0-\xa4]|\xe2\x81[\xb0-\xbf]|\xe2\x82[\x80-\x9c]"
    rb"|\xe1\xb4[\xac-\xbf]|\xe1\xb5[\x80-\xaa]|\xe1\xb6[\x9b-\xbf])"
)
"""One escape of a URL, a mail, of HTML, of JSON or of a programming language, in lower case; or a letter or sign in the
width of an ideograph, tied to the next, in a circle or square, in a mathematician's face, or raised or lowered."""

_TAG = re.compile(rb"<(?:/?[a-z][^<>]{0,200}+|!--[^<>]{0,200}+)>")
"""One tag or remark of HTML, in lower case."""

_JOINT = re.compile(rb"[\"'](?:[,+.&]|\|\|)?(?:[\"']?\d{1,5}[\"']?:)?[\"']")
"""Where one piece of a text ends and the next begins, as lists of letters and programs have them: `"a", "b"`,
`'a' + 'b'`, `{"0": "a", "1": "b"}`."""

_QUOTED_PRINTABLE = re.compile(rb"(?:=[0-9a-f]{2}){4}")
"""So many escapes of a mail in a row are no accident: single ones stand in every query."""

_WHITE = b"bfnrtv0"

ESCAPING = (b"%", b"&", b"\\")
"""With one of these an escape begins."""

_DRESSED = (
    *(b"\xef\xbc", b"\xef\xbd", b"\xef\xac", b"\xe2\x84", b"\xe2\x85", b"\xe2\x91", b"\xe2\x92", b"\xe2\x93"),
    *(b"\xf0\x9d", b"\xf0\x9f\x84", b"\xf0\x9f\x85", b"\xf0\x9f\xaf", b"\xe1\xb4", b"\xe1\xb5", b"\xe1\xb6"),
    *(
        b"\xc2\xaa",
        b"\xc2\xb2",
        b"\xc2\xb3",
        b"\xc2\xb9",
        b"\xc2\xba",
        b"\xc5\xbf",
        b"\xca",
        b"\xcb",
        b"\xe2\x81",
        b"\xe2\x82",
    ),
)
"""And with these a letter that is only shown otherwise: none stands in ASCII."""


def bare(raw: bytes) -> bytes:
    """Bytes in lower case and without gaps."""
    if raw.isascii() and b"\x1b" not in raw:
        return raw.translate(_LOWER, _ASCII_GAPS)
    return _replaced(_GAPS, raw.lower(), _nothing)


def levels(raw: bytes) -> Iterable[bytes]:
    """The text bare, then without its escapes, then without those that came to light, as long as there are any.

    Then the same without the tags of a page, those that stand there and those that came to light: it is no escape to
    stand between two brackets. And at last without what is between two pieces in quotes.
    """
    bared = bare(raw)
    return _levels(bared) if b"<" in bared or _is_quoted(bared) or is_escaped(bared) else (bared,)


def _is_quoted(bared: bytes) -> bool:
    return b'"' in bared or b"'" in bared


def _levels(bared: bytes) -> Iterator[bytes]:
    yield bared
    last = bared
    for last in _unescaped(bared):
        yield last
    for tagged in (bared, last) if last is not bared else (bared,):
        if b"<" in tagged and (untagged := _replaced(_TAG, tagged, _nothing)) != tagged:
            yield untagged
            yield from _unescaped(untagged)
        if _is_quoted(tagged) and (joined := _replaced(_JOINT, tagged, _nothing)) != tagged:
            yield joined


def _unescaped(bared: bytes) -> Iterator[bytes]:
    for _ in range(MAX_LEVELS):
        if not is_escaped(bared):
            return
        peeled = bare(_replaced(_ESCAPE, bared, _decoded))
        if peeled == bared:
            return
        bared = peeled
        yield bared


def is_escaped(bared: bytes) -> bool:
    """Whether anything in what is bare may stand for something else."""
    if any(map(bared.__contains__, ESCAPING)) or (b"=" in bared and _QUOTED_PRINTABLE.search(bared)):
        return True
    return not bared.isascii() and any(sign in bared for sign in _DRESSED)


@dataclass(frozen=True, slots=True)
class Level:
    """One level of a text, and how its bytes lie in the text."""

    raw: bytes
    _edits: tuple[_Edits, ...] = ()

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Where bytes of this level stand in the text itself."""
        for edits in reversed(self._edits):
            start, end = edits.before(start)[0], edits.before(end - 1)[1]
        return start, end


def placed_levels(raw: bytes) -> Iterator[Level]:
    """The same levels, each with where its bytes stood: slower, for a text in which something was found."""
    bared = _edited(Level(raw.lower()), _GAPS, _nothing)
    yield bared
    last = bared
    for last in _unescaped_in_place(bared):
        yield last
    for tagged in (bared, last) if last is not bared else (bared,):
        untagged = _edited(tagged, _TAG, _nothing)
        if untagged is not tagged:
            yield untagged
            yield from _unescaped_in_place(untagged)
        joined = _edited(tagged, _JOINT, _nothing)
        if joined is not tagged:
            yield joined


def _unescaped_in_place(level: Level) -> Iterator[Level]:
    for _ in range(MAX_LEVELS):
        peeled = _edited(_edited(level, _ESCAPE, _decoded), _GAPS, _nothing)
        if peeled.raw == level.raw:
            return
        level = peeled
        yield level


def _replaced(pattern: re.Pattern[bytes], raw: bytes, change: Callable[[bytes], bytes]) -> bytes:
    """What `re.sub` would return: that takes a hundred bytes for each match until the last is found."""
    plain = bytearray()
    done = 0
    for match in pattern.finditer(raw):
        start, end = match.span()
        plain += raw[done:start]
        plain += change(match[0])
        done = end
    plain += raw[done:]
    return bytes(plain)


def _nothing(_: bytes) -> bytes:
    return b""


@lru_cache(maxsize=4096)
def _decoded(escape: bytes) -> bytes:
    """What an escape stands for: the same few come again and again, a million times where somebody means harm."""
    match = _ESCAPE.fullmatch(escape)
    assert match is not None
    wide, percent, decimal, number, name, high, low, long, unit, braced, named, byte, octal, digits, sign, dressed = (
        match.groups()
    )
    if dressed is not None:
        return normalize("NFKC", dressed.decode()).encode()
    if sign is not None:
        return b"" if sign in _WHITE else sign
    if name is not None:
        return _NAMED[name]
    if high is not None:
        return chr(0x10000 + ((int(high, 16) & 0x3FF) << 10) + (int(low, 16) & 0x3FF)).encode()
    if (of_byte := percent or byte) is not None:
        return bytes([int(of_byte, 16)])
    if (eight := octal or digits) is not None:
        return bytes([int(eight, 8) & 0xFF])
    sixteen = wide or number or long or unit or braced or named
    point = int(decimal) if decimal is not None else int(sixteen, 16)
    return chr(point).encode("utf-8", "surrogatepass") if point <= 0x10FFFF else match[0]


@dataclass(slots=True)
class _Edits:
    """What was put in the place of what, in the order of the text."""

    stands: array[int] = field(default_factory=lambda: array("I"))
    """Where each replacement begins; the other three are of the same edit."""
    length: array[int] = field(default_factory=lambda: array("I"))
    stood: array[int] = field(default_factory=lambda: array("I"))
    """Where what it replaced began."""
    ended: array[int] = field(default_factory=lambda: array("I"))

    def before(self, position: int) -> tuple[int, int]:
        """Where a byte stood before these edits: itself, or all that it was made of."""
        number = bisect_right(self.stands, position) - 1
        if number < 0:
            return position, position + 1
        within = position - self.stands[number]
        if within < self.length[number]:
            return self.stood[number], self.ended[number]
        at = self.ended[number] + within - self.length[number]
        return at, at + 1


def _edited(level: Level, pattern: re.Pattern[bytes], change: Callable[[bytes], bytes]) -> Level:
    edits = _Edits()
    changed = bytearray()
    done = 0
    for match in pattern.finditer(level.raw):
        new = change(match[0])
        changed += level.raw[done : match.start()]
        edits.stands.append(len(changed))
        edits.length.append(len(new))
        edits.stood.append(match.start())
        edits.ended.append(match.end())
        changed += new
        done = match.end()
    if not edits.stands:
        return level
    changed += level.raw[done:]
    return Level(bytes(changed.lower()), (*level._edits, edits))
