"""No secret of six letters or more survives in any form a server may give it, and ordinary words do."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from catalog_probe.probes.targets.target import Credential, Provider, Target
from catalog_probe.probes.wire.redaction import redact
from catalog_probe.probes.wire.redaction.redact import MIN_SECRET, Redactor

if TYPE_CHECKING:
    from collections.abc import Callable

INVISIBLE = "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0"
LETTERS = st.characters(
    codec="utf-8", exclude_categories=["Cs", "Cc", "Cf", "Zl", "Zp", "Zs", "Cn", "Mn"], exclude_characters=INVISIBLE
)
SECRETS = st.text(LETTERS, min_size=MIN_SECRET, max_size=40)
AROUND = st.text(st.sampled_from("Aa0 ,.:\n"), max_size=7)
MARKER = "${K}"

FORMS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "percent": lambda secret: quote(secret, safe=""),
    "path": quote,
    "form": quote_plus,
    "every byte": lambda secret: "".join(f"%{byte:02X}" for byte in secret.encode()),
    "json": lambda secret: json.dumps(secret)[1:-1],
    "hexadecimal": lambda secret: secret.encode().hex(),
    "bytes": lambda secret: repr(secret.encode())[2:-1],
}


@given(SECRETS, AROUND, AROUND, st.sampled_from(sorted(FORMS)))
def test_a_secret_survives_in_no_form(secret: str, before: str, after: str, name: str) -> None:
    form = FORMS[name](secret)
    assume(MARKER not in form and form not in MARKER and form not in before + after)
    shown = Redactor({secret: MARKER}).text(before + form + after)
    assert form not in shown
    assert MARKER in shown


@pytest.mark.parametrize("name", FORMS)
def test_each_form_is_hidden_to_its_last_character(name: str) -> None:
    secret = 'sk é"\\/secret"'
    assert Redactor({secret: MARKER}).text(f"<{FORMS[name](secret)}>") == f"<{MARKER}>"


def test_a_secret_that_is_no_utf_8_is_hidden() -> None:
    """The environment hands out such bytes as lone surrogates."""
    assert Redactor({"sk-\udcff-secret": MARKER}).text("<sk-\udcff-secret>") == f"<{MARKER}>"


@given(SECRETS, st.binary(max_size=5), st.binary(max_size=5), st.booleans())
def test_nor_in_base64_wherever_it_stands_in_it(secret: str, before: bytes, after: bytes, urlsafe: bool) -> None:
    encode = base64.urlsafe_b64encode if urlsafe else base64.b64encode
    raw = secret.encode()
    shown = Redactor({secret: MARKER}).text(encode(before + raw + after).decode())
    assert MARKER in shown
    left = shown.replace(MARKER, "")
    assert len(left) <= len(encode(before + after)) + 8, "nothing but its neighbours is left"


@given(st.lists(SECRETS, min_size=1, max_size=4, unique=True), st.text(LETTERS, max_size=60), st.data())
def test_redacting_twice_changes_nothing(secrets: list[str], text: str, data: st.DataObject) -> None:
    assume(not any(part in secret for secret in secrets for part in ("$", "{", "}", "K0", "K1", "K2", "K3")))
    redactor = Redactor({secret: f"${{K{number}}}" for number, secret in enumerate(secrets)})
    planted = text + data.draw(st.sampled_from(secrets)) + text
    once = redactor.text(planted)
    assert redactor.text(once) == once
    assert not any(secret in once for secret in secrets)


@given(
    st.recursive(
        st.just("sk-planted-secret") | st.text(),
        lambda inner: (
            st.lists(inner, max_size=4) | st.dictionaries(st.text() | st.just("sk-planted-secret"), inner, max_size=4)
        ),
        max_leaves=12,
    )
)
def test_json_is_redacted_in_every_key_and_value(value: object) -> None:
    assert "sk-planted-secret" not in json.dumps(Redactor({"sk-planted-secret": MARKER}).json(value))


def test_half_a_surrogate_pair_becomes_its_escape() -> None:
    assert Redactor({}).text("a\ud800b é") == "a\\ud800b é"


@pytest.mark.parametrize("value", ["plain", "sk-planted-secret"])
def test_so_it_does_in_names_and_values_of_json(value: str) -> None:
    redactor = Redactor({"sk-planted-secret": MARKER})
    shown = "plain" if value == "plain" else MARKER
    assert redactor.json({"\ud800": ["\udfff", value]}) == {"\\ud800": ["\\udfff", shown]}


def test_a_public_word_may_be_no_utf_8() -> None:
    redactor = Redactor({"sk-planted-secret": MARKER}, public=["\udcff-planted-secret"])
    assert redactor.text("sk-planted-secr -planted-secret") == f"{MARKER} -planted-secret"


def test_secrets_that_touch_are_two() -> None:
    redactor = Redactor({"sk-first-secret": "${A}", "sk-other-secret": "${B}"})
    assert redactor.text("sk-first-secretsk-other-secret!") == "${A}${B}!"


def test_around_a_secret_that_neighbours_share_the_rest_stays() -> None:
    redactor = Redactor({"sk-planted-secret": MARKER})
    assert redactor.json(["é sk-planted", "-secret and on", "more"]) == [f"é {MARKER}", f"{MARKER} and on", "more"]


def test_bytes_show_what_is_around_a_secret_and_nothing_of_one_beyond_their_size() -> None:
    redactor = Redactor({"sk-planted-secret": MARKER})
    raw = b"\x01sk-planted-secret\x02"
    assert redactor.binary(raw, 64) == f"01{MARKER}02"
    assert redactor.binary(raw, 2) == f"01{MARKER}"
    assert redactor.binary(raw, 1) == "01"


def test_the_longer_of_two_secrets_is_hidden_whole() -> None:
    redactor = Redactor({"mock-key": "${SHORT}", "mock-key-long": "${LONG}"})
    assert redactor.text("mock-key-long mock-key") == "${LONG} ${SHORT}"


def test_a_short_value_is_not_hidden_for_it_would_blot_out_words() -> None:
    assert Redactor({"model": MARKER}).text("the model") == "the model"
    assert Redactor({"model": MARKER}).text(b"model".hex()) == "6d6f64656c"


HEADERS = {
    "authorization": "Bearer unknown-key",
    "proxy-authorization": "Basic dXNlcjpwYXNz",
    "x-api-key": "unknown-key",
    "cookie": "session=unknown",
    "set-cookie": "session=unknown",
    "x-own-key": "unknown-key",
    "pa-organization-id": "0f9b3c1e-organization",
    "pa-workspace-id": "wrkspc_0123456789",
    "pa-ratelimit-tokens-limit": "4000",
    "content-type": "application/json",
}


def test_headers_are_redacted_by_exact_name() -> None:
    shown = Redactor({"sk-secret": MARKER}, ["X-Own-Key"], ["public-key"]).headers(HEADERS)
    assert shown == {
        "authorization": "Bearer [redacted]",
        "proxy-authorization": "Basic [redacted]",
        "x-api-key": "[redacted]",
        "cookie": "[redacted]",
        "set-cookie": "[redacted]",
        "x-own-key": "[redacted]",
        "pa-organization-id": "[pa-organization-id]",
        "pa-workspace-id": "wrkspc_[pa-workspace-id]",
        "pa-ratelimit-tokens-limit": "4000",
        "content-type": "application/json",
    }


def test_headers_of_secrets_are_known_whatever_the_providers_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redact, "providers", lambda: ())
    secret = {name: value for name, value in HEADERS.items() if "unknown" in value or "Basic" in value}
    shown = Redactor({}, ["x-own-key"]).headers(secret)
    assert shown.keys() == secret.keys()
    assert all(value.endswith("[redacted]") for value in shown.values())


def test_a_secret_is_hidden_in_the_name_and_in_the_value_of_one_header() -> None:
    redactor = Redactor({"sk-planted-secret": MARKER})
    assert redactor.headers({"x-sk-planted-secret": "sk-planted-secret"}) == {f"x-{MARKER}": MARKER}


def test_a_key_is_hidden_in_the_header_of_any_provider() -> None:
    assert Redactor({}).headers({"x-pb-api-key": "unknown-key"}) == {"x-pb-api-key": "[redacted]"}


@pytest.mark.parametrize(
    "value, shown",
    [("Bearer sk-secret", "Bearer ${K}"), ("sk-secret", "${K}"), ("Bearer public-key", "Bearer public-key")],
)
def test_a_known_key_can_be_pasted(value: str, shown: str) -> None:
    redactor = Redactor({"sk-secret": MARKER}, public=["public-key"])
    assert redactor.headers({"authorization": value}) == {"authorization": shown}


def test_an_account_identifier_is_hidden_wherever_it_turns_up_next() -> None:
    redactor = Redactor({})
    redactor.headers(HEADERS)
    assert redactor.text("of 0f9b3c1e-organization") == "of [pa-organization-id]"
    assert redactor.json({"wrkspc_0123456789": 1}) == {"wrkspc_[pa-workspace-id]": 1}


@pytest.mark.parametrize(
    ("secret", "like_it"), [("1é-mnopqrstuvwx", "ĩ-mnopqrstuvwx"), ("abcdefghijklmé1", "abcdefghijklmè")]
)
def test_a_character_of_which_a_part_is_hidden_is_hidden_whole(secret: str, like_it: str) -> None:
    """These end, or begin, with the same byte: UTF-8 has it in another character as well."""
    assert Redactor({secret: MARKER}).text(f"<{like_it}>") == f"<{MARKER}>"


def test_what_was_shown_before_it_was_a_secret_is_hidden_from_then_on() -> None:
    redactor = Redactor({})
    assert redactor.text("in wrkspc_0123456789") == "in wrkspc_0123456789"
    redactor.learn("wrkspc_0123456789", "workspace")
    assert redactor.text("in wrkspc_0123456789") == "in wrkspc_[workspace]"


def test_a_secret_may_become_known_later() -> None:
    redactor = Redactor({})
    redactor.hide("sk-later-secret", MARKER)
    assert redactor.text("<sk-later-secret>") == f"<{MARKER}>"


def test_of_an_account_identifier_a_part_is_none() -> None:
    redactor = Redactor({})
    redactor.learn("wrkspc_0123456789abcdef", "workspace")
    assert redactor.text("wrkspc_0123456789abc") == "wrkspc_0123456789abc"


@pytest.mark.parametrize(("own", "shown"), [("0f9b3c1e-or", "0f9b3c1e-or"), ("0f9b3c1e-org", "{secret_1}")])
def test_of_what_is_handed_out_under_its_kind_the_rest_is_a_secret_where_it_is_long_enough(
    own: str, shown: str
) -> None:
    redactor = Redactor({})
    redactor.keep(f"tokens/{own}", seen_as=f"tokens/{own}")
    assert redactor.text(f"<tokens/{own}> <{own}>") == f"<{{secret_1}}> <{shown}>"


def test_what_answers_hand_out_is_kept_once_and_what_is_too_short_is_not() -> None:
    redactor = Redactor({"sk-known-already": MARKER})
    for handed in ("tok-0123456789ab", "tok-0123456789ab", "short", "sk-known-already", "t-0123"):
        redactor.keep(handed, seen_as=handed)
    assert redactor.kept == {"secret_1": "tok-0123456789ab", "secret_2": "t-0123"}
    assert redactor.text("tok-0123456789ab, short, t-0123") == "{secret_1}, short, {secret_2}"


def test_a_marker_that_reads_like_the_beginning_of_a_secret_stays() -> None:
    redactor = Redactor({"sk-other-secret": "${PA_API_KEY}", "${PA_API_KEY}-and-more": MARKER})
    assert redactor.text("<sk-other-secret>") == "<${PA_API_KEY}>"
    assert redactor.text("<${PA_API_KEY}>") == "<${PA_API_KEY}>"
    both = redactor.text("<${PA_API_KEY}> <sk-other-secret> <${PA_API_KEY}-and-more>")
    assert both == f"<${{PA_API_KEY}}> <${{PA_API_KEY}}> <{MARKER}>"


@pytest.mark.parametrize(
    "words", ['{"max_tokens": 1}', '{"usage": {"input_tokens": 7}}', "x-api-key", "api_key", "tokens"]
)
def test_words_about_secrets_are_none(words: str) -> None:
    redactor = Redactor({"sk-ant-secret": MARKER}, ["x-api-key"])
    assert redactor.text(words) == words


def test_the_keys_of_a_target_become_its_variables() -> None:
    credentials = {
        "inference": Credential("inference", "real_key_1234", "PA_API_KEY"),
        "admin": Credential("admin", "literal-5678"),
        "none": Credential("none", None, "NOBODY"),
    }
    provider = Provider("pa", id_prefix="real_", credentials=credentials)
    redactor = Redactor.of(Target("t", False, frozenset(), {"pa": provider}))
    assert redactor.text("real_key_1234 literal-5678") == "${PA_API_KEY} ${PA_ADMIN_KEY}"
    assert redactor.text("pa_key_1234") == "${PA_API_KEY}", "also where its beginning was taken for an identifier's"
