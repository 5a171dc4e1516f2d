"""PC in the field: what published answers of it show, and the documents do not say (2:7.5)."""

from __future__ import annotations

from catalog_probe.mockserver.as_published.answers import Answer, Asked, Contradiction

SPENT = frozenset(
    {
        "credit_balance_exhausted",
        "organization_spend_limit_exceeded",
        "project_spend_limit_exceeded",
        "organization_usage_limit_exceeded",
    }
)
DECIMALS = frozenset({"temperature", "top_p", "frequency_penalty", "presence_penalty"})


def _spent(asked: Asked, answer: Answer) -> Answer | None:
    return answer.but_error(type="insufficient_quota") if answer.error.get("code") in SPENT else None


def _what_was_limited(asked: Asked, answer: Answer) -> Answer | None:
    if answer.error.get("code") != "rate_limit_exceeded":
        return None
    return answer.but_error(type="tokens" if "tokens" in answer.error["message"] else "requests")


def _no_such_model(asked: Asked, answer: Answer) -> Answer | None:
    if answer.error.get("code") != "model_not_found" or asked.path != "/v1/responses":
        return None
    return answer.but_error(status=400, message="The requested model does not exist.")


def _missing_scope(asked: Asked, answer: Answer) -> Answer | None:
    return answer.but_error(status=401) if answer.error.get("code") == "insufficient_permissions" else None


def _unparseable(asked: Asked, answer: Answer) -> Answer | None:
    return answer.but_error(code=None) if answer.error.get("code") == "invalid_json" else None


def _hard_limit(asked: Asked, answer: Answer) -> Answer | None:
    return answer.but_error(status=400) if answer.error.get("code") == "billing_hard_limit_reached" else None


def _region(asked: Asked, answer: Answer) -> Answer | None:
    if answer.error.get("code") != "unsupported_country_region_territory":
        return None
    return answer.but_error(type="request_forbidden")


def _decimal(asked: Asked, answer: Answer) -> Answer | None:
    error = answer.error
    if answer.status != 400 or error.get("param") not in DECIMALS or error.get("code") != "invalid_value":
        return None
    return answer.but_error(code="decimal_below_min_value" if "-" in error["message"] else "decimal_above_max_value")


CONTRADICTIONS = (
    Contradiction("spent", "type invalid_request_error (2:7.5)", "type insufficient_quota, as of the quota", _spent),
    Contradiction("what_was_limited", "type rate_limit_error (2:7.5)", "type tokens or requests", _what_was_limited),
    Contradiction("no_such_model", "404 model_not_found (2:7.5)", "400 on POST /v1/responses", _no_such_model),
    Contradiction("missing_scope", "403 insufficient_permissions (2:7.5)", "401", _missing_scope),
    Contradiction("unparseable", "400 invalid_json (2:7.5)", "400 with code null", _unparseable),
    Contradiction("hard_limit", "429 billing_hard_limit_reached (2:7.5)", "400", _hard_limit),
    Contradiction("region", "type invalid_request_error (2:7.5)", "type request_forbidden", _region),
    Contradiction(
        "decimal", "400 invalid_value, out of range (2:7.5)", "codes of decimals beside those of integers", _decimal
    ),
)
