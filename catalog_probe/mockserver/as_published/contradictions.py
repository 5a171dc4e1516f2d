"""Published answers that contradict the documents, by provider."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from zlib import crc32


@dataclass(frozen=True)
class RequestHead:
    """A request without its body: its path below the prefix, and lower-case headers."""

    method: str
    path: str
    headers: Mapping[str, str]


@dataclass(frozen=True)
class WholeAnswer:
    """A complete answer; header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @cached_property
    def json(self) -> Any:
        """The body as JSON; None if it is none."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None

    @property
    def error(self) -> Mapping[str, Any]:
        """The error object of an envelope `{error: {…}}`; empty without one."""
        error = self.json.get("error") if isinstance(self.json, dict) else None
        return error if isinstance(error, dict) else {}

    def replace(
        self, *, status: int | None = None, headers: Mapping[str, str | None] | None = None, json_body: Any = None
    ) -> WholeAnswer:
        """Return a copy with another status, other headers (None removes one) or body."""
        all_headers = {**self.headers, **(headers or {})}
        return WholeAnswer(
            self.status if status is None else status,
            {name: value for name, value in all_headers.items() if value is not None},
            self.body if json_body is None else encode_json(json_body),
        )

    def replace_error(self, *, status: int | None = None, **members: Any) -> WholeAnswer:
        """Return a copy with other members in its error object; `...` removes one."""
        error = {name: value for name, value in {**self.error, **members}.items() if value is not ...}
        return self.replace(status=status, json_body={**self.json, "error": error})


def encode_json(value: Any) -> bytes:
    """Write a value as compact JSON."""
    return json.dumps(value, separators=(",", ":")).encode()


Change = Callable[[RequestHead, WholeAnswer], WholeAnswer | None]
"""Returns the published form of a documented answer; None if they do not differ."""


@dataclass(frozen=True)
class Contradiction:
    """One difference between documents and published answers.

    The docstring of its function tells it.

    Args:
        name: unique for the provider.
        change: changes a whole answer.
        change_block: changes a block of an event stream, given without the blank line at its end.
    """

    name: str
    change: Change | None = None
    change_block: Callable[[str], str] | None = None


LOW_CREDIT = (
    "Your credit balance is too low to access the API. Please go to Plans & Billing to upgrade or purchase credits."
)


def _name_forbidden(request: RequestHead, answer: WholeAnswer) -> WholeAnswer | None:
    """403 has type permission_error (2:7.3); published: forbidden."""
    return answer.replace_error(type="forbidden") if answer.status == 403 and answer.error else None


def _report_low_credit(request: RequestHead, answer: WholeAnswer) -> WholeAnswer | None:
    """A payment problem is 402 (2:7.3); published: 400 invalid_request_error."""
    if answer.status != 402:
        return None
    return answer.replace_error(status=400, type="invalid_request_error", message=LOW_CREDIT)


def _strip_413(request: RequestHead, answer: WholeAnswer) -> WholeAnswer | None:
    """Bodies have a type and the request id (2:7.1); published: not in an edge's 413."""
    if answer.status != 413:
        return None
    error = {"type": "request_too_large", "message": "Request exceeds the maximum size"}
    return answer.replace(headers={"request-id": None, "x-should-retry": None}, json_body={"error": error})


def _advise_retry(request: RequestHead, answer: WholeAnswer) -> WholeAnswer | None:
    """No x-should-retry is documented of a 529 (2:7.1); published: true."""
    return answer.replace(headers={"x-should-retry": "true"}) if answer.status == 529 else None


def _drop_request_id(request: RequestHead, answer: WholeAnswer) -> WholeAnswer | None:
    """The request id is also in the body (2:7.1); published: not in a batch's 404."""
    if answer.status != 404 or not request.path.startswith("/v1/messages/batches") or not answer.error:
        return None
    return answer.replace(json_body={"type": "error", "error": answer.error}, headers={"via": "1.1 google"})


def _add_details(block: str) -> str:
    """A stream's error has type and message (1:6); published: also details, null."""
    event, _, data = block.partition("\ndata: ")
    if event != "event: error":
        return block
    body = json.loads(data)
    body["error"] = {"details": None, **body["error"]}
    return f"{event}\ndata: {json.dumps(body)}"


PA_CONTRADICTIONS = (
    Contradiction("forbidden", _name_forbidden),
    Contradiction("low_credit", _report_low_credit),
    Contradiction("bare_413", _strip_413),
    Contradiction("retried_529", _advise_retry),
    Contradiction("no_request_id", _drop_request_id),
    Contradiction("details_null", change_block=_add_details),
)


UNREGISTERED = (
    "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other "
    "form of API consumer identity to call this API."
)
EXHAUSTED = "Resource exhausted. Please try again later."
HELP = "type.googleapis.com/google.rpc.Help"
KEY_HEADERS = ("x-pb-api-key", "x-goog-api-key", "authorization")
NEW_KEY_PREFIX = "AQ."  # of newer keys


def _refuse_keyless(request: RequestHead, answer: WholeAnswer) -> WholeAnswer | None:
    """A missing token is 401 (2:7.4); published: 403 PERMISSION_DENIED."""
    has_key = any(name in request.headers for name in KEY_HEADERS)
    if answer.status != 401 or has_key or answer.error.get("status") != "UNAUTHENTICATED":
        return None
    error = {"code": 403, "message": UNREGISTERED, "status": "PERMISSION_DENIED"}
    return answer.replace(status=403, json_body={"error": error})


def _refuse_new_key(request: RequestHead, answer: WholeAnswer) -> WholeAnswer | None:
    """An invalid key is 400 or 403 (1:5.2); published: 401 for a newer key."""
    is_new = any(request.headers.get(name, "").startswith(NEW_KEY_PREFIX) for name in KEY_HEADERS)
    if answer.status not in (400, 403) or not is_new or "API key" not in str(answer.error.get("message")):
        return None
    return answer.replace_error(status=401, code=401)


def _vary_details(request: RequestHead, answer: WholeAnswer) -> WholeAnswer | None:
    """429 has a help and a quota entry, and the delay in its message (2:7.1).

    Published: none, help alone, or all of them and the delay. Here each path has one of the three.
    """
    details = answer.error.get("details")
    if answer.status != 429 or not isinstance(details, list):
        return None
    match crc32(request.path.encode()) % 3:
        case 0:
            return answer.replace_error(details=..., message=EXHAUSTED)
        case 1:
            return answer.replace_error(details=[detail for detail in details if detail.get("@type") == HELP])
        case _:
            delay = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "1s"}
            return answer.replace_error(details=[*details, delay])


def _drop_empty_text(request: RequestHead, answer: WholeAnswer) -> WholeAnswer | None:
    """The candidates' tokens are counted (1:2.6); published: not if thoughts took all."""
    if answer.status != 200 or not isinstance(answer.json, dict) or "candidates" not in answer.json:
        return None
    (first, *others) = answer.json["candidates"]
    parts = first.get("content", {}).get("parts") or []
    if first.get("finishReason") != "MAX_TOKENS" or any(part.get("text") for part in parts):
        return None
    usage = {name: value for name, value in answer.json["usageMetadata"].items() if name != "candidatesTokenCount"}
    candidates = [{**first, "content": {"role": "model"}}, *others]
    return answer.replace(json_body={**answer.json, "candidates": candidates, "usageMetadata": usage})


def _write_bare_error(block: str) -> str:
    """A stream's error is an event (1:6); published: JSON lines without `data: `."""
    if not block.startswith('data: {"error"'):
        return block
    return json.dumps(json.loads(block.removeprefix("data: ")), indent=2)


PB_CONTRADICTIONS = (
    Contradiction("unregistered", _refuse_keyless),
    Contradiction("new_form", _refuse_new_key),
    Contradiction("details_of_429", _vary_details),
    Contradiction("thought_only", _drop_empty_text),
    Contradiction("bare_error", change_block=_write_bare_error),
)


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


PC_CONTRADICTIONS = (
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


LIMITS = {"requests": "1800", "tokens": "10000000"}  # a minute


def _refuse_without_credit(request: RequestHead, answer: WholeAnswer) -> WholeAnswer | None:
    """Depleted credit is 429 resource-exhausted (2:7.6); published: 403."""
    if answer.status != 429 or "prepaid credit" not in str((answer.json or {}).get("error")):
        return None
    return answer.replace(status=403, json_body={**answer.json, "code": "permission-denied"})


def _show_limits(request: RequestHead, answer: WholeAnswer) -> WholeAnswer | None:
    """No rate-limit header is named (2:8.5); published: x-ratelimit-* on success."""
    if answer.status != 200 or request.method != "POST":
        return None
    headers = {f"x-ratelimit-{part}-{unit}": value for unit, value in LIMITS.items() for part in ("limit", "remaining")}
    return answer.replace(headers=headers)


def _add_own_headers(request: RequestHead, answer: WholeAnswer) -> WholeAnswer | None:
    """No header is documented (2:7.6); published: duration and data retention."""
    return answer.replace(headers={"x-data-retention": "general", "x-metrics-e2e-ms": "3177.1"})


PD_CONTRADICTIONS = (
    Contradiction("without_credit", _refuse_without_credit),
    Contradiction("limits_told", _show_limits),
    Contradiction("own_headers", _add_own_headers),
)
