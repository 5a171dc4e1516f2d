"""Identification of answers as people publish them, with the names of the stand-ins: never a wrong record."""

from __future__ import annotations

from typing import Any

from catalog_probe import May, identify

KNOWN = {"request-id": "req_1", "pa-organization-id": "org"}
LIMITS = {"pa-ratelimit-input-tokens-limit": "50000", "pa-ratelimit-input-tokens-remaining": "0", "retry-after": "20"}
OPENED = {"pc-organization": "org", "x-request-id": "req_1"}


def pa(kind: str, message: str, **more: Any) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message, **more}, "request_id": "req_1"}


def pb(code: int, status: str, message: str, *details: dict[str, Any]) -> dict[str, Any]:
    error = {"code": code, "message": message, "status": status}
    return {"error": {**error, "details": list(details)} if details else error}


def pc(code: str | None, message: str, kind: str = "invalid_request_error", param: str | None = None) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


def reason(name: str) -> dict[str, Any]:
    return {"@type": "type/ErrorInfo", "reason": name, "domain": "apis", "metadata": {"service": "models"}}


def quota(*ids: str) -> dict[str, Any]:
    return {"@type": "type/QuotaFailure", "violations": [{"quotaId": quota_id, "quotaMetric": "m"} for quota_id in ids]}


INVALID = "invalid_request_error"
OVER = "You exceeded your current quota, please check your plan and billing details."
COMPLIANCE = {"method": "GET", "path": "/v1/compliance/organizations/x/users"}
MESSAGES = {"method": "POST", "path": "/v1/messages"}

ANSWERS: list[tuple[str, int | None, Any, Any, dict[str, Any], set[str], May]] = [
    # provider, status, headers, body, request, records that are right, may it be sent again
    ("pa", 401, KNOWN, pa("authentication_error", "invalid x-api-key"), {}, {"general/key_malformed"}, May.NO),
    ("pa", 400, KNOWN, pa(INVALID, "max_tokens: Field required"), {}, {"invalid_request/missing_max_tokens"}, May.NO),
    (
        "pa",
        400,
        None,
        pa(INVALID, "max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens"),
        {},
        {"invalid_request/max_tokens_above_maximum"},
        May.NO,
    ),
    (
        "pa",
        400,
        KNOWN,
        pa(INVALID, "prompt is too long: 210000 tokens > 200000 maximum"),
        MESSAGES,
        {"general/malformed_request"},
        May.NO,
    ),
    (
        "pa",
        400,
        KNOWN,
        pa(INVALID, "Your credit balance is too low to access the API. Please go to Plans to purchase credits."),
        {},
        {"general/payment_problem"},
        May.NO,
    ),
    (
        "pa",
        400,
        KNOWN,
        pa(INVALID, "You have reached your specified API usage limits. You will regain access on 2026-12-01."),
        {},
        {"general/spend_limit_reached"},
        May.NO,
    ),
    ("pa", 404, KNOWN, pa("not_found_error", "model: small-9 was not found."), {}, {"general/unknown_model"}, May.NO),
    ("pa", 404, KNOWN, pa("not_found_error", "Not Found"), {}, {"general/unknown_path"}, May.NO),
    ("pa", 404, None, pa("not_found_error", "File not found: file_1"), {}, {"general/unknown_resource"}, May.NO),
    (
        "pa",
        429,
        {**KNOWN, **LIMITS},
        pa("rate_limit_error", "This request would exceed your organization's rate limit of 50,000 input tokens."),
        {},
        {"general/rate_limit"},
        May.YES,
    ),
    ("pa", 429, {**KNOWN, **LIMITS}, pa("rate_limit_error", "Slow."), MESSAGES, {"general/rate_limit"}, May.YES),
    (
        "pa",
        429,
        KNOWN,
        pa("rate_limit_error", "Over your maximum usage increase rate. Stay within the acceleration limit."),
        {},
        {"general/acceleration_limit"},
        May.YES,
    ),
    ("pa", 529, KNOWN, pa("overloaded_error", "Overloaded"), {}, {"general/overloaded"}, May.YES),
    ("pa", 500, KNOWN, pa("api_error", "Internal server error"), {}, {"general/internal_error"}, May.YES),
    (
        "pa",
        413,
        None,
        {"error": {"type": "request_too_large", "message": "Request exceeds the maximum size"}},
        MESSAGES,
        {"general/too_large_messages"},
        May.NO,
    ),
    (
        "pa",
        403,
        KNOWN,
        pa("permission_error", "Your key does not have permission to use this."),
        {},
        {"general/permission_error"},
        May.NO,
    ),
    (
        "pa",
        400,
        KNOWN,
        pa(INVALID, "messages: at least one message is required"),
        {},
        {"invalid_request/empty_messages"},
        May.NO,
    ),
    (
        "pa",
        400,
        KNOWN,
        pa(INVALID, "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1."),
        {},
        {"invalid_request/tool_use_without_result"},
        May.NO,
    ),
    (
        "pa",
        400,
        KNOWN,
        pa(INVALID, "`temperature` and `top_p` cannot both be specified for this model."),
        {},
        {"invalid_request/temperature_and_top_p"},
        May.NO,
    ),
    (
        "pa",
        400,
        KNOWN,
        pa(INVALID, "model: Field required"),
        {},
        {"general/malformed_request"},
        May.NO,
    ),
    (
        "pa",
        403,
        KNOWN,
        pa("permission_error", "Lacks a scope."),
        COMPLIANCE,
        {"compliance/insufficient_scope_user_data"},
        May.NO,
    ),
    (
        "pb",
        400,
        None,
        pb(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", reason("API_KEY_INVALID")),
        {"path": "/v1beta/models/m:generateContent"},
        {"general/invalid_api_key"},
        May.NO,
    ),
    (
        "pb",
        400,
        None,
        pb(400, "INVALID_ARGUMENT", 'Invalid JSON payload received. Unknown name "foo": Cannot find field.'),
        {},
        {"general/unknown_field"},
        May.NO,
    ),
    (
        "pb",
        400,
        None,
        pb(400, "FAILED_PRECONDITION", "User location is not supported for the API use."),
        {},
        {"general/free_tier_region"},
        May.NO,
    ),
    (
        "pb",
        403,
        None,
        pb(403, "PERMISSION_DENIED", "Your API key was reported as leaked. Please use another API key."),
        {},
        {"general/key_leaked"},
        May.NO,
    ),
    (
        "pb",
        403,
        None,
        pb(403, "PERMISSION_DENIED", "The API has not been used in project 1 before or it is disabled."),
        {},
        {"general/api_not_enabled"},
        May.NO,
    ),
    (
        "pb",
        404,
        None,
        pb(404, "NOT_FOUND", "models/m-9 is not found for API version v1beta. Call ListModels to see the list."),
        {},
        {"general/model_not_found"},
        May.NO,
    ),
    (
        "pb",
        429,
        None,
        pb(429, "RESOURCE_EXHAUSTED", OVER, quota("GenerateContentPaidTierInputTokensPerModelPerMinute")),
        {},
        {"quota/tokens_per_minute"},
        May.YES,
    ),
    (
        "pb",
        429,
        None,
        pb(429, "RESOURCE_EXHAUSTED", OVER, quota("GenerateRequestsPerDayPerProjectPerModel-FreeTier")),
        {},
        {"quota/requests_per_day"},
        May.YES,
    ),
    (
        "pb",
        429,
        None,
        pb(
            429,
            "RESOURCE_EXHAUSTED",
            f"{OVER}\n* Quota exceeded for metric: generate_content_free_tier_requests, limit: 0, model: m",
            quota("GenerateRequestsPerDayPerProjectPerModel-FreeTier"),
        ),
        {},
        {"quota/free_tier_limit_zero"},
        May.CONDITIONAL,
    ),
    (
        "pb",
        503,
        None,
        pb(503, "UNAVAILABLE", "The model is overloaded. Please try again later."),
        {},
        {"general/overloaded"},
        May.YES,
    ),
    (
        "pb",
        500,
        None,
        pb(500, "INTERNAL", "An internal error has occurred. Please retry."),
        {},
        {"general/internal_error"},
        May.YES,
    ),
    (
        "pc",
        401,
        None,
        pc("invalid_api_key", "Incorrect API key provided: xy."),
        {},
        {"authentication/invalid_api_key"},
        May.NO,
    ),
    (
        "pc",
        401,
        OPENED,
        pc("no_organization", "You must be a member of an organization to use the API."),
        {},
        {"authentication/not_a_member"},
        May.NO,
    ),
    (
        "pc",
        429,
        OPENED,
        pc("rate_limit_exceeded", "Rate limit reached for m on tokens per min (TPM): Limit 1.", "tokens"),
        {},
        {"rate_limit/rate_limit_exceeded"},
        May.YES,
    ),
    (
        "pc",
        429,
        OPENED,
        pc(None, "Rate limit reached for m in org on requests per min.", "requests"),
        {},
        {"rate_limit/rate_limit_exceeded"},
        May.YES,
    ),
    (
        "pc",
        429,
        OPENED,
        pc("insufficient_quota", OVER, "insufficient_quota"),
        {},
        {"rate_limit/insufficient_quota"},
        May.NO,
    ),
    ("pc", 429, OPENED, pc(None, OVER, "insufficient_quota"), {}, {"rate_limit/insufficient_quota"}, May.NO),
    (
        "pc",
        400,
        OPENED,
        pc("billing_hard_limit_reached", "Billing hard limit has been reached"),
        {},
        {"rate_limit/billing_hard_limit_reached"},
        May.NO,
    ),
    (
        "pc",
        404,
        OPENED,
        pc("model_not_found", "The model `m-9` does not exist or you do not have access to it."),
        {},
        {"not_found/model"},
        May.NO,
    ),
    (
        "pc",
        400,
        OPENED,
        pc(None, "We could not parse the JSON body of your request."),
        {},
        {"request/invalid_json"},
        May.NO,
    ),
    (
        "pc",
        400,
        OPENED,
        pc("context_length_exceeded", "This model's maximum context length is 8192 tokens.", param="messages"),
        {},
        {"request/context_length_exceeded"},
        May.NO,
    ),
    (
        "pc",
        503,
        OPENED,
        pc(None, "That model is currently overloaded with other requests.", "server_error"),
        {},
        {"server/server_is_overloaded"},
        May.YES,
    ),
    (
        "pc",
        403,
        OPENED,
        pc("unsupported_country_region_territory", "Country, region, or territory not supported", "request_forbidden"),
        {},
        {"permission/unsupported_country_region_territory"},
        May.NO,
    ),
    (
        "pc",
        None,
        None,
        {
            "type": "error",
            "status": 400,
            "error": pc("previous_response_not_found", "Previous response with id 'resp_1' not found.")["error"],
        },
        {},
        {"websocket/previous_response_not_found"},
        May.NO,
    ),
    (
        "pd",
        400,
        None,
        {"code": "invalid-argument", "error": "Incorrect API key provided: xy."},
        {},
        {"invalid_argument/incorrect_api_key"},
        May.NO,
    ),
    (
        "pd",
        400,
        None,
        {
            "code": "Client specified an invalid argument",
            "error": "Model m does not support parameter reasoning_effort.",
        },
        {},
        {"invalid_argument/unsupported_parameter"},
        May.NO,
    ),
    (
        "pd",
        404,
        None,
        {"code": "not-found", "error": "The model m-9 does not exist or your team does not have access to it."},
        {},
        {"not_found/model_missing"},
        May.NO,
    ),
    (
        "pd",
        403,
        None,
        {"code": "permission-denied", "error": "Your newly created team doesn't have any credits yet."},
        {},
        {"rate_limit/credit_depleted"},
        May.CONDITIONAL,
    ),
    (
        "pd",
        429,
        None,
        {"code": "resource-exhausted", "error": "Too many requests for team x. Requests per second: 9/8."},
        {},
        {"rate_limit/model_rate_limit"},
        May.YES,
    ),
]
SHARE = 0.85


def addresses(provider: str, slugs: set[str]) -> set[str]:
    return {f"{provider}/errors/{slug}" for slug in slugs}


def test_a_published_answer_is_never_identified_as_a_wrong_record() -> None:
    for provider, status, headers, body, request_line, right, may in ANSWERS:
        identification = identify(provider, status, headers, body, **request_line)
        assert identification.record is None or identification.record in addresses(provider, right), identification
        assert not identification.candidates or addresses(provider, right) & {*identification.candidates}, (
            identification
        )
        assert identification.retry.may is may, identification


def test_most_answers_get_a_record_or_a_few_candidates() -> None:
    verdicts = [
        identify(provider, status, headers, body, **request_line).verdict
        for provider, status, headers, body, request_line, _, _ in ANSWERS
    ]
    assert verdicts.count("record") + verdicts.count("candidates") >= SHARE * len(ANSWERS)
    assert verdicts.count("record") >= len(ANSWERS) / 2
