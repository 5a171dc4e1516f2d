"""A credential of a recorded exchange is hidden wherever the name of a field gives it away, and nothing else is."""

from __future__ import annotations

from base64 import b64encode

import pytest

from catalog_probe.catalog.model import Exchange, Request, Response
from catalog_probe.probes.traffic.normalizing import make_redactor
from catalog_probe.probes.traffic.recording import RecordedAttempt
from catalog_probe.probes.traffic.sources import unknown_target
from catalog_probe.probes.wire.redaction.work import Work

KEY = "sk-canary-7f3a9c20-not-to-be-seen"
ADDRESS = "https://h.example/v1/models"
CARRIED = {
    "a header of a gateway": Request("GET", ADDRESS, {"X-Goog-Api-Key": KEY}),
    "a header for a token": Request("GET", ADDRESS, {"x-amz-security-token": KEY}),
    "a header with a scheme": Request("GET", ADDRESS, {"helicone-auth": f"Bearer {KEY}"}),
    "a password written down": Request(
        "GET", ADDRESS, {"authorization": f"Basic {b64encode(f'me:{KEY}'.encode()).decode()}"}
    ),
    "a name in a password's place": Request(
        "GET", ADDRESS, {"authorization": f"Basic {b64encode(f'{KEY}:'.encode()).decode()}"}
    ),
    "a protocol": Request("GET", ADDRESS, {"sec-websocket-protocol": f"realtime, insecure-api-key.{KEY}"}),
    "a password in the address": Request("GET", f"https://me:{KEY}@h.example/v1/models"),
    "a name in the address": Request("GET", f"https://{KEY}@h.example/v1/models"),
    "a signature": Request("GET", f"{ADDRESS}?X-Amz-Signature={KEY}"),
    "a form": Request("POST", ADDRESS, {}, {"grant_type": "client_credentials", "client_secret": KEY}),
}


@pytest.mark.parametrize("asking", CARRIED.values(), ids=CARRIED)
def test_a_key_is_hidden_wherever_the_name_of_a_field_gives_it_away(asking: Request) -> None:
    recorded = RecordedAttempt(
        "here", (Exchange("answer", asking, Response(401, {}, {"message": f"no {KEY}"}, "json")),)
    )
    shown = make_redactor([recorded], [unknown_target()])
    assert shown.redact_text(KEY) == f"${{CREDENTIAL_{kept_as(asking)}}}"
    assert shown.redact_text(f"no {KEY}.") == f"[hidden: contains ${{CREDENTIAL_{kept_as(asking)}}}]"


def kept_as(asking: Request) -> int:
    """After a header that is known to be a credential: its scheme's key and all of it are hidden first."""
    return 3 if "authorization" in asking.headers else 1


def test_so_is_what_an_answer_hands_out() -> None:
    handed_out = {"access_token": KEY, "client_secret": {"value": KEY[::-1], "expires_at": 1}, "token_type": "bearer"}
    recorded = RecordedAttempt(
        "here", (Exchange("answer", Request("POST", ADDRESS), Response(200, {}, handed_out, "json")),)
    )
    shown = make_redactor([recorded], [unknown_target()]).redact_json(handed_out, Work())
    hidden = {"value": "${CREDENTIAL_2}", "expires_at": 1}
    assert shown == {"access_token": "${CREDENTIAL_1}", "client_secret": hidden, "token_type": "bearer"}


def test_what_is_no_credential_stays_whatever_its_name_ends_in() -> None:
    said = {
        "idempotency-key": "9f31c2aa-one-request",
        "x-max-tokens": "123456789012",
        "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
        "x-use-api-key": "the default one",
    }
    url = f"{ADDRESS}?page_token=cursor-0123456789&limit=2"
    body = {"next_page_token": "cursor-0123456789", "id_token": {"type": "string"}, "token": "sixteen-letters!"}
    recorded = RecordedAttempt("here", (Exchange("answer", Request("GET", url, said, body)),))
    redactor = make_redactor([recorded], [unknown_target()])
    assert (redactor.redact_headers(said, Work()), redactor.redact_url(url, Work())) == (said, url)
    assert redactor.redact_json(body, Work()) == body
