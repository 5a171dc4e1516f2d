"""Each string that contains a secret is replaced whole; every other string is kept."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.catalog.model import GrpcStatus, Response
from catalog_probe.probes.targets.target import Credential, Provider, Target, Variables
from catalog_probe.probes.wire.known_secrets import Work
from catalog_probe.probes.wire.redaction import HIDDEN, MIN_SECRET, TOO_LONG, Redactor, collect_secrets

if TYPE_CHECKING:
    import pytest

SECRET = "Canary_9fQ2zX7wKd4LmT0vB8rY1p"
MARKER = "${K}"
HIDDEN_WHOLE = "[hidden: contains ${K}]"

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


def make_redactor(**others: str) -> Redactor:
    return Redactor({SECRET: MARKER, **others})


def redact_headers(headers: dict[str, str], redactor: Redactor | None = None) -> dict[str, str]:
    return (redactor or make_redactor()).redact_headers(headers, Work())


def test_string_with_a_secret_is_replaced() -> None:
    assert make_redactor().redact_text(SECRET) == MARKER
    assert make_redactor().redact_text(f"no model {SECRET[3:]}, but others") == HIDDEN_WHOLE
    assert make_redactor().redact_text(f"${{{SECRET}}}") == HIDDEN_WHOLE, "no variable, though it is written as one"
    assert HIDDEN.fullmatch(HIDDEN_WHOLE)


@given(st.text(max_size=60))
def test_string_without_a_secret_is_unchanged(text: str) -> None:
    assert make_redactor().redact_text(text) == text


@given(st.sampled_from([SECRET, f"no {SECRET}", f"{SECRET[:12]} and on"]))
def test_redaction_is_idempotent(text: str) -> None:
    once = make_redactor().redact_text(text)
    assert make_redactor().redact_text(once) == once


def test_own_sentence_is_kept_around_a_whole_key() -> None:
    sentence = "the control GET https://a.example/v1/models?key={} was answered 401"
    assert make_redactor().redact_sentence(sentence.format(SECRET)) == sentence.format(MARKER)
    assert make_redactor().redact_sentence(sentence.format(SECRET.upper())) == HIDDEN_WHOLE
    assert make_redactor().redact_sentence(sentence.format("none")) == sentence.format("none")


def test_marker_that_resembles_its_secret_is_kept() -> None:
    redactor = Redactor({"my_secret_token_1_9fQ2zX7": "${MY_SECRET_TOKEN_1_9FQ2ZX7}"})
    assert redactor.redact_text("${MY_SECRET_TOKEN_1_9FQ2ZX7}") == "${MY_SECRET_TOKEN_1_9FQ2ZX7}"


@given(
    st.recursive(
        st.just(SECRET) | st.text(),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text() | st.just(SECRET), inner, max_size=4),
        max_leaves=12,
    )
)
def test_json_names_and_values_are_redacted(value: object) -> None:
    assert SECRET not in json.dumps(make_redactor().redact_json(value, Work()))


def test_other_json_values_are_kept() -> None:
    value = {"a": [1, None, f"no {SECRET}", "é"], SECRET: {"b": True}}
    assert make_redactor().redact_json(value, Work()) == {"a": [1, None, HIDDEN_WHOLE, "é"], MARKER: {"b": True}}


def test_only_lines_with_a_secret_are_replaced() -> None:
    page = f"<p>one</p>\r\n<p>{SECRET}</p>\n\n  {SECRET}\nlast"
    assert make_redactor().redact_lines(page, Work()) == f"<p>one</p>\r\n{HIDDEN_WHOLE}\n\n{HIDDEN_WHOLE}\nlast"


def test_only_url_parts_with_a_secret_are_replaced(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, str]] = [
        (f"https://a.example/v1/models?key={SECRET}&alt=sse", "https://a.example/v1/models?key=${K}&alt=sse"),
        (f"https://a.example/v1/{SECRET[2:]}/files", f"https://a.example/v1/{HIDDEN_WHOLE}/files"),
        ("https://a.example/v1/models?page=2#x", "https://a.example/v1/models?page=2#x"),
    ]
    for url, redacted in cases:
        with subtests.test(url=url):
            assert make_redactor().redact_url(url, Work()) == redacted


def test_percent_encoded_key_in_a_url_is_named() -> None:
    assert (
        Redactor({"sk/needs+escapes": MARKER}).redact_url("http://h/m?key=sk%2Fneeds%2Bescapes", Work())
        == "http://h/m?key=${K}"
    )


def test_headers_are_redacted_by_exact_name() -> None:
    redacted = redact_headers(HEADERS, Redactor({"sk-secret": MARKER}, ["X-Own-Key"]))
    assert redacted == {
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


def test_key_header_of_another_provider_is_hidden() -> None:
    assert redact_headers({"x-pb-api-key": "unknown-key"}) == {"x-pb-api-key": "[redacted]"}


def test_known_key_becomes_its_variable(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, str]] = [
        (f"Bearer {SECRET}", "Bearer ${K}"),
        (SECRET, "${K}"),
        ("Bearer public-key", "Bearer public-key"),
        ("Bearer ${OTHER_KEY}", "Bearer ${OTHER_KEY}"),
        (f"Bearer ${{{SECRET}}}", f"Bearer {HIDDEN_WHOLE}"),
        (f"Bearer {SECRET}x", "Bearer [redacted]"),
        (f"Token {SECRET}", "Token ${K}"),
        (f"{SECRET} {SECRET}", "${K} ${K}"),
        ("scheme of two words", "[redacted]"),
    ]
    for value, redacted in cases:
        with subtests.test(value=value):
            assert redact_headers(
                {"authorization": value}, Redactor({SECRET: MARKER}, names={"public-key": "public-key"})
            ) == {"authorization": redacted}


def test_secret_in_header_name_and_value_is_hidden() -> None:
    assert redact_headers({f"x-{SECRET.lower()}": f"v={SECRET}"}) == {HIDDEN_WHOLE: HIDDEN_WHOLE}


def test_lone_surrogate_is_replaced() -> None:
    assert make_redactor().redact_text("a\ud800b é 🙂") == "a\ufffdb é 🙂"
    assert make_redactor().redact_json({"\ud800": ["\udfff"]}, Work()) == {"\ufffd": ["\ufffd"]}


def test_short_value_is_not_hidden() -> None:
    assert MIN_SECRET == 6
    assert Redactor({"model": MARKER}).redact_text("the model") == "the model"
    assert Redactor({"models": MARKER}).redact_text("the models") == HIDDEN_WHOLE


def test_words_about_secrets_are_kept(subtests: pytest.Subtests) -> None:
    for words in ['{"max_tokens": 1}', "x-api-key", "api_key", "tokens"]:
        with subtests.test(words=words):
            assert Redactor({"sk-ant-secret": MARKER}, ["x-api-key"]).redact_text(words) == words


def test_account_ids_are_replaced_everywhere() -> None:
    redactor = make_redactor()
    redactor.learn(Response(status=200, headers=HEADERS))
    assert redactor.redact_text("limit of 0f9b3c1e-organization reached") == "limit of [pa-organization-id] reached"
    assert redactor.redact_json({"wrkspc_0123456789": 1}, Work()) == {"wrkspc_[pa-workspace-id]": 1}
    assert redactor.redact_text("wrkspc_0123456") == "wrkspc_0123456"
    assert redactor.redact_text("wrkspc_01234567890 or x-wrkspc_0123456789") == (
        "wrkspc_01234567890 or x-wrkspc_0123456789"
    ), "parts of other words"


def test_word_of_the_evidence_is_no_account_id(subtests: pytest.Subtests) -> None:
    for identifier in ["default", "production", "org-1", "a b 12345678"]:
        with subtests.test(identifier=identifier):
            redactor = make_redactor()
            redactor.learn(Response(status=200, headers={"pa-organization-id": identifier}))
            assert redactor.redact_text(f"the {identifier} model") == f"the {identifier} model"
            assert redact_headers({"pa-organization-id": identifier}, redactor) == {
                "pa-organization-id": "[pa-organization-id]"
            }


def test_string_that_repeats_an_account_id_does_not_grow() -> None:
    redactor = make_redactor()
    redactor.learn(Response(status=200, headers=HEADERS))
    assert redactor.redact_text("wrkspc_0123456789 " * 20).count("wrkspc_[pa-workspace-id]") == 20
    assert redactor.redact_text("wrkspc_0123456789 " * 2000) == TOO_LONG


def test_sentence_that_repeats_a_short_key_does_not_grow() -> None:
    redactor = Redactor({"sk-1234": "${A_VARIABLE_WITH_A_LONG_NAME}", "VARIABLE_WITH": "${K}"})
    assert redactor.redact_sentence("no sk-1234, VARIABLE_WITH") == ("[hidden: contains ${K}]"), (
        "one pass; then the name of the first key contains the second"
    )
    assert redactor.redact_sentence("sk-1234 " * 1000) == TOO_LONG


def test_key_in_an_account_header_is_hidden() -> None:
    redacted = redact_headers({"pa-organization-id": f"org_{SECRET}"}, make_redactor())
    assert redacted == {"pa-organization-id": "org_[pa-organization-id]"}
    assert redact_headers({"pa-organization-id": SECRET}) == {"pa-organization-id": "[pa-organization-id]"}


def test_account_ids_in_trailers_are_replaced() -> None:
    redactor = make_redactor()
    redactor.learn(Response(grpc=GrpcStatus(0, trailers={"pa-organization-id": "0f9b3c1e-organization"})))
    assert redactor.redact_text("0f9b3c1e-organization") == "[pa-organization-id]"


def test_number_of_learned_account_ids_is_limited() -> None:
    redactor = make_redactor()
    for number in range(1000):
        redactor.learn(Response(headers={"pa-organization-id": f"organization-{number:03}"}))
    assert redactor.redact_text("organization-009") == "[pa-organization-id]"
    assert redactor.redact_text("organization-999") == "organization-999"
    assert redact_headers({"pa-organization-id": "organization-999"}, redactor) == {
        "pa-organization-id": "[pa-organization-id]"
    }


def test_secret_of_an_answer_is_hidden_afterwards() -> None:
    redactor = make_redactor()
    answer = Response(status=200, body={"name": "auth_tokens/Hs6yQe1Vb3Nc8Gu5", "short": "abc", "same": SECRET, "n": 1})
    assert redactor.redact_text("auth_tokens/Hs6yQe1Vb3Nc8Gu5") == "auth_tokens/Hs6yQe1Vb3Nc8Gu5"
    for _ in range(2):
        redactor.learn(answer, ["/name", "/short", "/same", "/n", "/nothing"])
    assert redactor.redact_text("auth_tokens/Hs6yQe1Vb3Nc8Gu5") == "{secret_1}"
    assert redactor.redact_text("token Hs6yQe1Vb3Nc8") == "[hidden: contains {secret_1}]"
    assert redactor.redact_text("auth_tokens/none") == "auth_tokens/none"
    assert redactor.redact_text("abc") == "abc"
    assert redactor.redact_text(SECRET) == MARKER


def test_target_keys_become_their_variables() -> None:
    credentials = {
        "inference": Credential("inference", "real_9fQ2zX7wKd4Lm", "PA_API_KEY"),
        "admin": Credential("admin", "literal-of-a-mock"),
        "none": Credential("none", None, "NOBODY"),
    }
    redactor = Redactor.for_target(
        Target("t", False, frozenset(), {"pa": Provider("pa", id_prefix="real_", credentials=credentials)})
    )
    assert redactor.redact_text("real_9fQ2zX7wKd4Lm") == "${PA_API_KEY}"
    assert redactor.redact_text("pa_9fQ2zX7wKd4Lm") == "${PA_API_KEY}", (
        "also where its beginning was taken for an identifier's"
    )
    assert redactor.redact_text("literal-of-a-mock") == "${PA_ADMIN_KEY}", "ready to be pasted, and no secret:"
    assert redactor.redact_text("no literal-of-a-mock") == "no literal-of-a-mock"


def test_key_of_a_gateway_in_a_target_s_headers_is_a_secret() -> None:
    """A header for a gateway is sent with each request, and may be echoed as a key may."""
    provider = Provider(
        "pa",
        headers={"x-gateway-key": "gw-9fQ2zX7wKd4Lm", "pa-version": "2023-06-01"},
        variables=Variables({"headers.x-gateway-key": "GATEWAY_KEY", "headers.pa-version": "PA_VERSION"}),
    )
    target = Target("t", True, frozenset(), {"pa": provider})
    assert collect_secrets([target]) == {"gw-9fQ2zX7wKd4Lm": "${GATEWAY_KEY}"}
    assert target.secret_variables == {"GATEWAY_KEY"}


def test_password_of_a_proxy_is_a_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://robot:hunter%2F2%21@proxy.example:3128")
    monkeypatch.setenv("ALL_PROXY", "proxy.example")
    secrets = collect_secrets([])
    assert secrets == dict.fromkeys(["hunter/2!", "robot:hunter/2!", "cm9ib3Q6aHVudGVyLzIh"], "{proxy_password}"), (
        "the Basic form too"
    )
    redactor = Redactor(secrets)
    for refusal in ("407 no hunter%2F2%21", "407 Basic cm9ib3Q6aHVudGVyLzIh", "407 no HUNTER/2!"):
        assert redactor.redact_sentence(refusal) in (
            "[hidden: contains {proxy_password}]",
            "407 Basic {proxy_password}",
        )
