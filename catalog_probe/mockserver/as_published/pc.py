"""Published answers of PC that contradict the documents (2:7.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.as_published.answers import Contradiction, RequestHead, WholeAnswer

if TYPE_CHECKING:
    from catalog_probe.mockserver.as_published.answers import Change

DECIMALS = frozenset({"temperature", "top_p", "frequency_penalty", "presence_penalty"})

SPENT = (
    "credit_balance_exhausted",
    "organization_spend_limit_exceeded",
    "project_spend_limit_exceeded",
    "organization_usage_limit_exceeded",
)


def _on_code(*codes: str, **changes: Any) -> Change:
    """Change the status or members of errors with one of these codes."""
    return lambda _, answer: answer.replace_error(**changes) if answer.error.get("code") in codes else None


def _name_limit(request: RequestHead, answer: WholeAnswer) -> WholeAnswer | None:
    """rate_limit_exceeded has type rate_limit_error; published: tokens or requests."""
    if answer.error.get("code") != "rate_limit_exceeded":
        return None
    return answer.replace_error(type="tokens" if "tokens" in answer.error["message"] else "requests")


def _refuse_model_as_bad_request(request: RequestHead, answer: WholeAnswer) -> WholeAnswer | None:
    """model_not_found is 404; published: 400 on POST /v1/responses."""
    if answer.error.get("code") != "model_not_found" or request.path != "/v1/responses":
        return None
    return answer.replace_error(status=400, message="The requested model does not exist.")


def _name_decimal_bound(request: RequestHead, answer: WholeAnswer) -> WholeAnswer | None:
    """A value out of range is invalid_value; published: codes of decimals."""
    error = answer.error
    if answer.status != 400 or error.get("param") not in DECIMALS or error.get("code") != "invalid_value":
        return None
    is_below = ">=" in error["message"]
    return answer.replace_error(code="decimal_below_min_value" if is_below else "decimal_above_max_value")


CONTRADICTIONS = (
    # documented: type invalid_request_error
    Contradiction("spent", _on_code(*SPENT, type="insufficient_quota")),
    Contradiction("what_was_limited", _name_limit),
    Contradiction("no_such_model", _refuse_model_as_bad_request),
    # documented: 403
    Contradiction("missing_scope", _on_code("insufficient_permissions", status=401)),
    # documented: code invalid_json
    Contradiction("unparseable", _on_code("invalid_json", code=None)),
    # documented: 429
    Contradiction("hard_limit", _on_code("billing_hard_limit_reached", status=400)),
    # documented: type invalid_request_error
    Contradiction("region", _on_code("unsupported_country_region_territory", type="request_forbidden")),
    Contradiction("decimal", _name_decimal_bound),
)
