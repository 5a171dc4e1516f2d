"""What is remembered of texts in which nothing was found shows no secret that becomes known later."""

from __future__ import annotations

import base64
import json

import pytest

from probes.wire.needles import ENOUGH
from probes.wire.redact import MIN_SECRET, Redactor

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
