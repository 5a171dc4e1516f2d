"""Answers are judged before secrets in them are hidden."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Outcome
from catalog_probe.probes.targets.target import Credential
from tests.harness.engines import mock_target_at, probe
from tests.harness.hostile import HostileServer, always_answer

if TYPE_CHECKING:
    from catalog_probe.catalog.evidence.results import Result

KEY = "sk-canary-9fQ2zX7wKd4LmT0vB8rY1p"
UNKNOWN_MODEL = "pa/errors/general/unknown_model"
CREATE_TOKEN = "pb/endpoints/auth_tokens/create_auth_token"


def probe_refused(request_id: str, in_body: str) -> Result:
    """The result of a record whose error states that the header `request-id` equals `request_id` of the body."""
    error = {"type": "not_found_error", "message": "model: no-such-model"}
    body = json.dumps({"type": "error", "error": error, "request_id": in_body}).encode()
    headers = {"pa_organization_id": "org-0123456789", "pa_workspace_id": "wrkspc_0123456789"}
    with HostileServer(
        always_answer(404, body, request_id=request_id, x_should_retry="false", **headers)
    ).serving() as base:
        target = mock_target_at(base)
        pa = target.providers["pa"]
        keyed = replace(pa, credentials={**pa.credentials, "inference": Credential("inference", KEY, "PA_API_KEY")})
        return probe(replace(target, providers={"pa": keyed}), [UNKNOWN_MODEL])[UNKNOWN_MODEL]


def test_equal_values_conform_though_both_are_hidden() -> None:
    result = probe_refused(f"req_{KEY}", f"req_{KEY}")
    assert result.outcome is Outcome.CONFORMS, (result.reason, result.findings)
    response = result.attempts[-1].exchanges[-1].response
    assert response is not None
    assert response.headers["request-id"] == "[hidden: contains ${PA_API_KEY}]"
    assert KEY[11:] not in json.dumps(result.to_json())


def test_different_values_drift_though_both_are_hidden() -> None:
    result = probe_refused(f"req_{KEY}", f"req_{KEY}-other")
    assert {finding.location for finding in result.drifts} == {"equals:/request_id"}
    assert KEY[11:] not in json.dumps(result.to_json())


def test_a_credential_in_an_answer_is_hidden_in_that_answer() -> None:
    token = "auth_tokens/Hs6yQe1Vb3Nc8Gu5"
    answer = always_answer(200, json.dumps({"name": token}).encode(), location=f"/v1beta/{token}", x_kind="token")
    with HostileServer(answer).serving() as base:
        target = mock_target_at(base)
        result = probe(replace(target, providers={"pb": target.providers["pb"]}), [CREATE_TOKEN])[CREATE_TOKEN]
    response = result.attempts[-1].exchanges[-1].response
    assert response is not None
    assert response.body == {"name": "{secret_1}"}
    assert response.headers["location"] == "[hidden: contains {secret_1}]"
    assert response.headers["x-kind"] == "token"
    assert "Hs6yQe1Vb3Nc8Gu5" not in json.dumps(result.to_json())
