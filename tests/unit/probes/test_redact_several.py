"""What several secrets have in common, what of one is enough, and from where on a text is hidden whole."""

from __future__ import annotations

import pytest

from catalog_probe.probes.wire.redaction.needles import ENOUGH, MANY
from catalog_probe.probes.wire.redaction.redact import Redactor

SECRET = "Sk-Canary_9fQ2zX7wKd4LmT0vB8rY1p"
MARKER = "${K}"


def redactor() -> Redactor:
    return Redactor({SECRET: MARKER})


@pytest.mark.parametrize("before", range(5))
@pytest.mark.parametrize("at", range(4))
def test_a_secret_that_is_learned_shares_words_with_one_that_was_known(before: int, at: int) -> None:
    """Of the later one twelve characters stand in the text, eight of them in the earlier one as well."""
    word, own = "wOrD4567", "x1y2"
    later = own[:before] + word + own[before:]
    shared = Redactor({f"another-{word}-secret": "${A}", f"{word}-and-nothing": "${B}"})
    text = f"{'.' * at}{later}..."
    assert shared.text(text) == text
    assert shared.binary(text.encode(), 99) == text.encode().hex()
    shared.hide(f"more-and-{later}", MARKER)
    assert shared.text(text) == f"{'.' * at}{MARKER}..."
    assert shared.text(f"another-{word[:-1]}") == "${A}"


@pytest.mark.parametrize(("first", "second"), [("abc123", "abc1234"), ("abc1234", "abc123")])
def test_the_longer_of_two_short_secrets_is_hidden_whole(first: str, second: str) -> None:
    shown = Redactor({first: f"<{first}>", second: f"<{second}>"}).text("abc1234, abc123")
    assert shown == "<abc1234>, <abc123>"


@pytest.mark.parametrize("secret", ["abbababbabaabbab", "a" * 13])
@pytest.mark.parametrize("before", ["", ".", "see "])
def test_a_whole_secret_is_hidden_though_it_has_but_one_or_two_letters(before: str, secret: str) -> None:
    assert Redactor({secret: MARKER}).text(f"{before}{secret}.") == f"{before}{MARKER}."


@pytest.mark.parametrize("size", [13, 24, 30, *range(36, 42), 64])
def test_what_is_to_be_found_whole_is_found_wherever_it_stands_however_long_it_is(size: int) -> None:
    identifier = "".join(chr(ord("a") + number * number % 23) for number in range(size))
    learned = Redactor({})
    learned.learn(identifier, "account")
    for at in range(4):
        for around in ("", "." * 40):
            assert learned.text(f"{'.' * at}{around}{identifier}{around}") == f"{'.' * at}{around}[account]{around}"
            almost = f"{'.' * at}{around}{identifier[:-1]}{around}"
            assert learned.text(almost) == almost


@pytest.mark.parametrize("before", ["", "see "])
def test_a_whole_secret_is_hidden_though_it_is_public(before: str) -> None:
    own = Redactor({"claude-in-public": MARKER}, public=["claude-in-public"])
    assert own.text(f"{before}claude-in-public.") == f"{before}{MARKER}."
    assert own.text(f"{before}claude-in-publi.") == f"{before}claude-in-publi."


@pytest.mark.parametrize(("part", "shown"), [("abcabcabcabca", "abcabcabcabca"), ("abcdabcdabcda", MARKER)])
def test_a_part_of_four_letters_is_one_and_of_three_is_none(part: str, shown: str) -> None:
    assert Redactor({f"{part}-0123456789": MARKER}).text(f"<{part}>") == f"<{shown}>"


def test_a_key_of_white_space_hides_no_other() -> None:
    assert Redactor({" \t  \n  ": MARKER}).text("one two\nthree") == "one two\nthree"


def test_many_secrets_are_hidden_one_by_one_and_of_more_the_whole_text() -> None:
    part = SECRET[:ENOUGH]
    many = "so " + f"{part} ~ " * MANY
    assert redactor().text(many) == "so " + f"{MARKER} ~ " * MANY
    assert redactor().text(many + part) == MARKER
    short = Redactor({"abc123": MARKER})
    assert short.text("abc123 ~ " * MANY) == f"{MARKER} ~ " * MANY
    assert short.text("~" + " abc123 ~" * (MANY + 1)) == MARKER


def test_however_long_a_text_is_only_the_secret_is_hidden() -> None:
    ordinary = "Of an ordinary text the rest is left. " * 8_000
    assert redactor().text(f"{ordinary}{SECRET}.") == f"{ordinary}{MARKER}."


def test_a_text_of_many_escapes_without_a_secret_is_let_be() -> None:
    text = "\\/" * 100_001
    assert redactor().text(text) == text
