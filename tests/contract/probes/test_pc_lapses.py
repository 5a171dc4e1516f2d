"""PC's mock without one of its behaviours: exactly the records that state it must stop conforming."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from starlette.responses import JSONResponse

from catalog.model import Outcome
from mockserver.app import create_app
from mockserver.pc import (
    authentication,
    conversations,
    gateway,
    limits,
    response_request,
    response_stream,
    responses,
    token_exchange,
    vector_stores,
)
from mockserver.pc.errors import PcError
from tests.harness.engines import catalog, mock_target_at, probe
from tests.harness.serving import serving

ERRORS, ENDPOINTS = "pc/errors", "pc/endpoints"
CREATE = f"{ENDPOINTS}/responses/create_response"
CHAT = f"{ENDPOINTS}/chat/create_chat_completion"

OVER_HTTP = [
    str(record.address)
    for record in catalog().select(provider="pc")
    if record.kind != "rate_limits" and record.address.family not in ("websocket", "client")
]
IN_STREAMS = [address for address in OVER_HTTP if address.startswith(f"{ERRORS}/stream/")]


@dataclass(frozen=True)
class Lapse:
    """What no longer holds, the part of the mock that made it hold, what stands there instead, and who states it."""

    what: str
    owner: Any
    name: str
    instead: Any
    stated_by: frozenset[str]


def lapse(what: str, owner: Any, name: str, instead: Any, *stated_by: str) -> Lapse:
    return Lapse(what, owner, name, instead, frozenset(stated_by))


def nothing(*args: Any, **options: Any) -> None:
    return None


def under(family: str, *slugs: str) -> tuple[str, ...]:
    return tuple(f"{ERRORS}/{family}/{slug}" for slug in slugs)


def lenient(body: Mapping[str, Any], fields: Any, required: Any = (), at: str = "") -> None:
    known = {name: value for name, value in body.items() if name in fields}
    strict_check(known, fields, required, at)


strict_check = response_request.check


as_it_was = gateway.Gateway.__call__


async def chatty(self: gateway.Gateway, scope: Any, receive: Any, send: Any) -> None:
    """Answer an unknown URL as other providers do."""
    if self._router.find(scope).known_path:
        await as_it_was(self, scope, receive, send)
    else:
        answer = JSONResponse(PcError(404, "Not found").envelope(), 404, {"x-request-id": "req_1"})
        await answer(scope, receive, send)


LAPSES = (
    lapse(
        "unknown fields are rejected",
        response_request,
        "check",
        lenient,
        f"{ERRORS}/request/unknown_parameter",
        CREATE,
    ),
    lapse(
        "a reasoning model takes no temperature",
        response_request.check_sampling,
        "__code__",
        (lambda body, model: None).__code__,
        f"{ERRORS}/request/unsupported_parameter",
        CHAT,
    ),
    lapse(
        "projects allow service tiers",
        response_request.check_service_tier,
        "__code__",
        (lambda call, body: "default").__code__,
        f"{ERRORS}/request/service_tier_not_allowed",
    ),
    lapse(
        "an unknown URL has no body",
        gateway.Gateway,
        "__call__",
        chatty,
        *under("not_found", "unknown_url", "retired_assistants", "retired_threads"),
    ),
    lapse(
        "addresses are looked at",
        authentication,
        "_allowed",
        lambda *_: True,
        *under("authentication", "ip_not_authorized"),
    ),
    lapse(
        "a project key has its own project",
        authentication,
        "_project",
        lambda connection, key, names: key.project,
        *under("authentication", "invalid_project"),
    ),
    lapse(
        "beta headers and scopes are asked for",
        gateway.Gateway,
        "_admit",
        nothing,
        *under("request", "invalid_beta"),
        *under("permission", "insufficient_permissions"),
        f"{ENDPOINTS}/agents/list_agents",
        f"{ENDPOINTS}/organization/get_external_storage",
    ),
    lapse("requests are counted", limits, "admit_request", nothing, *under("rate_limit", "rate_limit_exceeded")),
    lapse(
        "spenders are refused",
        limits,
        "refuse_spenders",
        nothing,
        *under(
            "rate_limit",
            "insufficient_quota",
            "credit_balance_exhausted",
            "organization_spend_limit_exceeded",
            "project_spend_limit_exceeded",
            "organization_usage_limit_exceeded",
            "billing_hard_limit_reached",
        ),
    ),
    lapse("traffic may not grow too fast", limits.Ramp, "admits", lambda *_: True, *under("rate_limit", "slow_down")),
    lapse("a conversation is held", conversations, "hold", nothing, *under("request", "conflict")),
    lapse(
        "a file must be searchable",
        vector_stores,
        "_take",
        lambda files, file_id, param: files.append(file_id),
        *under("request", "unprocessable"),
    ),
    lapse(
        "a response ends its stream when it fails",
        response_stream,
        "NO_RESPONSE_ERROR",
        frozenset({address.rsplit("/", 1)[1] for address in IN_STREAMS}),
        *(address for address in IN_STREAMS if not address.endswith("/cyber_policy")),
    ),
    lapse(
        "an error event is flat",
        PcError,
        "event",
        lambda error: {"type": "error", **error.envelope()},
        *under("stream", "cyber_policy"),
    ),
    lapse(
        "claims are compared with what is configured",
        token_exchange,
        "verify_jwt",
        nothing,
        *under("oauth", "invalid_grant", "invalid_subject_token"),
        f"{ENDPOINTS}/oauth/exchange_token",
    ),
    lapse(
        "images are looked at",
        responses,
        "check_images",
        nothing,
        *under("images", "invalid_image", "invalid_image_format", "image_parse_error"),
        *(address for address in IN_STREAMS if "image" in address and "policy" not in address),
    ),
)


@pytest.mark.slow
@pytest.mark.parametrize("lapse", LAPSES, ids=lambda lapse: lapse.what)
def test_exactly_the_records_that_state_it_stop_conforming(lapse, monkeypatch):
    monkeypatch.setattr(lapse.owner, lapse.name, lapse.instead)
    with serving(create_app(only=["pc"])) as base:
        results = probe(mock_target_at(base), OVER_HTTP)
    failing = {
        address for address, each in results.items() if each.outcome not in (Outcome.CONFORMS, Outcome.NOT_PROBED)
    }
    assert failing == lapse.stated_by
