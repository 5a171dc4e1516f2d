"""Each dress by itself, of a secret that has no sign in which another one might begin; and what only looks like one."""

from __future__ import annotations

import base64
import gzip
import json
import zlib

import pytest

from probes.wire.redact import Redactor

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


DRESSES: dict[str, str] = {
    "a tag within": f"{TWELVE[:6]}<wbr>{TWELVE[6:]}",
    "a remark within": f"{TWELVE[:6]}<!-- so -->{TWELVE[6:]}",
    "escapes within tags": f"<b>{TWELVE[:6]}</b>{''.join(f'&#{ord(each)};' for each in TWELVE[6:])}",
    "a letter by name": TWELVE.replace("_", "&lowbar;"),
    "a letter by name, without an end": TWELVE.replace("_", "&lowbar"),
    "a gap by name": f"{TWELVE[:6]}&nbsp;{TWELVE[6:]}",
    "a gap by a name that goes on as another's": f"{TWELVE[:6]}&emsp13;{TWELVE[6:]}",
    "a colour": f"{TWELVE[:6]}\x1b[1;31m{TWELVE[6:]}",
    "a colour, in one byte": f"{TWELVE[:6]}\x9b31m{TWELVE[6:]}",
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
    "hexadecimal, after half a byte": f"a{swapped(SECRET).hex()}",
    "hexadecimal within base64's alphabet": f"zz/{swapped(SECRET).hex()}",
    "gzip": in_base64(gzip.compress(swapped(SECRET), mtime=0)),
    "zlib, after another text": f"{in_base64(PLAIN.encode())} {in_base64(zlib.compress(swapped(SECRET)))}",
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
