"""PC in the field: what published answers of it show, and the documents do not say (2:7.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.as_published.answers import Answer, Asked, Contradiction

if TYPE_CHECKING:
    from catalog_probe.mockserver.as_published.answers import Changes

DECIMALS = frozenset({"temperature", "top_p", "frequency_penalty", "presence_penalty"})


def _on(*codes: str, **changes: Any) -> Changes:
    """Change errors that have one of these codes: their status, or members of the error object."""
    return lambda _, answer: answer.but_error(**changes) if answer.error.get("code") in codes else None


def _name_what_was_limited(asked: Asked, answer: Answer) -> Answer | None:
    if answer.error.get("code") != "rate_limit_exceeded":
        return None
    return answer.but_error(type="tokens" if "tokens" in answer.error["message"] else "requests")


def _refuse_model_as_bad_request(asked: Asked, answer: Answer) -> Answer | None:
    if answer.error.get("code") != "model_not_found" or asked.path != "/v1/responses":
        return None
    return answer.but_error(status=400, message="The requested model does not exist.")


def _code_decimals(asked: Asked, answer: Answer) -> Answer | None:
    error = answer.error
    if answer.status != 400 or error.get("param") not in DECIMALS or error.get("code") != "invalid_value":
        return None
    return answer.but_error(code="decimal_below_min_value" if ">=" in error["message"] else "decimal_above_max_value")


CONTRADICTIONS = (
    Contradiction(
        "spent",
        "type invalid_request_error (2:7.5)",
        "type insufficient_quota, as of the quota",
        _on(
            "credit_balance_exhausted",
            "organization_spend_limit_exceeded",
            "project_spend_limit_exceeded",
            "organization_usage_limit_exceeded",
            type="insufficient_quota",
        ),
    ),
    Contradiction(
        "what_was_limited", "type rate_limit_error (2:7.5)", "type tokens or requests", _name_what_was_limited
    ),
    Contradiction(
        "no_such_model", "404 model_not_found (2:7.5)", "400 on POST /v1/responses", _refuse_model_as_bad_request
    ),
    Contradiction(
        "missing_scope", "403 insufficient_permissions (2:7.5)", "401", _on("insufficient_permissions", status=401)
    ),
    Contradiction("unparseable", "400 invalid_json (2:7.5)", "400 with code null", _on("invalid_json", code=None)),
    Contradiction(
        "hard_limit", "429 billing_hard_limit_reached (2:7.5)", "400", _on("billing_hard_limit_reached", status=400)
    ),
    Contradiction(
        "region",
        "type invalid_request_error (2:7.5)",
        "type request_forbidden",
        _on("unsupported_country_region_territory", type="request_forbidden"),
    ),
    Contradiction(
        "decimal",
        "400 invalid_value, out of range (2:7.5)",
        "codes of decimals beside those of integers",
        _code_decimals,
    ),
)
