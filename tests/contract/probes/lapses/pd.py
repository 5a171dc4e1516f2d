"""PD's mock without one of its behaviours, and who states it."""

from __future__ import annotations

import itertools
from typing import Any

from starlette.responses import JSONResponse, Response

from mockserver.pd import access, catalogue, chat, errors, gateway, limits, management, rules, shape
from mockserver.pd.catalogue import Host
from mockserver.pd.errors import METHOD_NOT_ALLOWED, NO_CREDENTIALS, NOT_FOUND, UNPROCESSABLE, PdError, Shape
from mockserver.pd.keys import KEYS, Key, Team
from tests.harness.engines import catalog
from tests.harness.lapses import Lapses, lapse, nothing

ERRORS, ENDPOINTS = "pd/errors", "pd/endpoints"
NEVER = float("inf")

OVER_HTTP = [str(record.address) for record in catalog().select(provider="pd") if record.surface != "pd_grpc"]
WITH_A_KEY = (
    f"{ENDPOINTS}/models/list_models",
    f"{ENDPOINTS}/models/get_model",
    f"{ENDPOINTS}/models/get_embedding_model",
    f"{ENDPOINTS}/chat/create_chat_completion",
    f"{ENDPOINTS}/chat/get_deferred_completion",
    f"{ENDPOINTS}/responses/create_response",
    f"{ENDPOINTS}/tokenize/tokenize_text",
    f"{ENDPOINTS}/api_key/get_api_key",
)
RATE_LIMITS = "pd/rate_limits/limits/general"
LIMITS = tuple(f"{ERRORS}/rate_limit/{slug}" for slug in ("model_rate_limit", "model_token_limit", "key_cap"))


def incorrect_is_401(authorization: str | None) -> Key:
    key = KEYS.get(access.bearer(authorization) or "")
    if key is None:
        raise PdError(NO_CREDENTIALS, "who is that?")
    return key


fetch_and_take = chat.fetch


def fetch_and_keep(call: Any, request_id: str) -> Any:
    waiting = call.session.state(chat.Deferred).waiting
    kept = dict(waiting)
    result = fetch_and_take(call, request_id)
    waiting.update(kept)
    return result


def unplaced(raw: str, value: Any, wanted: Any) -> None:
    if list(shape.mismatches(value, wanted, ())):
        raise PdError(UNPROCESSABLE, "A field has the wrong type.")


plain = PdError.response


def with_retry_after(error: PdError) -> Response:
    answer = plain(error)
    answer.headers["retry-after"] = "1"
    return answer


def named_like_the_others(status: int, code: int, message: str) -> Response:
    return JSONResponse({"code": "unauthenticated", "error": message}, status)


reasons = itertools.count()

LAPSES = Lapses(
    "pd",
    OVER_HTTP,
    lapse(
        "a deferred result takes its time",
        chat,
        "COMPUTED_AFTER_S",
        0.0,
        f"{ERRORS}/outcomes/deferred_pending",
        f"{ENDPOINTS}/chat/get_deferred_completion",
    ),
    lapse(
        "a deferred result can be fetched once",
        chat,
        "fetch",
        fetch_and_keep,
        f"{ERRORS}/not_found/deferred_already_fetched",
        f"{ENDPOINTS}/chat/get_deferred_completion",
    ),
    lapse(
        "a deferred result is kept for no more than 24 h",
        chat,
        "KEPT_FOR_S",
        NEVER,
        f"{ERRORS}/not_found/deferred_expired",
    ),
    lapse(
        "a deferred result is kept for no less than 24 h",
        chat,
        "KEPT_FOR_S",
        23.5 * 3600,
        f"{ENDPOINTS}/chat/get_deferred_completion",
    ),
    lapse(
        "multi-agent models are refused by chat completions",
        rules,
        "refuse_multi_agent",
        nothing,
        f"{ENDPOINTS}/chat/create_chat_completion",
    ),
    lapse(
        "reasoning_effort is for some models",
        rules,
        "check_effort",
        nothing,
        f"{ERRORS}/invalid_argument/unsupported_parameter",
        f"{ENDPOINTS}/chat/create_chat_completion",
    ),
    lapse(
        "an incorrect key is 400",
        gateway,
        "identify",
        incorrect_is_401,
        f"{ERRORS}/invalid_argument/incorrect_api_key",
        *WITH_A_KEY,
    ),
    lapse("ACLs are asked for", Key, "allows", lambda self, acl, name: True, f"{ERRORS}/permission/missing_acl"),
    lapse(
        "states of keys and teams are looked at",
        gateway,
        "admit",
        nothing,
        *(f"{ERRORS}/permission/{slug}" for slug in ("missing_acl", "key_disabled", "key_blocked", "team_blocked")),
    ),
    lapse(
        "zero data retention forbids to retain",
        chat,
        "refuse_to_retain",
        nothing,
        f"{ERRORS}/permission/zero_data_retention",
    ),
    lapse("credit is needed", Team, "can_pay", True, f"{ERRORS}/rate_limit/credit_depleted"),
    lapse("limits are kept", limits, "refuse_beyond", nothing, *LIMITS, RATE_LIMITS),
    lapse(
        "a 429 does not say how long",
        PdError,
        "response",
        with_retry_after,
        *LIMITS,
        f"{ERRORS}/rate_limit/credit_depleted",
        RATE_LIMITS,
    ),
    lapse(
        "a 405 has no body",
        errors,
        "SHAPES",
        {**errors.SHAPES, METHOD_NOT_ALLOWED: Shape.STRING},
        f"{ERRORS}/request/method_not_allowed",
    ),
    lapse(
        "a 422 is a bare string",
        errors,
        "SHAPES",
        {**errors.SHAPES, UNPROCESSABLE: Shape.ENVELOPE},
        f"{ERRORS}/request/wrong_type",
        f"{ENDPOINTS}/tokenize/tokenize_text",
    ),
    lapse(
        "a 422 names field, line and column",
        shape,
        "check",
        unplaced,
        f"{ERRORS}/request/wrong_type",
        f"{ENDPOINTS}/tokenize/tokenize_text",
    ),
    lapse(
        "restricted models are hidden",
        Host,
        "seen_by",
        lambda self, team: list(self.models.values()),
        f"{ERRORS}/not_found/model_restricted",
    ),
    lapse(
        "missing and restricted models are told alike",
        catalogue,
        "no_such_model",
        lambda: PdError(NOT_FOUND, f"Not found, for reason {next(reasons)}."),
        f"{ERRORS}/not_found/model_restricted",
    ),
    lapse(
        "the management API has an envelope of its own",
        management,
        "envelope",
        named_like_the_others,
        f"{ERRORS}/authentication/management_invalid_bearer",
        f"{ENDPOINTS}/management/validate_management_key",
    ),
)
