"""A credential that an answer hands out stays out of the evidence, and can be used all the same."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Outcome
from catalog_probe.probes.wire.redaction.redact import Redactor

if TYPE_CHECKING:
    from tests.harness.engines import Clean

MADE = "pb/endpoints/auth_tokens/create_auth_token"
USED = "pb/errors/general/expired_ephemeral_token"


def test_what_a_probe_is_given_is_a_placeholder(clean: Clean) -> None:
    (success,) = (each for each in clean("pb")[MADE].attempts[-1].exchanges if each.label == "success")
    assert success.response is not None
    assert success.response.body["name"].startswith("{secret_")


def test_the_provider_gets_what_the_placeholder_stands_for(clean: Clean) -> None:
    """The answer is that to an expired token; a placeholder sent as it is would get that to an unknown one."""
    result = clean("pb")[USED]
    assert result.outcome is Outcome.CONFORMS
    *_, answer = result.attempts[-1].exchanges
    assert answer.response is not None
    assert "expired" in answer.response.body["error"]["message"]
    assert "auth_tokens/" not in json.dumps(result.to_json()["attempts"]).replace("/auth_tokens", "")


def test_a_secret_is_kept_once_in_all_its_forms() -> None:
    redactor = Redactor({})
    for _ in range(2):
        redactor.keep("pa_real-secret", seen_as="pa_neutral-secret")
    assert redactor.kept == {"secret_1": "pa_real-secret"}
    assert redactor.text("pa_real-secret and pa_neutral-secret") == "{secret_1} and {secret_1}"


def test_what_is_too_short_to_hide_by_value_is_let_be() -> None:
    redactor = Redactor({})
    redactor.keep("abc", seen_as="abc")
    assert redactor.text("abcdef") == "abcdef"
