"""Twelve characters of a secret are found in each form, eleven are not, and the work is linear."""

from __future__ import annotations

import base64
import html
import json
import string
from collections.abc import Callable
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.probes.wire.known_secrets import (
    ENOUGH,
    LAYERS,
    PER_ESCAPE,
    PER_STRING,
    KnownSecrets,
    TooMuchWorkError,
    Work,
)
from tests.harness.disguises import disguise_secret

SECRET = 'Sk-Canary_9fQ2zX7"w&Kd/4+LmT0vB8<rY1p'
MARKER = "${K}"

# Parts of the secret that are long enough to be found.
PARTS = st.tuples(st.integers(0, len(SECRET) - ENOUGH), st.integers(ENOUGH, len(SECRET))).map(
    lambda cut: SECRET[cut[0] : cut[0] + cut[1]]
)

RANDOM_SECRETS = st.text(string.ascii_letters + string.digits + "-_.~+/=:", min_size=ENOUGH, max_size=120)

FORMS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "percent": lambda text: quote(text, safe=""),
    "percent in lower case": lambda text: quote(text, safe="").lower(),
    "percent of some": lambda text: quote(text, safe="/+&"),
    "percent twice": lambda text: quote(quote(text, safe=""), safe=""),
    "percent of every byte": lambda text: "".join(f"%{byte:02x}" for byte in text.encode()),
    "JSON": json.dumps,
    "JSON in JSON in JSON": lambda text: json.dumps(json.dumps(json.dumps(text))),
    "JSON by number": lambda text: "".join(f"\\u{ord(letter):04x}" for letter in text),
    "JSON in a URL": lambda text: quote(json.dumps(text), safe=""),
    "HTML": html.escape,
    "HTML by number": lambda text: "".join(f"&#{ord(letter)};" for letter in text),
    "HTML by hexadecimal number": lambda text: "".join(f"&#x{ord(letter):04X};" for letter in text),
    "compatibility form": lambda text: "".join(chr(ord(letter) + 0xFEE0) for letter in text),
    "characters that show nothing": "\u200b".join,
    "upper case": str.upper,
    "lower case": str.lower,
    "hexadecimal": lambda text: text.encode().hex(),
    "hexadecimal in upper case": lambda text: text.encode().hex().upper(),
}
BASE64 = {"base64": base64.b64encode, "base64 for URLs": base64.urlsafe_b64encode}


def make_secrets(*values: str) -> KnownSecrets:
    known_secrets = KnownSecrets()
    for secret in values:
        known_secrets.add(secret, MARKER)
    return known_secrets


def is_found(text: str, *values: str) -> bool:
    return make_secrets(*values or (SECRET,)).find(text, Work()) == MARKER


@given(
    PARTS, st.sampled_from(sorted(FORMS)), st.text("xyz,.<> {}\n", max_size=20), st.text("xyz,.<> {}\n", max_size=20)
)
def test_part_is_found_in_each_form(part: str, form: str, before: str, after: str) -> None:
    assert is_found(f"{before}{FORMS[form](part)}{after}")


@given(PARTS, st.sampled_from(sorted(BASE64)), st.binary(max_size=7), st.binary(max_size=7))
def test_part_is_found_in_base64_of_a_longer_text(part: str, form: str, before: bytes, after: bytes) -> None:
    assert is_found(f"see {BASE64[form](before + part.encode() + after).decode().rstrip('=')}.")


@given(RANDOM_SECRETS, st.sampled_from(sorted(FORMS)), st.text("xyz,. ", max_size=9))
def test_random_secret_is_found_in_each_form(secret: str, form: str, around: str) -> None:
    assert is_found(f"{around}{FORMS[form](secret)}{around}", secret)


@given(RANDOM_SECRETS, st.sampled_from(sorted(BASE64)), st.binary(max_size=5))
def test_random_secret_is_found_in_base64(secret: str, form: str, before: bytes) -> None:
    assert is_found(BASE64[form](before + secret.encode() + b"??").decode(), secret)


def test_secret_with_hidden_characters_between_its_letters_is_found(subtests: pytest.Subtests) -> None:
    for character in "\u200b\u00ad\ufe0f\u034f\u3164\u115f\uffa0\u180b\U000e0100\u17b5\u2065\x00\x7f\x9f":
        with subtests.test(character=character):
            assert is_found(character.join(SECRET))
            assert is_found("".join(f"{letter}&#{ord(character)};" for letter in SECRET))


@given(st.integers(0, len(SECRET) - ENOUGH + 1))
def test_eleven_characters_are_not_matched(at: int) -> None:
    assert not is_found(f"<{SECRET[at : at + ENOUGH - 1]}>")


@given(st.text(st.sampled_from("abcXYZ-_%\\&;#u00 \n\u200b2Fx\"'é価"), max_size=200))
def test_text_without_the_secret_is_not_matched(text: str) -> None:
    """It lacks letters that every form of the secret has, however it is unescaped."""
    assert not is_found(text)


@given(st.integers(0, 60))
def test_twelve_hexadecimal_characters_are_found(at: int) -> None:
    form = SECRET.encode().hex()
    assert is_found(form[at : at + ENOUGH])
    assert not is_found(form[at : at + ENOUGH - 1])


def test_public_prefix_is_not_matched(subtests: pytest.Subtests) -> None:
    for prefix in ["sk-ant-api03-", "sk-proj-", "auth_tokens/", "xai-"]:
        with subtests.test(prefix=prefix):
            secret = f"{prefix}9fQ2zX7wKd4LmT0vB8rY1p"
            assert not is_found(f"a key begins with {prefix}9fQ", secret)
            assert is_found("9fQ2zX7wKd4L", secret)
            assert is_found(secret, secret)


def test_short_secret_is_matched_whole_only(subtests: pytest.Subtests) -> None:
    cases: list[str] = ["mock-pa-organization-limit", "sk-abc12345", "8chars-X", "0123456"]
    for secret in cases:
        with subtests.test(secret=secret):
            assert is_found(f"see {secret}.", secret)
            assert is_found(f"see {secret.upper()}.", secret)
            assert is_found(f"see {secret.encode().hex()}.", secret)
            assert not is_found(f"see {secret[:-1]}.", secret)
            assert not is_found(f"see {secret[1:]}.", secret)


def test_find_returns_the_name_of_the_secret() -> None:
    known = KnownSecrets()
    known.add(SECRET, "${A}")
    known.add("another-9fQ2zX7wKd4LmT0v", "${B}")
    assert known.find(SECRET, Work()) == "${A}"
    assert known.find("KD4LMT0V-9fQ2zX7wKd4LmT0v", Work()) == "${B}"
    assert known.find("neither", Work()) is None


def test_realistic_echoes_are_found(subtests: pytest.Subtests) -> None:
    for name in disguise_secret(SECRET):
        with subtests.test(name=name):
            assert is_found(f"no {disguise_secret(SECRET)[name]}.")


def test_nested_escapes_are_undone_up_to_a_limit(subtests: pytest.Subtests) -> None:
    for layers in range(1, LAYERS + 2):
        with subtests.test(layers=layers):
            percent = f"%{'25' * (layers - 1)}"
            text = "".join(f"{percent}{byte:02x}" for byte in SECRET.encode())
            assert is_found(text) is (layers <= LAYERS)


ANYTHING = st.text(st.sampled_from('ab%2541\\u005c"&#x26;amp; é価\u200bＡﬃ' + SECRET[3:14]), max_size=300)


@given(ANYTHING)
def test_operations_are_linear_in_the_text(text: str) -> None:
    """A character becomes four at most, and is searched, unescaped and folded in each layer."""
    work = Work()
    make_secrets(SECRET).find(text, work)
    assert work.done <= PER_STRING + len(text) * (
        1 + 4 * (1 + LAYERS * (3 + PER_ESCAPE)) + 4 * len(SECRET.encode().hex())
    )


def test_twice_the_text_takes_twice_the_operations(subtests: pytest.Subtests) -> None:
    cases: list[str] = [
        "plain words ",
        "%41",
        "\\\\",
        "&amp;",
        "%2525",
        "\u200b",
        "\u0315\u0300",
        "ﷺ",
        SECRET[:11] + " ",
        "AAAA",
    ]
    for unit in cases:
        with subtests.test(unit=unit):
            once, twice = Work(), Work()
            assert make_secrets(SECRET).find(unit * 500, once) is None
            assert make_secrets(SECRET).find(unit * 1000, twice) is None
            assert twice.done <= 2 * once.done + PER_STRING


def test_search_stops_at_its_work_limit() -> None:
    with pytest.raises(TooMuchWorkError):
        make_secrets(SECRET).find("x" * 1000, Work(limit=1500))
