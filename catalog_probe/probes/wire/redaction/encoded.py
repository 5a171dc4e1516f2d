"""Runs of a text that are bytes written down, in base64, hexadecimal or as numbers; and which bytes those are.

What is written down may itself be a text in any dress, JSON for instance, with a secret at any place of it.
"""

from __future__ import annotations

import re
import zlib
from binascii import a2b_base64
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from catalog_probe.probes.wire.redaction.needles import ENOUGH
from catalog_probe.probes.wire.redaction.unescaped import bare, levels

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator

DEEPEST = 3
"""So often may bytes be written down again."""

READABLE = 0.75
"""The share of letters, digits and signs from which on bytes are taken for a text, with escapes of its own."""

SHORT = 256
"""Bytes of what is no text at all (an image) of which more are not looked at: what stands in it as it is, is found."""

MOST_INFLATED = 65_536
"""Bytes of what was compressed that are looked at."""

_COMPRESSED = re.compile(rb"\x1f\x8b\x08|\x78[\x01\x5e\x9c\xda]")
"""How gzip and zlib begin (RFC 1950, RFC 1952)."""

MOST_BEGUN = 100
"""So many beginnings of a reading are tried: what is before one may read like base64 as well, as a path does."""
_GZIP_OR_ZLIB = zlib.MAX_WBITS | 32

_UNPRINTED = bytes([*range(1, 0x20), *range(0x7F, 0x100)])
"""The zeros of UTF-16 are not among them."""


class Run(NamedTuple):
    """Where bytes stand that are written down, and one reading of them: a run is read from each place it may begin."""

    start: int
    end: int
    raw: bytes


def written_down(raw: bytes, deepest: int = DEEPEST, *, known: Container[bytes] = ()) -> Iterator[Run]:
    """Each reading of each run bare, and of what reads like a text all levels, and the runs within.

    Stretches that are `known` to hold nothing are passed over.
    """
    for run in _inflated_too(runs(raw, known=known)):
        printed = _printed(run.raw)
        if printed < ENOUGH:
            continue  # most names of requests read like this: so few letters, digits and signs are no part of a secret
        readable = printed >= READABLE * len(run.raw)
        if readable or len(run.raw) <= SHORT:
            yield run._replace(raw=bare(run.raw))
        if not readable:
            continue
        for level in islice(levels(run.raw), 1, None):
            yield run._replace(raw=level)
        if deepest > 1:
            yield from (run._replace(raw=within.raw) for within in written_down(run.raw, deepest - 1))


def _inflated_too(readings: Iterable[Run]) -> Iterator[Run]:
    """Readings of runs, and what was compressed to that which is in them."""
    for run in readings:
        yield run
        for begun in islice(_COMPRESSED.finditer(run.raw), MOST_BEGUN):
            with suppress(zlib.error):
                packed = memoryview(run.raw)[begun.start() :]
                yield run._replace(raw=zlib.decompressobj(_GZIP_OR_ZLIB).decompress(packed, MOST_INFLATED))


def _printed(raw: bytes) -> int:
    return len(raw.translate(None, _UNPRINTED))


def _is_worth_it(read: bytes) -> bool:
    """Whether a reading may hold enough of a secret, as it is or compressed: most names of requests do not."""
    return _printed(read) >= ENOUGH or _COMPRESSED.search(read) is not None


def stretches(raw: bytes) -> set[bytes]:
    """What may be base64 or hexadecimal, on one line or several: in headers and addresses mostly the same few names."""
    return {raw[start:end] for start, end in _places(raw)}


def stands_apart(raw: bytes) -> bool:
    """Whether bytes may be written down as pairs of digits or as numbers: these are written with the same signs."""
    return APART in raw.translate(_APART[_PAIRS])


def runs(raw: bytes, *, known: Container[bytes] = ()) -> Iterator[Run]:
    """Every run in a text that is long enough to hold enough of a secret, but for stretches that are `known`."""
    for start, end in _places(raw):
        stretch = raw[start:end]
        if stretch in known:
            continue
        written = stretch.translate(_STANDARD, _WHITE)
        for first in range(4):
            single = (len(written) - first) % 4 == 1  # a single character more is of no byte
            held = a2b_base64((written[first:-1] if single else written[first:]) + _PADDING)
            if _is_worth_it(held):
                yield Run(start, end, held)
        for digits in _HEXADECIMAL.findall(written) if HEXADECIMAL in written.translate(_DIGITS_OF_BYTES) else ():
            for first in range(2):
                yield Run(start, end, bytes.fromhex(digits[first : first + (len(digits) - first) // 2 * 2].decode()))
    if not stands_apart(raw):
        return
    for pattern, read in ((_PAIRS, _of_pairs), (_NUMBERS, _of_numbers)):
        for start, end in _stretches(raw, _APART[pattern], APART):
            if len(raw[start:end].translate(None, _DIGITS_OF_PAIRS)) < ENOUGH - 1:
                continue  # nothing stands apart: to look for it takes long where a long text is digits alone
            for match in pattern.finditer(raw, start, end):
                yield Run(*match.span(), read(match[0]))


def _places(raw: bytes) -> list[tuple[int, int]]:
    """Where base64 or hexadecimal may stand: on one line each, then on several."""
    lines = [*_stretches(raw, _BASE64, BASE64)]
    if len(lines) > 1 and b"\n" in raw:
        lines += [*_wrapped(raw, lines)]
    return lines


def _stretches(raw: bytes, marked: bytes, least: bytes) -> Iterator[tuple[int, int]]:
    """Where so many bytes in a row are all marked by a table; a text with none is passed over as quickly as it can."""
    shown = raw.translate(marked)
    start = shown.find(least)
    while start >= 0:
        end = shown.find(b" ", start)
        if end < 0:
            end = len(raw)
        yield start, end
        start = shown.find(least, end)


def _wrapped(raw: bytes, stretches: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Where stretches of base64 or hexadecimal stand on lines that follow each other, as mails and `base64` wrap it."""
    begun, ended, several = 0, 0, False
    for start, end in stretches:
        if ended and start - ended <= MOST_BETWEEN_LINES and not raw[ended:start].strip(_WHITE):
            ended, several = end, True
            continue
        if several:
            yield begun, ended
        begun, ended, several = start, end, False
    if several:
        yield begun, ended


def _marking(alphabet: bytes) -> bytes:
    return bytes(b"+ "[byte not in alphabet] for byte in range(256))


def _of_pairs(text: bytes) -> bytes:
    return bytes.fromhex(_NO_PAIR.sub(b"", text).decode())


def _of_numbers(text: bytes) -> bytes:
    return bytes(number for each in _NUMBER.findall(text) if (number := int(each)) < 256)


MARK = b"+"
"""What stands for each byte of an alphabet, in a row of so many:"""

BASE64 = MARK * 15
"""Characters of base64 that are of ENOUGH bytes alone, wherever in it those begin."""

HEXADECIMAL = MARK * 24
"""Digits of ENOUGH bytes."""

APART = MARK * 35
"""Characters that ENOUGH bytes take at least, written down in two digits each and apart."""

_PADDING = b"=="
"""What base64 ends in at most; more of it than is due is passed over."""

MOST_BETWEEN_LINES = 12
"""Characters of white space, with which a line ends and the next one is put in."""

_WHITE = b" \t\r\n"
_LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_DIGITS = b"0123456789"
_SEPARATORS = b"-:,;.| \t\r\n"
_BASE64 = _marking(_LETTERS + _DIGITS + b"+/-_")
_STANDARD = bytes.maketrans(b"-_", b"+/")
_DIGITS_OF_BYTES = _marking(_DIGITS + b"ABCDEFabcdef")
_HEXADECIMAL = re.compile(rb"[0-9A-Fa-f]{24,}+")
_PAIRS = re.compile(rb"(?:0x)?[0-9A-Fa-f]{2}(?:[-:,;.|\s]{1,3}(?:0[xX])?[0-9A-Fa-f]{2}(?![0-9A-Fa-f])){11,}+")
"""Bytes as .NET, C and dumps of memory write them."""

_NO_PAIR = re.compile(rb"0[xX]|[^0-9A-Fa-f]")
_NUMBERS = re.compile(rb"\d{1,3}(?:[-:,;.|\s]{1,3}\d{1,3}(?!\d)){11,}+")
"""Bytes as JSON and Python write them."""

_NUMBER = re.compile(rb"\d+")
_DIGITS_OF_PAIRS = _DIGITS + b"ABCDEFabcdefxX"
_APART = {_PAIRS: _marking(_DIGITS_OF_PAIRS + _SEPARATORS), _NUMBERS: _marking(_DIGITS + _SEPARATORS)}
