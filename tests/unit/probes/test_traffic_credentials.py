"""Credentials of recorded exchanges are hidden by the names of their fields or by their form, and nothing else is."""

from __future__ import annotations

import json
from base64 import b64encode
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Event, Exchange, Request, Response
from catalog_probe.catalog.model.exchange import GrpcStatus
from catalog_probe.catalog.text.credential_names import is_credential_name
from catalog_probe.probes.targets.dialect import Dialect
from catalog_probe.probes.traffic.normalizing import make_redactor, normalize_exchange
from catalog_probe.probes.traffic.recordings import RecordedAttempt
from catalog_probe.probes.traffic.sources import unknown_target
from catalog_probe.probes.wire.known_secrets import Work

if TYPE_CHECKING:
    import pytest

KEY = "sk-canary-7f3a9c20-not-to-be-seen"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJpZCI6MSwia2V5IjoiYSJ9.c2lnbmF0dXJlLW5vdC1zZWVu"
URL = "https://h.example/v1/models"


def encode_basic(text: str) -> str:
    return f"Basic {b64encode(text.encode()).decode()}"


def make_deep(value: object) -> object:
    for _ in range(100):
        value = {"member": [value]}
    return value


def make_request(*, url: str = URL, headers: dict[str, str] | None = None, body: object = None) -> Exchange:
    return Exchange("answer", Request("POST", url, headers or {}, body))


def make_answer(**response: object) -> Exchange:
    return Exchange("answer", Request("POST", URL), Response(200, **response))  # type: ignore[arg-type]


EXCHANGES_WITH_KEY = {
    "a header of a gateway": make_request(headers={"X-Goog-Api-Key": KEY}),
    "a header for functions": make_request(headers={"x-functions-key": KEY}),
    "a header for a token": make_request(headers={"x-amz-security-token": KEY}),
    "a header with a scheme": make_request(headers={"helicone-auth": f"Bearer {KEY}"}),
    "a header of an answer": make_answer(headers={"x-auth-token": KEY}),
    "a trailer": make_answer(grpc=GrpcStatus(0, "", {"x-session-token": KEY})),
    "a URL in a header": make_request(headers={"referer": f"https://h.example/?limit=2&access_token={KEY}"}),
    "a location": make_answer(headers={"location": f"/done?next=/a?access_token={KEY}"}),
    "a location's fragment": make_answer(headers={"location": f"https://h.example/done#access_token={KEY}&state=1"}),
    "a password written down": make_request(headers={"authorization": encode_basic(f"me:{KEY}")}),
    "a name in a password's place": make_request(headers={"authorization": encode_basic(f"{KEY}:")}),
    "a protocol": make_request(headers={"sec-websocket-protocol": f"realtime, insecure-api-key.{KEY}"}),
    "a password in the address": make_request(url=f"https://me:{KEY}@h.example/v1/models"),
    "a name in the address": make_request(url=f"https://{KEY}@h.example/v1/models"),
    "a signature": make_request(url=f"{URL}?X-Amz-Signature={KEY}"),
    "a form": make_request(body={"grant_type": "client_credentials", "client_secret": KEY}),
    "a form as text": make_request(body=f"client_secret={KEY}&grant_type=client_credentials"),
    "JSON as text": make_request(body=json.dumps({"client_secret": KEY})),
    "a member": make_request(body={"mcp_servers": [{"type": "url", "authorization_token": KEY}]}),
    "headers in a body": make_request(body={"tools": [{"headers": {"Authorization": f"Bearer {KEY}"}}]}),
    "a list of headers": make_request(
        body={"headers": [{"name": "Authorization", "value": encode_basic(f"me:{KEY}")}]}
    ),
    "a list of values": make_request(body={"headers": {"X-Api-Key": [KEY]}}),
    "a URL in a body": make_request(body={"file": f"see https://h.example/a?sig={KEY}"}),
    "a deep member": make_answer(body=make_deep({"apiKey": KEY})),
    "an event": make_answer(events=(Event("done", {"session": {"client_secret": {"value": KEY, "expires_at": 1}}}),)),
    "an event as sent": make_answer(events=(Event("start", {"session": {"accessToken": KEY}}, sent=True),)),
}


def test_key_in_a_field_is_hidden_everywhere(subtests: pytest.Subtests) -> None:
    for place, exchange in EXCHANGES_WITH_KEY.items():
        with subtests.test(place):
            redactor = make_redactor([RecordedAttempt("here", (exchange,))], [unknown_target()])
            assert redactor.redact_text(KEY).startswith("${CREDENTIAL_")
            assert redactor.redact_text(f"no {KEY}.").startswith("[hidden: contains ${CREDENTIAL_")


EXCHANGES_WITH_JWT = {
    "a header of an access proxy": make_request(headers={"cf-access-jwt-assertion": JWT}),
    "any header": make_request(headers={"x-amzn-oidc-data": JWT}),
    "a header of an answer": make_answer(headers={"x-identity": f"id={JWT}; path=/"}),
    "a text": make_answer(body=f"You sent {JWT}."),
    "a member": make_request(body={"input": [{"content": JWT}]}),
    "an event": make_answer(events=(Event("done", {"delta": f"it is {JWT}"}),)),
    "the message of gRPC": make_answer(grpc=GrpcStatus(16, f"bad {JWT}")),
    "a path": make_request(url=f"{URL}/{JWT}"),
}


def test_jwt_is_hidden_wherever_it_is(subtests: pytest.Subtests) -> None:
    for place, exchange in EXCHANGES_WITH_JWT.items():
        with subtests.test(place):
            redactor = make_redactor([RecordedAttempt("here", (exchange,))], [unknown_target()])
            assert JWT not in redactor.redact_text(f"no {JWT}")


def test_password_in_a_url_is_hidden_whatever_its_length() -> None:
    url, hidden = "https://me:abc@h.example/mcp", "https://***@h.example/mcp"
    exchange = Exchange(
        "answer",
        Request("POST", url, {"referer": url}, {"mcp_servers": [{"url": url}]}),
        Response(302, {"location": url}, {"error": f"no {url}"}, "json", events=(Event("done", {"url": url}),)),
    )
    normalized = normalize_exchange(exchange, "pa", Dialect("pa-", "pa-", "pa_", "pa_"))
    assert normalized.request == Request("POST", hidden, {"referer": hidden}, {"mcp_servers": [{"url": hidden}]})
    assert normalized.response is not None
    assert normalized.response.headers == {"location": hidden}
    assert normalized.response.body == {"error": f"no {hidden}"}
    assert normalized.response.events == (Event("done", {"url": hidden}),)


def test_name_of_a_credential_is_recognised(subtests: pytest.Subtests) -> None:
    cases: list[str] = [
        *("authorization_token", "X-Functions-Key", "clientSecret", "apiKey", "X-AuthToken", "auth[password]"),
        *("Authorization", "id_token", "AWS_SECRET_ACCESS_KEY", "token", "cf-access-jwt-assertion", "x-openai-auth"),
    ]
    for name in cases:
        with subtests.test(name=name):
            assert is_credential_name(name)


def test_name_of_evidence_is_no_credential(subtests: pytest.Subtests) -> None:
    cases: list[str] = [
        *("max_tokens", "page_token", "nextPageToken", "x-ratelimit-remaining-tokens", "tokenCount", "token_type"),
        *("idempotency-key", "sec-websocket-key", "prompt_cache_key", "author", "monkey", "x-api-key-id", "secrets"),
    ]
    for name in cases:
        with subtests.test(name=name):
            assert not is_credential_name(name)


def test_token_in_an_answer_is_hidden() -> None:
    body = {"access_token": KEY, "client_secret": {"value": KEY[::-1], "expires_at": 1}, "token_type": "bearer"}
    attempt = RecordedAttempt("here", (make_answer(body=body, body_type="json"),))
    redacted = make_redactor([attempt], [unknown_target()]).redact_json(body, Work())
    hidden = {"value": "${CREDENTIAL_2}", "expires_at": 1}
    assert redacted == {"access_token": "${CREDENTIAL_1}", "client_secret": hidden, "token_type": "bearer"}


def test_fields_that_are_no_credentials_are_kept() -> None:
    headers = {
        "idempotency-key": "9f31c2aa-one-request",
        "x-max-tokens": "123456789012",
        "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
        "x-use-api-key": "the default one",
    }
    url = f"{URL}?page_token=cursor-0123456789&limit=2"
    body = {
        "next_page_token": "cursor-0123456789",
        "id_token": {"type": "string"},
        "logprobs": [{"token": "Unfortunately", "logprob": -0.25}],
        "max_tokens": 4096,
        "usage": {"total_tokens": 123456789012},
        "key": "invalid_request_error",
        "thinking": {"signature": "EqQBCgIYAhIM1gbcDa9GJwZA2b3h"},
        "host": "eyJ.v1-2-3.h.example",
    }
    attempt = RecordedAttempt("here", (Exchange("answer", Request("GET", url, headers, body)),))
    redactor = make_redactor([attempt], [unknown_target()])
    assert (redactor.redact_headers(headers, Work()), redactor.redact_url(url, Work())) == (headers, url)
    assert redactor.redact_json(body, Work()) == body
