"""Each dress by itself, of a secret that has no sign in which another one might begin; and what only looks like one."""

from __future__ import annotations

import base64
import gzip
import json
import zlib
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.probes.wire.redaction.redact import Redactor
from catalog_probe.probes.wire.redaction.unescaped import levels, placed_levels

if TYPE_CHECKING:
    from collections.abc import Callable

SECRET = "Canary_9fQ2zX7wKd4LmT0vB8rY1p"
MARKER = "${K}"
TWELVE = SECRET[:12]
PLAIN = "So much of a text as is more than what is looked at though it is none. " * 5

MATHEMATICAL = {
    **{ord("A") + number: 0x1D400 + number for number in range(26)},
    **{ord("a") + number: 0x1D41A + number for number in range(26)},
    **{ord("0") + number: 0x1D7CE + number for number in range(10)},
}


def swapped(text: str) -> bytes:
    """In a case of its own: what was written down from this is no form of the secret."""
    return text.swapcase().encode()


def in_base64(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


LONG = json.dumps([*map(str, range(50)), SECRET.swapcase(), *map(str, range(50))]).encode()


def wrapped(text: str, end: str, size: int) -> str:
    return end.join(text[at : at + size] for at in range(0, len(text), size))


RAISED = str.maketrans("abcdefghijklmnoprstuvwxyz0123456789", "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ⁰¹²³⁴⁵⁶⁷⁸⁹")
LOWERED = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
SQUARED = {ord("A") + number: 0x1F130 + number for number in range(26)}
ITALIC = {ord("a") + number: 0x1D44E + number for number in range(26)} | {ord("h"): 0x210E}

DRESSES: dict[str, str] = {
    "a tag within": f"{TWELVE[:6]}<wbr>{TWELVE[6:]}",
    "a remark within": f"{TWELVE[:6]}<!-- so -->{TWELVE[6:]}",
    "a tag within, escaped": f"{TWELVE[:6]}&lt;wbr&gt;{TWELVE[6:]}",
    "a tag within, in JSON of JSON": f"{TWELVE[:6]}\\u003cb\\u003e{TWELVE[6:]}",
    "a tag within, in percent, and an escape within that": f"{TWELVE[:6]}%3Cb%3E%26%23{ord(TWELVE[6])}%3B{TWELVE[7:]}",
    "a tag within, and an escaped bracket in it": f'{TWELVE[:6]}<b a="&gt;">{TWELVE[6:]}',
    "escapes within tags": f"<b>{TWELVE[:6]}</b>{''.join(f'&#{ord(each)};' for each in TWELVE[6:])}",
    "a letter by name": TWELVE.replace("_", "&lowbar;"),
    "a letter by name, without an end": TWELVE.replace("_", "&lowbar"),
    "a gap by name": f"{TWELVE[:6]}&nbsp;{TWELVE[6:]}",
    "a gap by a name that goes on as another's": f"{TWELVE[:6]}&emsp13;{TWELVE[6:]}",
    "a colour": f"{TWELVE[:6]}\x1b[1;31m{TWELVE[6:]}",
    "a colour, in one byte": f"{TWELVE[:6]}\x9b31m{TWELVE[6:]}",
    "what grep leaves of a colour": f"\x1b[01;31m\x1b[K{TWELVE[:6]}\x1b[m\x1b[K{TWELVE[6:]}",
    "what tput leaves of one": f"{TWELVE[:6]}\x1b(B\x1b[m{TWELVE[6:]}",
    "accents": "\u0301".join(TWELVE),
    "a list of letters": json.dumps(list(TWELVE)),
    "a list of letters, in JSON of JSON": json.dumps(json.dumps(list(TWELVE))),
    "a list of letters, of Python": repr(list(TWELVE)),
    "letters by number": json.dumps(dict(enumerate(TWELVE))),
    "letters by number, of Python": repr(dict(enumerate(TWELVE))),
    "pieces of a program": f'"{TWELVE[:5]}" + "{TWELVE[5:9]}"\n  + "{TWELVE[9:]}"',
    "pieces of SQL": f"'{TWELVE[:5]}' || '{TWELVE[5:]}'",
    "pieces of C": f'"{TWELVE[:5]}"\n"{TWELVE[5:]}"',
    "letters in base64 of JSON": in_base64(json.dumps(list(TWELVE)).encode()),
    "octal, as short as may be": "".join(f"\\{byte:o}" for byte in TWELVE.encode()),
    "raised": TWELVE.translate(RAISED),
    "lowered": TWELVE.translate(LOWERED),
    "in squares": TWELVE.upper().translate(SQUARED),
    "in italics": TWELVE.translate(ITALIC),
    "a new line, escaped": f"{TWELVE[:6]}\\n{TWELVE[6:]}",
    "as in a mail": "".join(f"={byte:02X}" for byte in TWELVE.encode()),
    "full width": TWELVE.translate({each: each + 0xFEE0 for each in range(0x21, 0x7F)}),
    "letters in pairs": json.dumps(TWELVE.translate(MATHEMATICAL)),
    "every byte in percent": "".join(f"%{byte:02x}" for byte in TWELVE.encode()),
    "percent, six times": "%" + "25" * 5 + f"{ord(TWELVE[0]):02x}{TWELVE[1:]}",
    "base64": in_base64(swapped(TWELVE)),
    "base64, before a letter more": f"{in_base64(swapped(TWELVE))}A",
    "base64, after another stretch": f"{'A' * 40}.{in_base64(swapped(SECRET))}",
    "base64 in base64 in base64": in_base64(in_base64(in_base64(swapped(SECRET)).encode()).encode()),
    "hexadecimal": swapped(SECRET).hex(),
    "hexadecimal, just enough": swapped(TWELVE).hex(),
    "hexadecimal, after half a byte": f"a{swapped(SECRET).hex()}",
    "hexadecimal within base64's alphabet": f"zz/{swapped(SECRET).hex()}",
    "gzip": in_base64(gzip.compress(swapped(SECRET), mtime=0)),
    "zlib, after another text": f"{in_base64(PLAIN.encode())} {in_base64(zlib.compress(swapped(SECRET)))}",
    "gzip, on lines as of a mail": base64.encodebytes(gzip.compress(LONG, mtime=0)).decode(),
    "gzip, on lines that are put in": wrapped(in_base64(gzip.compress(LONG, mtime=0)), "\r\n    ", 64),
    "zlib, on lines of hexadecimal": wrapped(zlib.compress(LONG).hex(), "\n", 32),
    "hexadecimal, on lines": wrapped(swapped(SECRET).hex(), "\n", 16),
    "a long text": in_base64(PLAIN.encode() + swapped(SECRET)),
    "a long text in UTF-16": in_base64(f"{PLAIN}{SECRET.swapcase()}".encode("utf-16-le")),
    "a long text with much white space": in_base64(json.dumps([SECRET.swapcase(), *range(40)], indent=9).encode()),
    "numbers": json.dumps(list(swapped(TWELVE))),
    "numbers in two digits": ",".join(str(each) for each in TWELVE.upper().encode()),
    "pairs": swapped(TWELVE).hex(" "),
    "pairs, after digits alone": f"{'1' * 40}({swapped(TWELVE).hex(' ')}",
    "pairs of C": ", ".join(f"0X{byte:02X}" for byte in swapped(TWELVE)),
}


@pytest.mark.parametrize("dress", DRESSES)
def test_each_dress_is_taken_off(dress: str) -> None:
    assert MARKER in Redactor({SECRET: MARKER}).text(f"({DRESSES[dress]})")


@given(
    st.lists(st.sampled_from(["Ab", "<b>", "&lt;", "&gt;", "%3c", "b%3e", "\\u003c", "=41=42=43=44", " ", "é", "<"]))
)
def test_of_each_text_that_is_looked_at_it_is_known_where_it_stands(pieces: list[str]) -> None:
    raw = "".join(pieces).encode()
    assert set(levels(raw)) <= {each.raw for each in placed_levels(raw)}


def test_a_dress_is_taken_off_beside_a_stretch_that_holds_nothing() -> None:
    redactor, other = Redactor({SECRET: MARKER}), "a/stretch/that/holds/nothing"
    assert redactor.text(other) == other
    assert MARKER in redactor.text(f"{other}.{in_base64(swapped(SECRET))}")


@pytest.mark.parametrize(
    "within",
    [
        "!",
        "~",
        "=66",
        "é=66",
        "<b",
        ">b<",
        "&lt",
        "&#1114112;",
        "&#9999999;",
        "\\u{110000}",
        "\\ud800",
        "%zz",
        "&none;",
        " 256" * 12,
    ],
)
def test_what_a_reader_sees_is_no_gap(within: str) -> None:
    text = f"{TWELVE[:6]}{within}{TWELVE[6:]}"
    assert Redactor({SECRET: MARKER}).text(text) == text


def owned(encode: Callable[[bytes], bytes], bits: int, before: int, part: bytes) -> str:
    """The characters of so many bits each that belong to a part alone, where so many bytes stand before it."""
    first, last = -(-before * 8 // bits), (before + len(part)) * 8 // bits
    return encode(b"~" * before + part + b"~" * 5)[first:last].decode()


PARTS = (TWELVE.encode(), SECRET[5:17].encode(), SECRET[-12:].encode())
TWICE = base64.b64encode(SECRET.encode()).lower(), SECRET.encode().hex().encode()


@pytest.mark.parametrize(
    "told",
    [
        *(part.hex() for part in PARTS),
        *(part.hex(":") for part in PARTS),
        *(once[at : at + 24].hex() for once in TWICE for at in (0, 6)),
        *(owned(base64.b64encode, 6, before, part) for before in range(3) for part in PARTS),
        *(owned(base64.urlsafe_b64encode, 6, before, part) for before in range(3) for part in PARTS),
        *(owned(base64.b32encode, 5, before, part) for before in range(5) for part in PARTS),
    ],
)
def test_neighbours_share_no_part_that_is_written_down(told: str) -> None:
    half = len(told) // 2 - 1
    for before in range(40, 44):
        dots = "." * before
        neighbours = [f"{dots}{told[:half]}", f"{told[half:]}{dots}"]
        assert Redactor({SECRET: MARKER}).json(neighbours) == [f"{dots}{MARKER}", f"{MARKER}{dots}"]


def test_less_of_what_is_written_down_is_let_be() -> None:
    told = [PARTS[1][:-1].hex(), PARTS[1][:-1].hex(":"), TWICE[1][6:29].hex()]
    told += [owned(base64.b64encode, 6, before, PARTS[1][:-1]) for before in range(3)]
    told += [owned(base64.b32encode, 5, before, PARTS[1][:-1]) for before in range(5)]
    for each in told:
        assert Redactor({SECRET: MARKER}).json([each[:9], each[9:]]) == [each[:9], each[9:]]


@pytest.mark.parametrize("before", ["", "é"])
def test_a_single_escape_as_in_a_mail_is_none_for_every_query_has_some(before: str) -> None:
    text = before + TWELVE.replace("f", "=66")
    assert Redactor({SECRET: MARKER}).text(text) == text


def test_bytes_that_the_environment_held_are_found_among_bytes() -> None:
    own = Redactor({"sk-\udcff-secret": MARKER})
    assert own.binary(b"<sk-\xff-secret>", 99) == f"3c{MARKER}3e"


def test_a_form_writes_white_space_as_plus() -> None:
    own = Redactor({"one two three": MARKER})
    assert own.text("key=one+two+three&b=one+two+thre") == f"key={MARKER}&b={MARKER}"
    assert own.text("key=one+two+thr") == "key=one+two+thr"
    odd = Redactor({"one two \udcff three": MARKER})
    assert odd.text("one two \udcff three, one+two+\udcff+thre") == f"{MARKER}, {MARKER}"
