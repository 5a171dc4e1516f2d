"""What is remembered of texts in which nothing was found shows no secret that becomes known later."""

from __future__ import annotations

import base64
import gzip
import json

import pytest

from catalog_probe.probes.wire.redaction.needles import ENOUGH, Needles
from catalog_probe.probes.wire.redaction.redact import MIN_SECRET, Redactor

SECRET = "Sk-Canary_9fQ2zX7wKd/4+LmT0vB8rY1p"
OTHER = "another-key-that-is-known-from-the-start"
MARKER = "${K}"


def knowing_another() -> Redactor:
    return Redactor({OTHER: "${OTHER}"})


def test_headers_in_which_nothing_was_found_are_looked_at_anew() -> None:
    redactor = knowing_another()
    halves = {"x-1": SECRET[:8], "x-2": SECRET[8:16]}
    assert redactor.headers(halves) == redactor.headers(halves) == halves
    redactor.hide(SECRET, MARKER)
    assert redactor.headers(halves) == {"x-1": MARKER, "x-2": MARKER}


def test_so_are_texts_and_what_is_written_down_in_them() -> None:
    redactor = knowing_another()
    written = SECRET
    for _ in range(3):
        written = base64.b64encode(written.encode()).decode().rstrip("=")
    for text in (f"it is {SECRET}", f"it is {written}"):
        assert redactor.text(text) == redactor.json(text) == text
    redactor.hide(SECRET, MARKER)
    for text in (f"it is {SECRET}", f"it is {written}"):
        assert redactor.text(text) == redactor.json(text) == f"it is {MARKER}"


def test_lines_that_held_nothing_one_by_one_are_looked_at_together() -> None:
    redactor = Redactor({SECRET: MARKER})
    written = base64.b64encode(gzip.compress(f"it is {SECRET}".encode(), mtime=0)).decode()
    lines = [written[at : at + 20] for at in range(0, len(written), 20)]
    for line in lines:
        assert redactor.json(line) == line
    assert MARKER in redactor.text("\n".join(lines))
    wrong = "\n".join(reversed(lines))
    assert redactor.text(wrong) == wrong


def test_what_held_nothing_as_one_text_is_looked_at_anew_as_several() -> None:
    written = base64.b64encode(gzip.compress(f"it is {SECRET}".encode(), mtime=0)).decode()
    redactor = Redactor({SECRET: MARKER})
    one = f"{written[:24]}\0{written[24:]}"
    assert redactor.stream([one]) == [one]
    assert redactor.stream([written[:24], written[24:]]) == [MARKER, MARKER]


def test_what_held_nothing_is_remembered_while_no_other_secret_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[bytes] = []
    redactor = knowing_another()
    looking = Needles.met

    def noting(needles: Needles, raw: bytes) -> bool:
        looked.append(raw)
        return looking(needles, raw)

    monkeypatch.setattr(Needles, "met", noting)
    body = {"model": "mock-small", "input": "how do you do, and what of tomorrow"}
    assert redactor.json(body) == body
    once = len(looked)
    assert once
    assert redactor.json(body) == body
    assert len(looked) == once
    redactor.hide(SECRET, MARKER)
    assert redactor.json(body) == body
    assert len(looked) > once


def test_a_secret_keeps_its_first_name_and_a_short_one_is_none() -> None:
    redactor = knowing_another()
    redactor.hide(SECRET, MARKER)
    redactor.hide(SECRET, "${SECOND}")
    redactor.hide(SECRET[: MIN_SECRET - 1], "${SHORT}")
    assert redactor.text(f"{SECRET} {SECRET[: MIN_SECRET - 1]}") == f"{MARKER} {SECRET[: MIN_SECRET - 1]}"


@pytest.mark.parametrize("before", ["a\\", "a\\\\\\"])
def test_what_a_header_ends_with_takes_nothing_from_the_next(before: str) -> None:
    escaped = "".join(f"\\u{ord(each):04x}" for each in SECRET[:ENOUGH])
    assert json.loads(f'"{escaped}"') == SECRET[:ENOUGH]
    redactor = Redactor({SECRET: MARKER})
    assert redactor.headers({"x-1": before, "x-2": escaped}) == {"x-1": before, "x-2": MARKER}


@pytest.mark.parametrize("name", ["x-", "%&\\"])
@pytest.mark.parametrize(
    ("before", "begun", "dress"),
    [
        ("a%", "4f", "%{:02X}"),
        ("a=", "4F", "={:02X}"),
        ("a=", "4F", "={:02X}<b>"),
        ("a&#", "52;", "&#{};"),
        ("%&a\\u00", "4f", "\\u{:04x}"),
        ("a\\u00", "4f", "\\u{:04x}"),
    ],
)
def test_nor_does_what_looks_like_the_beginning_of_an_escape(name: str, before: str, begun: str, dress: str) -> None:
    secret = f"{begun}{SECRET}"
    after = begun + "".join(dress.format(ord(each)) for each in secret[len(begun) : ENOUGH]).removesuffix("<b>")
    redactor = Redactor({secret: MARKER})
    assert redactor.headers({f"{name}1": before, f"{name}2": after}) == {f"{name}1": before, f"{name}2": MARKER}


@pytest.mark.parametrize("before", ["", "a", "ab", "abc"])
def test_nor_does_it_hide_what_is_written_down_in_the_next(before: str) -> None:
    written = SECRET
    for _ in range(3):
        written = base64.b64encode(written.encode()).decode().rstrip("=")
    redactor = Redactor({SECRET: MARKER})
    assert redactor.headers({"x-1": before, "x-2": written}) == {"x-1": before, "x-2": MARKER}
    assert redactor.json([before, written]) == [before, MARKER]


def test_half_a_surrogate_pair_becomes_its_escape_in_a_header_and_beside_a_secret() -> None:
    redactor = Redactor({SECRET: MARKER})
    for name in ("x-1", "\u00e9"):
        assert redactor.headers({name: "\ud800"}) == {name: "\\ud800"}
    assert redactor.text(f"{SECRET} \ud800") == f"{MARKER} \\ud800"


@pytest.mark.parametrize("other", ["\u00e3", "\u00e8"])
def test_of_a_letter_that_begins_like_one_of_the_secret_nothing_is_cut_off(other: str) -> None:
    secret = f"{SECRET}\u00e9{SECRET[::-1]}"
    shown = Redactor({secret: MARKER}).text(f"it is {SECRET}{other} and more")
    assert shown in (f"it is {MARKER} and more", f"it is {MARKER}{other} and more")


def test_what_stands_for_a_secret_stays_though_it_holds_its_words() -> None:
    redactor = knowing_another()
    redactor.hide("canary_identifier", "[canary_identifier]")
    shown = redactor.text("of canary_identifier alone")
    assert shown == "of [canary_identifier] alone"
    assert redactor.text(shown) == shown


@pytest.mark.parametrize("before", ["long text " * 100, "one\0", "\0", "x"], ids=["long", "a zero", "zeros", "short"])
@pytest.mark.parametrize("key", [SECRET, SECRET.swapcase()])
def test_what_held_nothing_says_nothing_of_another_text_of_its_kind(before: str, key: str) -> None:
    redactor = Redactor({SECRET: MARKER})
    for clean in (f"{before} and no more", [before, "and no more"], [before, before]):
        assert MARKER not in str(redactor.json(clean))
    for held in (f"{before} and {key}", [before, f"and {key}"], [f"{before}{key[:9]}", f"{key[9:]} on"]):
        assert MARKER in str(redactor.json(held))
