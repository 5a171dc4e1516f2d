"""Twelve characters of a secret are hidden however they are dressed up, and eleven are let be."""

from __future__ import annotations

import base64
import gzip
import html
import json
import re
import zlib
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.catalog.model import Event, Json
from catalog_probe.catalog.model.record import Record
from catalog_probe.catalog.text.json_tree import texts
from catalog_probe.probes.wire.observer import Observer
from catalog_probe.probes.wire.redaction.needles import ENOUGH, GRAM, MANY, Hit, Needles
from catalog_probe.probes.wire.redaction.redact import MIN_SECRET, Redactor
from tests.harness.engines import catalog

if TYPE_CHECKING:
    from collections.abc import Callable

SECRET = 'Sk-Canary_9fQ2zX7"w&Kd/4+LmT0vB8<rY1p'
MARKER = "${K}"

PARTS = st.tuples(st.integers(0, len(SECRET) - ENOUGH), st.integers(ENOUGH, len(SECRET))).map(
    lambda cut: SECRET[cut[0] : cut[0] + cut[1]]
)
"""Any part of it that is long enough."""

CASES: dict[str, Callable[[str], str]] = {"as it is": str, "upper": str.upper, "lower": str.lower}
UNSEEN = ("\x1b[31m", "<wbr>", "&nbsp;", "&ZeroWidthSpace;")
GAPS = (*UNSEEN, "\n", "\r\n ", "\u200b", "\ufeff", "\u00ad", "\t", "\x00", "\u2066")


def every(separator: str) -> Callable[[str], str]:
    return separator.join


FORMS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "percent": lambda text: quote(text, safe=""),
    "percent in lower case": lambda text: quote(text, safe="").replace("%2F", "%2f").replace("%2B", "%2b"),
    "percent, another safe set": lambda text: quote(text, safe="/+&"),
    "percent twice": lambda text: quote(quote(text, safe=""), safe=""),
    "every byte in percent": lambda text: "".join(f"%{byte:02x}" for byte in text.encode()),
    "HTML": html.escape,
    "HTML by number": lambda text: "".join(f"&#{ord(each)};" for each in text),
    "HTML by hexadecimal number": lambda text: "".join(f"&#x{ord(each):X}" for each in text),
    "JSON": json.dumps,
    "JSON in JSON": lambda text: json.dumps(json.dumps(text)),
    "JSON in JSON in JSON": lambda text: json.dumps(json.dumps(json.dumps(text))),
    "JSON by number": lambda text: "".join(f"\\u{ord(each):04x}" for each in text),
    "JSON in a URL": lambda text: quote(json.dumps(text), safe=""),
    "hexadecimal": lambda text: text.encode().hex(),
    "HEXADECIMAL": lambda text: text.encode().hex().upper(),
    "bytes": lambda text: "".join(f"\\x{byte:02x}" for byte in text.encode()),
    "every byte as in a mail": lambda text: "".join(f"={byte:02X}" for byte in text.encode()),
    "a fingerprint": lambda text: text.encode().hex(":").upper(),
    "a string of Python": lambda text: repr(text.encode()),
    "octal": lambda text: "".join(f"\\{byte:03o}" for byte in text.encode()),
    "letters by number, as in C#": lambda text: "".join(f"\\U{ord(each):08X}" for each in text),
    "letters by name, as in Perl": lambda text: "".join(f"\\N{{U+{ord(each):04X}}}" for each in text),
    "letters as an old server escapes them": lambda text: "".join(f"%u{ord(each):04x}" for each in text),
    "HTML by a long number": lambda text: "".join(f"&#x{ord(each):012X};" for each in text),
    "Markdown": lambda text: re.sub(r"([^A-Za-z0-9])", r"\\\1", text),
    "bytes of .NET": lambda text: text.encode().hex("-").upper(),
    "bytes of C": lambda text: ", ".join(f"0x{byte:02x}" for byte in text.encode()),
    "bytes as numbers": lambda text: str(list(text.encode())),
    "letters of full width": lambda text: "".join(chr(ord(each) + 0xFEE0) for each in text),
    "gzip in base64": lambda text: base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode(),
    "zlib in hexadecimal": lambda text: zlib.compress(text.encode()).hex(),
}


def redactor() -> Redactor:
    return Redactor({SECRET: MARKER})


def shown_of(text: str) -> str:
    return redactor().text(text)


def left_of(part: str, shown: str) -> int:
    """How many characters in a row of a part are still there, whatever their case."""
    low, sought = shown.lower(), part.lower()
    sizes = (
        size
        for size in range(len(sought), 0, -1)
        for at in range(len(sought) - size + 1)
        if sought[at : at + size] in low
    )
    return next(sizes, 0)


@given(PARTS, st.sampled_from(sorted(FORMS)), st.sampled_from(sorted(CASES)), st.text("xyz,. ", max_size=9))
def test_a_part_is_hidden_in_each_form_and_case(part: str, form: str, case: str, around: str) -> None:
    told = FORMS[form](CASES[case](part))
    shown = shown_of(f"{around}{told}{around}")
    assert MARKER in shown
    assert told not in shown
    assert left_of(part, shown) < ENOUGH


@given(PARTS, st.sampled_from(GAPS), st.data())
def test_nor_do_gaps_help(part: str, gap: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(1, len(part) - 1))
    assert shown_of(f"|{part[:at]}{gap}{part[at:]}|") == f"|{MARKER}|"
    assert shown_of(f"|{every(gap)(part)}|") == f"|{MARKER}|"


@given(PARTS, st.binary(max_size=5), st.binary(max_size=5), st.booleans(), st.sampled_from(sorted(CASES)))
def test_nor_in_base64(part: str, before: bytes, after: bytes, urlsafe: bool, case: str) -> None:
    encode = base64.urlsafe_b64encode if urlsafe else base64.b64encode
    told = encode(before + CASES[case](part).encode() + after).decode()
    assert MARKER in shown_of(told)
    assert MARKER in shown_of(told.lower())


@given(PARTS, st.binary(max_size=6), st.binary(max_size=6), st.booleans())
def test_nor_in_base32(part: str, before: bytes, after: bytes, lower: bool) -> None:
    told = base64.b32encode(before + part.encode() + after).decode().rstrip("=")
    shown = shown_of(f"see {told.lower() if lower else told}.")
    assert MARKER in shown
    assert len(shown) <= len(f"see {MARKER}.") + 2 * (len(before) + len(after)) + 4


@given(st.integers(0, len(SECRET) - ENOUGH + 2))
def test_less_in_base32_is_let_be(at: int) -> None:
    """By two: a letter of it may be of the next character too."""
    told = base64.b32encode(SECRET[at : at + ENOUGH - 2].encode()).decode()
    assert shown_of(told) == told


@pytest.mark.parametrize("first", [0xFF21, 0x24B6, 0x1D400, 0x1D5D4], ids=["wide", "circled", "bold", "sans-serif"])
def test_nor_in_letters_that_look_otherwise(first: int) -> None:
    """What NFKC makes plain letters of."""
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    told = "".join(chr(first + letters.index(each)) for each in "CANARYINACOALMINE")
    assert Redactor({"CanaryInACoalMine": MARKER}).text(f"say {told} or {told[:11]}") == f"say {MARKER} or {told[:11]}"


@pytest.mark.parametrize("text", ["価格は，１２３４５６７８９０１２円です。", "①②③④⑤⑥⑦⑧⑨⑩⑪⑫", "𝑬 = 𝒎𝒄²"])
def test_what_is_written_so_stays_as_it_is(text: str) -> None:
    assert shown_of(text) == text


def test_what_was_compressed_is_looked_at_no_further_than_it_must() -> None:
    bomb = base64.b64encode(zlib.compress(bytes(1_000_000) + SECRET.encode(), 9)).decode()
    assert shown_of(bomb) == bomb
    cut = base64.b64encode(gzip.compress((SECRET + "x" * 500).encode(), mtime=0)[:-9]).decode()
    assert shown_of(cut).rstrip("=") == MARKER


@given(st.sampled_from(["hex in base64", "base64 in hex", "base64 in base64"]), st.binary(max_size=5))
def test_nor_does_writing_it_down_twice(how: str, before: bytes) -> None:
    raw = SECRET.encode()
    once = raw.hex().encode() if how.startswith("hex") else base64.b64encode(raw)
    twice = once.hex() if how.endswith("hex") else base64.b64encode(before + once).decode()
    shown = redactor().text(f"see {twice}.")
    assert MARKER in shown
    assert len(shown) < len("see .") + len(MARKER) + 2 * len(before) + 8


WRITTEN: dict[str, Callable[[str], bytes]] = {
    "JSON": lambda text: json.dumps({"headers": {"authorization": f"Bearer {text}"}}).encode(),
    "UTF-16": lambda text: text.encode("utf-16-le"),
    "percent": lambda text: quote(text, safe="").encode(),
    "HEXADECIMAL": lambda text: text.encode().hex().upper().encode(),
    "base64": lambda text: base64.b64encode(b"id:" + text.encode() + b";"),
    "base64 of JSON": lambda text: base64.b64encode(json.dumps({"k": text}).encode()),
    "another case": lambda text: text.swapcase().encode(),
}


@given(PARTS, st.sampled_from(sorted(WRITTEN)), st.binary(max_size=4), st.sampled_from(["base64", "base64url", "hex"]))
def test_nor_does_writing_it_down_in_any_dress(part: str, dress: str, before: bytes, how: str) -> None:
    raw = before + WRITTEN[dress](part)
    if how == "hex":
        told = raw.hex()
    else:
        told = (base64.b64encode if how == "base64" else base64.urlsafe_b64encode)(raw).decode()
    shown = shown_of(f"see {told.rstrip('=')}.")
    assert MARKER in shown
    assert len(shown) <= len(f"see {MARKER}.") + 4 * len(before) + 90


RAW = SECRET.lower().encode()
ONCE = base64.b64encode(SECRET.encode())
ENOUGH_OF: dict[str, tuple[bytes, int]] = {
    "as it is": (RAW, ENOUGH),
    "base64": (base64.b64encode(RAW).lower()[: len(RAW) * 8 // 6], ENOUGH * 8 // 6 - 1),
    "base32": (base64.b32encode(SECRET.encode()).lower()[: len(RAW) * 8 // 5], ENOUGH * 8 // 5 - 1),
    "hexadecimal": (RAW.hex().encode(), 2 * ENOUGH),
    "a fingerprint": (RAW.hex(":").encode(), 3 * ENOUGH - 1),
    "base64 in base64": (base64.b64encode(ONCE).lower()[: len(ONCE) * 8 // 6], 2 * ENOUGH * 8 // 6 - 1),
    "base64 in hexadecimal": (ONCE.hex().encode(), 4 * ENOUGH),
}
"""Forms as they are looked for, bare, and how many of their bytes in a row are a part that is hidden."""


@pytest.mark.parametrize("form", ENOUGH_OF)
def test_enough_of_a_form_is_met_whatever_part_it_is_and_wherever_it_stands(form: str) -> None:
    whole, enough = ENOUGH_OF[form]
    needles = Needles()
    needles.add(SECRET, MARKER)
    for begin in range(len(whole) - enough + 1):
        part = whole[begin : begin + enough]
        for before in range(GRAM):
            text = bytes(before) + part
            assert needles.met(text)
            assert [*needles.hits(text)] == [Hit(before, len(text), MARKER)]
            assert not [*needles.hits(text[:-1])]


@pytest.mark.parametrize("size", range(MIN_SECRET, 2 * ENOUGH))
def test_all_of_a_short_secret_is_met_in_each_form_wherever_it_stands(size: int) -> None:
    """Fewer bytes than are enough of a form may be all of it."""
    secret = SECRET[:size].lower()
    needles = Needles()
    needles.add(secret, MARKER)
    raw = secret.encode()
    for form in (raw, raw.hex().encode(), base64.b64encode(raw).lower()[: size * 8 // 6]):
        for before in range(GRAM):
            assert needles.met(bytes(before) + form)


def test_nor_do_numbers_of_bytes() -> None:
    key = {"type": "Buffer", "data": [1, 2, *SECRET.encode(), 3]}
    assert redactor().json({"key": key}) == {"key": {"type": "Buffer", "data": [1, 2, *[MARKER] * len(SECRET), 3]}}
    array = {str(number): byte for number, byte in enumerate(SECRET.encode())}
    assert redactor().json({"key": array}) == {"key": dict.fromkeys(array, MARKER)}
    numbers = {
        "counts": [*range(100)],
        "sizes": {str(each): each for each in range(100)},
        "tokens": [900, 901, *SECRET.encode()],
    }
    assert redactor().json(numbers) == numbers


@given(st.integers(0, len(SECRET) - ENOUGH + 1))
def test_less_is_let_be(at: int) -> None:
    part = SECRET[at : at + ENOUGH - 1]
    assert shown_of(f"<{part}>") == f"<{part}>"


@given(PARTS, st.data())
def test_neighbouring_events_are_one_text(part: str, data: st.DataObject) -> None:
    """As a client puts them together: what stands at one place in each of them."""
    at = data.draw(st.integers(1, len(part) - 1))
    deltas = [{"type": "delta", "delta": {"text": each}, "index": 0} for each in ("so ", part[:at], part[at:], " on")]
    events = [Event("delta", each, float(number)) for number, each in enumerate(deltas)]
    shown = Observer(redactor()).stream(events)
    together = "".join(each.data["delta"]["text"] for each in shown)
    assert left_of(part, together) < ENOUGH
    assert together.startswith("so ")
    assert together.endswith(" on")
    assert [(each.event, each.at_ms, each.data["type"]) for each in shown] == [("delta", n, "delta") for n in range(4)]


@given(PARTS, st.data())
def test_so_are_lines_and_items(part: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(1, len(part) - 1))
    assert left_of(part, "".join(redactor().json({"lines": ["a", part[:at], part[at:], "b"]})["lines"])) < ENOUGH
    plain = Observer(redactor()).stream([Event("message", part[:at]), Event("message", part[at:])])
    assert left_of(part, "".join(each.data for each in plain)) < ENOUGH


PIECES = [SECRET[at : at + 5] for at in range(0, len(SECRET), 5)]
SPLIT: dict[str, Json] = {
    "blocks": {"content": [{"type": "text", "text": each} for each in PIECES]},
    "a text of JavaScript, taken apart": {str(number): each for number, each in enumerate(SECRET)},
    "rows within a single one": [{"rows": [{"n": "1", "v": each} for each in PIECES]}],
    "rows after what is none": {"rows": [None, "text", *({"n": "1", "v": each} for each in PIECES)]},
}


@pytest.mark.parametrize("value", SPLIT.values(), ids=SPLIT)
def test_so_is_what_stands_at_one_place_of_each_item(value: Json) -> None:
    told = [text for text in texts(redactor().json(value)) if text not in ("text", "1")]
    assert set(told) == {MARKER}


def test_one_place_of_an_item_is_no_other() -> None:
    value = {"content": [{"a": SECRET[:11], "b": "so"}, {"a": "-", "b": SECRET[11:22]}]}
    assert redactor().json(value) == value


@pytest.mark.parametrize("written", ["{}", "{:#x}", "{:02X}"])
def test_so_are_bytes_that_are_each_an_item(written: str) -> None:
    value = [".", *(written.format(byte) for byte in SECRET.swapcase().encode())]
    assert redactor().json(value) == [".", *[MARKER] * len(SECRET)]


@pytest.mark.parametrize("between", [".", ":", " | "])
def test_so_are_numbers_of_bytes_however_they_are_parted(between: str) -> None:
    assert shown_of(f"so {between.join(map(str, SECRET.swapcase().encode()))}") == f"so {MARKER}"


OTHER_CASE = "sK-cANARY_9FqR2zX7WkD4lMt0Vb8RYP"
"""Of what is in another case no written form is known beforehand: it has to be read."""


@pytest.mark.parametrize(
    ("between", "hidden"), [("\n", True), ("\r\n" + " " * 10, True), ("\r\n" + " " * 11, False), ("\n.\n", False)]
)
def test_so_are_two_lines_of_which_neither_holds_enough(between: str, hidden: bool) -> None:
    """A line ends, and the next is put in, with up to twelve characters of white space."""
    lines = [
        base64.b64encode(half.encode()).decode() for half in (f"so: {OTHER_CASE[:11]}", f"{OTHER_CASE[11:22]} on.")
    ]
    own, others = Redactor({OTHER_CASE.swapcase(): MARKER}), f". {'so/on/and/' * 3}."
    shown = MARKER if hidden else between.join(lines)
    assert own.text(between.join(lines)) == shown
    assert own.text(f"{others}{between.join(lines)}{others}") == f"{others}{shown}{others}"


@pytest.mark.parametrize("size", [ENOUGH, 20])
def test_so_is_what_was_compressed_though_next_to_none_of_its_bytes_are_printed(size: int) -> None:
    assert shown_of(base64.b64encode(zlib.compress(SECRET[:size].encode())).decode()).rstrip("=") == MARKER


@pytest.mark.parametrize("before", [["1"], ["0x1", "1"]])
def test_so_are_they_after_another_text_that_ends_in_a_digit(before: list[str]) -> None:
    numbers = " ".join(map(str, SECRET[:ENOUGH].encode()))
    assert redactor().json([*before, numbers]) == [*before, MARKER]


@given(st.binary(max_size=400), PARTS, st.binary(max_size=20), st.sampled_from(["utf-8", "utf-16-le"]))
def test_binary_bodies_show_no_part(before: bytes, part: str, after: bytes, encoding: str) -> None:
    told = part.encode(encoding)
    raw = b"\xff" + before + told + after
    shown = redactor().binary(raw, 256)
    assert told[: 2 * ENOUGH].hex() not in shown
    if len(before) + 1 + len(told) <= 256:
        assert MARKER in shown
    assert shown.replace(MARKER, "").isalnum()


def test_a_binary_body_without_a_secret_is_its_beginning() -> None:
    assert redactor().binary(bytes(range(256)) * 9, 256) == bytes(range(256)).hex()


@given(st.text(st.sampled_from("abcXYZ-_%\\&;#u00 \n\u200b2Fx"), max_size=60))
def test_what_holds_none_is_let_be(text: str) -> None:
    assert shown_of(text) == text


@given(PARTS, st.sampled_from(sorted(FORMS)), st.text(max_size=20))
def test_doing_it_twice_changes_nothing(part: str, form: str, around: str) -> None:
    once = shown_of(around + FORMS[form](part) + around)
    assert shown_of(once) == once


def test_a_marker_that_reads_like_its_secret_stays() -> None:
    own = Redactor({"my_secret_token_1": "${MY_SECRET_TOKEN_1}"})
    assert own.text("my_secret_token_1") == "${MY_SECRET_TOKEN_1}"
    assert own.text("${MY_SECRET_TOKEN_1}") == "${MY_SECRET_TOKEN_1}"


def test_what_is_documented_is_no_part_of_a_secret() -> None:
    own = Redactor({"mock-pa-priority-little": MARKER}, documented=catalog().records)
    assert own.text("pa-priority-input-tokens-limit") == "pa-priority-input-tokens-limit"
    assert own.text("mock-pa-priority-litt") == MARKER


def test_what_is_documented_elsewhere_is_part_of_a_secret() -> None:
    said = "pa-priority-input-tokens-limit"
    for documented, shown in ((catalog().records, said), ((), f"{MARKER}input-tokens-limit")) * 2:
        assert Redactor({"mock-pa-priority-little": MARKER}, documented=documented).text(said) == shown


def test_a_line_of_dashes_is_no_part_of_a_key() -> None:
    own = Redactor({"-----BEGIN KEY----------------MIIabcdef": MARKER}, documented=list[Record]())
    assert own.text("title\n----------------\n") == "title\n----------------\n"


def test_what_repeats_a_secret_for_ever_is_hidden_whole() -> None:
    shown = shown_of("so " + "x".join([SECRET] * 5 * MANY) + " on")
    assert len(shown) < 5 * MANY
    assert left_of(SECRET, shown) < ENOUGH


def test_the_kind_of_what_an_answer_hands_out_is_no_secret() -> None:
    own = Redactor({})
    own.keep("auth_tokens/9fQ2zX7wKd4LmT0v", seen_as="auth_tokens/9fQ2zX7wKd4LmT0v")
    assert own.text("auth_tokens/none") == "auth_tokens/none"
    assert own.text("auth_tokens/9fQ2zX7wKd4LmT0v") == "{secret_1}"
    assert own.text("token 9fQ2zX7wKd4Lm") == "token {secret_1}"


@pytest.mark.parametrize("name", ["x-Sk-Canary_9fQ2zX7", "x-sk-canary_9fq2zx7"])
def test_names_of_headers_and_members_are_looked_at(name: str) -> None:
    assert redactor().headers({name: "1"}) == {f"x-{MARKER}": "1"}
    assert redactor().json({"a": {name: [1, None]}}) == {"a": {f"x-{MARKER}": [1, None]}}


@pytest.mark.parametrize("before", ["", "x", "xxxx", "/v1/logs/", "a" * 41])
@pytest.mark.parametrize("pack", [gzip.compress, zlib.compress])
def test_what_was_compressed_is_found_behind_what_reads_like_its_beginning(
    pack: Callable[[bytes], bytes], before: str
) -> None:
    told = base64.b64encode(pack(SECRET.encode())).decode()
    assert told not in (shown := shown_of(f"{before}{told}"))
    assert MARKER in shown


def test_headers_that_follow_each_other_and_names_of_events_are_one_text() -> None:
    pieces = [SECRET[at : at + 8] for at in range(0, 24, 8)]
    shown = redactor().headers({f"x-{number}": piece for number, piece in enumerate(pieces)})
    assert list(shown.values()) == [MARKER] * 3
    events = Observer(redactor()).stream([Event(piece, {"n": 1}) for piece in pieces])
    assert [each.event for each in events] == [MARKER] * 3


@pytest.mark.parametrize("beside", ["charset=utf-8", "=41=42=43=44", "<b>=4", "%3d"])
def test_so_they_are_whatever_signs_stand_beside_them(beside: str) -> None:
    first, second = SECRET[:8], SECRET[8:16]
    shown = redactor().headers({"content-type": beside, "x-1": first, "x-2": second, "x-3": quote(SECRET)})
    assert [*shown.values()] == [beside, MARKER, MARKER, MARKER]


@given(PARTS)
def test_a_part_ends_where_the_next_character_is_another(part: str) -> None:
    assert redactor().text(f"~{part}~") == f"~{MARKER}~"


@pytest.mark.parametrize(
    "around", ["%41" * 200_000, "\\\\" * 200_000, f"{SECRET[:11]} ~ " * 60_000], ids=["%", "\\", "eleven"]
)
def test_what_only_takes_long_to_look_at_is_hidden_whole(around: str) -> None:
    assert redactor().text(around + SECRET) == MARKER
