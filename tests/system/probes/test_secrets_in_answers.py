"""A credential in an answer is usable but hidden in the evidence."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Outcome

if TYPE_CHECKING:
    from tests.harness.engines import CleanResults

MADE = "pb/endpoints/auth_tokens/create_auth_token"
USED = "pb/errors/general/expired_ephemeral_token"


def test_evidence_has_a_name_in_place_of_the_credential(clean: CleanResults) -> None:
    (success,) = (exchange for exchange in clean("pb")[MADE].attempts[-1].exchanges if exchange.label == "success")
    assert success.response is not None
    assert success.response.body["name"].startswith("{secret_")


def test_a_later_call_sends_the_credential_itself(clean: CleanResults) -> None:
    """The answer is that to an expired token; its name in place of it would get that to an unknown one."""
    result = clean("pb")[USED]
    assert result.outcome is Outcome.CONFORMS
    *_, answer = result.attempts[-1].exchanges
    assert answer.response is not None
    assert "expired" in answer.response.body["error"]["message"]
    assert "auth_tokens/" not in json.dumps(result.to_json()["attempts"]).replace("/auth_tokens", "")
