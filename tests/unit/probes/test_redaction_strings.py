"""Each string that contains a secret is replaced whole; every other is kept as it is."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.catalog.model import GrpcStatus, Response
from catalog_probe.probes.targets.target import Credential, Provider, Target
from catalog_probe.probes.wire.redaction.redactor import HIDDEN, MIN_SECRET, Redactor
from catalog_probe.probes.wire.redaction.work import Work

SECRET = "Canary_9fQ2zX7wKd4LmT0vB8rY1p"
MARKER = "${K}"
WHOLE = "[hidden: contains ${K}]"

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


def redactor(**others: str) -> Redactor:
    return Redactor({SECRET: MARKER, **others})


def headers(headers: dict[str, str], own: Redactor | None = None) -> dict[str, str]:
    return (own or redactor()).redact_headers(headers, Work())


def test_a_string_is_replaced_whole_and_the_secret_alone_by_its_name() -> None:
    assert redactor().redact_text(SECRET) == MARKER
    assert redactor().redact_text(f"no model {SECRET[3:]}, but others") == WHOLE
    assert HIDDEN.fullmatch(WHOLE)


@given(st.text(max_size=60))
def test_a_string_without_a_secret_is_kept(text: str) -> None:
    assert redactor().redact_text(text) == text


@given(st.sampled_from([SECRET, f"no {SECRET}", f"{SECRET[:12]} and on"]))
def test_redacting_twice_changes_nothing(text: str) -> None:
    once = redactor().redact_text(text)
    assert redactor().redact_text(once) == once


def test_a_sentence_of_ours_keeps_its_words_around_a_whole_key() -> None:
    asked = "the control GET https://a.example/v1/models?key={} was answered 401"
    assert redactor().redact_sentence(asked.format(SECRET)) == asked.format(MARKER)
    assert redactor().redact_sentence(asked.format(SECRET.upper())) == WHOLE
    assert redactor().redact_sentence(asked.format("none")) == asked.format("none")


def test_a_name_that_reads_like_its_secret_is_kept() -> None:
    own = Redactor({"my_secret_token_1_9fQ2zX7": "${MY_SECRET_TOKEN_1_9FQ2ZX7}"})
    assert own.redact_text("${MY_SECRET_TOKEN_1_9FQ2ZX7}") == "${MY_SECRET_TOKEN_1_9FQ2ZX7}"


@given(
    st.recursive(
        st.just(SECRET) | st.text(),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text() | st.just(SECRET), inner, max_size=4),
        max_leaves=12,
    )
)
def test_json_is_redacted_in_every_name_and_value(value: object) -> None:
    assert SECRET not in json.dumps(redactor().redact_json(value, Work()))


def test_json_keeps_what_is_beside_a_secret() -> None:
    value = {"a": [1, None, f"no {SECRET}", "é"], SECRET: {"b": True}}
    assert redactor().redact_json(value, Work()) == {"a": [1, None, WHOLE, "é"], MARKER: {"b": True}}


def test_of_a_text_the_lines_are_replaced_that_contain_a_secret() -> None:
    page = f"<p>one</p>\r\n<p>{SECRET}</p>\n\n  {SECRET}\nlast"
    assert redactor().redact_lines(page, Work()) == f"<p>one</p>\r\n{WHOLE}\n\n{WHOLE}\nlast"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        (f"https://a.example/v1/models?key={SECRET}&alt=sse", "https://a.example/v1/models?key=${K}&alt=sse"),
        (f"https://a.example/v1/{SECRET[2:]}/files", f"https://a.example/v1/{WHOLE}/files"),
        ("https://a.example/v1/models?page=2#x", "https://a.example/v1/models?page=2#x"),
    ],
)
def test_of_an_address_the_parts_are_replaced_that_contain_a_secret(url: str, shown: str) -> None:
    assert redactor().redact_url(url, Work()) == shown


def test_a_key_is_named_in_an_address_that_escapes_it() -> None:
    assert (
        Redactor({"sk/needs+escapes": MARKER}).redact_url("http://h/m?key=sk%2Fneeds%2Bescapes", Work())
        == "http://h/m?key=${K}"
    )


def test_headers_are_redacted_by_exact_name() -> None:
    shown = headers(HEADERS, Redactor({"sk-secret": MARKER}, ["X-Own-Key"], ["public-key"]))
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


def test_a_key_is_hidden_in_the_header_of_any_provider() -> None:
    assert headers({"x-pb-api-key": "unknown-key"}) == {"x-pb-api-key": "[redacted]"}


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (f"Bearer {SECRET}", "Bearer ${K}"),
        (SECRET, "${K}"),
        ("Bearer public-key", "Bearer public-key"),
        ("Bearer ${OTHER_KEY}", "Bearer ${OTHER_KEY}"),
        (f"Bearer {SECRET}x", "Bearer [redacted]"),
        (f"Token {SECRET}", "Token ${K}"),
        (f"{SECRET} {SECRET}", "${K} ${K}"),
        ("scheme of two words", "[redacted]"),
    ],
)
def test_a_known_key_can_be_pasted(value: str, shown: str) -> None:
    assert headers({"authorization": value}, Redactor({SECRET: MARKER}, public=["public-key"])) == {
        "authorization": shown
    }


def test_a_secret_is_hidden_in_the_name_and_in_the_value_of_one_header() -> None:
    assert headers({f"x-{SECRET.lower()}": f"v={SECRET}"}) == {WHOLE: WHOLE}


def test_half_a_surrogate_pair_becomes_its_escape() -> None:
    assert redactor().redact_text("a\ud800b é") == "a\\ud800b é"
    assert redactor().redact_json({"\ud800": ["\udfff"]}, Work()) == {"\\ud800": ["\\udfff"]}


def test_a_short_value_is_not_hidden_for_it_would_blot_out_words() -> None:
    assert MIN_SECRET == 6
    assert Redactor({"model": MARKER}).redact_text("the model") == "the model"
    assert Redactor({"models": MARKER}).redact_text("the models") == WHOLE


@pytest.mark.parametrize("words", ['{"max_tokens": 1}', "x-api-key", "api_key", "tokens"])
def test_words_about_secrets_are_none(words: str) -> None:
    assert Redactor({"sk-ant-secret": MARKER}, ["x-api-key"]).redact_text(words) == words


def test_identifiers_of_the_account_are_replaced_where_they_are() -> None:
    own = redactor()
    own.learn(Response(status=200, headers=HEADERS))
    assert own.redact_text("limit of 0f9b3c1e-organization reached") == "limit of [pa-organization-id] reached"
    assert own.redact_json({"wrkspc_0123456789": 1}, Work()) == {"wrkspc_[pa-workspace-id]": 1}
    assert own.redact_text("wrkspc_0123456") == "wrkspc_0123456"


def test_a_key_in_the_place_of_an_identifier_shows_no_part_of_itself() -> None:
    shown = headers({"pa-organization-id": f"org_{SECRET}"}, redactor())
    assert shown == {"pa-organization-id": "org_[pa-organization-id]"}
    assert headers({"pa-organization-id": SECRET}) == {"pa-organization-id": "[pa-organization-id]"}


def test_identifiers_in_the_trailers_of_a_call_are_learned_too() -> None:
    own = redactor()
    own.learn(Response(grpc=GrpcStatus(0, trailers={"pa-organization-id": "0f9b3c1e-organization"})))
    assert own.redact_text("0f9b3c1e-organization") == "[pa-organization-id]"


def test_a_server_that_names_another_account_each_time_makes_no_string_slower() -> None:
    own = redactor()
    for number in range(1000):
        own.learn(Response(headers={"pa-organization-id": f"organization-{number:03}"}))
    assert own.redact_text("organization-009") == "[pa-organization-id]"
    assert own.redact_text("organization-999") == "organization-999"
    assert headers({"pa-organization-id": "organization-999"}, own) == {"pa-organization-id": "[pa-organization-id]"}


def test_what_an_answer_hands_out_is_a_secret_from_then_on() -> None:
    own = redactor()
    answer = Response(status=200, body={"name": "auth_tokens/Hs6yQe1Vb3Nc8Gu5", "short": "abc", "same": SECRET, "n": 1})
    assert own.redact_text("auth_tokens/Hs6yQe1Vb3Nc8Gu5") == "auth_tokens/Hs6yQe1Vb3Nc8Gu5"
    for _ in range(2):
        own.learn(answer, ["/name", "/short", "/same", "/n", "/nothing"])
    assert own.redact_text("auth_tokens/Hs6yQe1Vb3Nc8Gu5") == "{secret_1}"
    assert own.redact_text("token Hs6yQe1Vb3Nc8") == "[hidden: contains {secret_1}]"
    assert own.redact_text("auth_tokens/none") == "auth_tokens/none"
    assert own.redact_text("abc") == "abc"
    assert own.redact_text(SECRET) == MARKER


def test_the_keys_of_a_target_become_its_variables() -> None:
    credentials = {
        "inference": Credential("inference", "real_9fQ2zX7wKd4Lm", "PA_API_KEY"),
        "admin": Credential("admin", "literal-of-a-mock"),
        "none": Credential("none", None, "NOBODY"),
    }
    own = Redactor.for_target(
        Target("t", False, frozenset(), {"pa": Provider("pa", id_prefix="real_", credentials=credentials)})
    )
    assert own.redact_text("real_9fQ2zX7wKd4Lm") == "${PA_API_KEY}"
    assert own.redact_text("pa_9fQ2zX7wKd4Lm") == "${PA_API_KEY}", (
        "also where its beginning was taken for an identifier's"
    )
    assert own.redact_text("literal-of-a-mock") == "${PA_ADMIN_KEY}", "ready to be pasted, and no secret:"
    assert own.redact_text("no literal-of-a-mock") == "no literal-of-a-mock"
