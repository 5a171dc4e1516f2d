"""Credentials of recorded exchanges are hidden by the names of their fields, and nothing else is."""

from __future__ import annotations

from base64 import b64encode

import pytest

from catalog_probe.catalog.model import Exchange, Request, Response
from catalog_probe.probes.traffic.normalizing import make_redactor
from catalog_probe.probes.traffic.recording import RecordedAttempt
from catalog_probe.probes.traffic.sources import unknown_target
from catalog_probe.probes.wire.redaction.work import Work

KEY = "sk-canary-7f3a9c20-not-to-be-seen"
URL = "https://h.example/v1/models"
REQUESTS_WITH_KEY = {
    "a header of a gateway": Request("GET", URL, {"X-Goog-Api-Key": KEY}),
    "a header for a token": Request("GET", URL, {"x-amz-security-token": KEY}),
    "a header with a scheme": Request("GET", URL, {"helicone-auth": f"Bearer {KEY}"}),
    "a password written down": Request(
        "GET", URL, {"authorization": f"Basic {b64encode(f'me:{KEY}'.encode()).decode()}"}
    ),
    "a name in a password's place": Request(
        "GET", URL, {"authorization": f"Basic {b64encode(f'{KEY}:'.encode()).decode()}"}
    ),
    "a protocol": Request("GET", URL, {"sec-websocket-protocol": f"realtime, insecure-api-key.{KEY}"}),
    "a password in the address": Request("GET", f"https://me:{KEY}@h.example/v1/models"),
    "a name in the address": Request("GET", f"https://{KEY}@h.example/v1/models"),
    "a signature": Request("GET", f"{URL}?X-Amz-Signature={KEY}"),
    "a form": Request("POST", URL, {}, {"grant_type": "client_credentials", "client_secret": KEY}),
}


@pytest.mark.parametrize("request_with_key", REQUESTS_WITH_KEY.values(), ids=REQUESTS_WITH_KEY)
def test_key_in_a_request_is_hidden_by_field_name(request_with_key: Request) -> None:
    attempt = RecordedAttempt(
        "here", (Exchange("answer", request_with_key, Response(401, {}, {"message": f"no {KEY}"}, "json")),)
    )
    redactor = make_redactor([attempt], [unknown_target()])
    assert redactor.redact_text(KEY) == f"${{CREDENTIAL_{marker_number(request_with_key)}}}"
    assert redactor.redact_text(f"no {KEY}.") == f"[hidden: contains ${{CREDENTIAL_{marker_number(request_with_key)}}}]"


def marker_number(request_with_key: Request) -> int:
    """Return the number of the key's marker; parts of a known credential header come first."""
    return 3 if "authorization" in request_with_key.headers else 1


def test_token_in_an_answer_is_hidden() -> None:
    body = {"access_token": KEY, "client_secret": {"value": KEY[::-1], "expires_at": 1}, "token_type": "bearer"}
    attempt = RecordedAttempt("here", (Exchange("answer", Request("POST", URL), Response(200, {}, body, "json")),))
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
    body = {"next_page_token": "cursor-0123456789", "id_token": {"type": "string"}, "token": "sixteen-letters!"}
    attempt = RecordedAttempt("here", (Exchange("answer", Request("GET", url, headers, body)),))
    redactor = make_redactor([attempt], [unknown_target()])
    assert (redactor.redact_headers(headers, Work()), redactor.redact_url(url, Work())) == (headers, url)
    assert redactor.redact_json(body, Work()) == body
