"""PB's error table, in the order of 2:7.4, and its envelopes (2:7.1).

The `type` of a row is its status name in the RPC envelope, its `code` the snake_case code of interactions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core.errors import OURS, ErrorRow
from catalog_probe.mockserver.core.fields import Breach

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.errors import Refusal

# 400 INVALID_ARGUMENT: malformed body, unknown field, invalid value (thinking_level with thinking_budget; temperature
# out of range; invalid API key; compatibility layer without Authorization)
INVALID = ErrorRow("2:7.4", 400, type="INVALID_ARGUMENT", code="invalid_request")
NOT_JSON = INVALID.with_message("Invalid JSON payload received: {reason}")
WRONG_TYPE = INVALID.with_message("Invalid value at '{path}': should be {wanted}, not {found}")
NOT_AN_OPTION = INVALID.with_message("Invalid value at '{path}': {value!r} is none of {options}")
MISSING_FIELD = INVALID.with_message("{path}: is required")
EMPTY = INVALID.with_message("{path}: must not be empty")
NO_TIMESTAMP = INVALID.with_message("Invalid value at '{path}': {value!r} is no RFC 3339 timestamp")
NO_PAGE = INVALID.with_message("{name}: {value!r} is not a page of this listing")
LEVEL_WITH_BUDGET = INVALID.with_message("You can only set one of thinking_level and thinking_budget.")
TEMPERATURE = INVALID.with_message("temperature: must be in the range [0.0, {maximum:.1f}] for {model}")
INVALID_KEY = INVALID.with_message("API key not valid. Please pass a valid API key.")
NO_AUTHORIZATION = INVALID.with_message("Missing or invalid Authorization header.")
INPUT_FILE_TOO_LARGE = INVALID.with_message("The input file has {size} bytes, and {most} are the most.")
UNSTORED_BACKGROUND = INVALID.with_message("An interaction that runs in the background must be stored.")
NO_SETUP = INVALID.with_message("The first message must be the setup.")
SECOND_SETUP = INVALID.with_message("The setup can be sent only once.")
NOT_ONE_MESSAGE = INVALID.with_message("A message holds exactly one of {names}.")
NOT_ONE_MODALITY = INVALID.with_message("setup.generation_config.response_modalities: name one of AUDIO and TEXT.")
NO_SUCH_HANDLE = INVALID.with_message("The session resumption handle is not valid.")
HANDLE_EXPIRED = INVALID.with_message("The session resumption handle has expired.")
UNKNOWN_FIELD = ErrorRow(
    "2:7.4",
    400,
    "Invalid JSON payload received. Unknown name '{path}': Cannot find field.",
    "INVALID_ARGUMENT",
    "parameter_unknown",
)

# 400 FAILED_PRECONDITION: billing off for a paid feature, or free tier unavailable in the region
PRECONDITION = ErrorRow("2:7.4", 400, type="FAILED_PRECONDITION", code="failed_precondition")
BILLING_OFF = PRECONDITION.with_message("Billing is not active for this project, and this is a paid feature.")
NO_FREE_TIER = PRECONDITION.with_message(
    "The free tier is not available in your region. Please enable billing on your project."
)

# 401 UNAUTHENTICATED: missing, invalid or expired OAuth or ephemeral token
UNAUTHENTICATED = ErrorRow("2:7.4", 401, type="UNAUTHENTICATED", code="authentication")
NO_CREDENTIAL = UNAUTHENTICATED.with_message("The request carries no API key, OAuth token or other credential.")
BAD_OAUTH_TOKEN = UNAUTHENTICATED.with_message("Invalid authentication credentials: the OAuth token {fault}.")
BAD_EPHEMERAL_TOKEN = UNAUTHENTICATED.with_message("The ephemeral token is {fault}.")

# 403 PERMISSION_DENIED: API not enabled, key restricted, leaked or blocked key, resource not owned
PERMISSION = ErrorRow("2:7.4", 403, type="PERMISSION_DENIED", code="permission_denied")
API_NOT_ENABLED = PERMISSION.with_message("The API has not been used in project {project} before, or it is disabled.")
KEY_RESTRICTED = PERMISSION.with_message("The restrictions of this API key do not allow requests to this API.")
KEY_LEAKED = PERMISSION.with_message("Your API key was reported as leaked. Please use another API key.")
KEY_BLOCKED = PERMISSION.with_message("This API key has been blocked.")
NOT_OWNED = PERMISSION.with_message("You do not have permission to access {id}.")
LIVE_ONLY = PERMISSION.with_message("Ephemeral tokens are for the live API alone.")

# 404 NOT_FOUND: model or resource absent for the API version; model no longer available to new users; wrong auth header
# on the compatibility layer. 1:4: an unknown path gives 404 on all providers
NOT_FOUND = ErrorRow("2:7.4", 404, type="NOT_FOUND", code="not_found")
NO_RESOURCE = NOT_FOUND.with_message("{id} is not found.")
UNKNOWN_PATH = NOT_FOUND.with_message("The requested URL was not found on this server.")
WRONG_AUTH_HEADER = NOT_FOUND.with_message("Requested entity was not found.")
MODEL_NOT_FOUND = ErrorRow("2:7.4", 404, type="NOT_FOUND", code="model_not_found")
NO_MODEL = MODEL_NOT_FOUND.with_message("models/{id} is not found for API version {version}, or lacks {method}.")
MODEL_CLOSED = MODEL_NOT_FOUND.with_message("models/{id} is no longer available to new users.")

# Interactions error codes: "or a snake_case HTTP status"
METHOD_NOT_ALLOWED = ErrorRow("2:7.4", 405, "{method} is not allowed here.", "UNIMPLEMENTED", "method_not_allowed")
TOO_LARGE = ErrorRow(OURS, 413, "The body has more than {most_bytes} bytes.", "INVALID_ARGUMENT", "payload_too_large")

# 409 ALREADY_EXISTS / ABORTED: duplicate store or document name, or concurrency conflict
ALREADY_EXISTS = ErrorRow("2:7.4", 409, "{id} already exists.", "ALREADY_EXISTS", "already_exists")
ABORTED = ErrorRow("2:7.4", 409, "The operation was aborted: a concurrency conflict.", "ABORTED", "aborted")

# 416 OUT_OF_RANGE: parameter outside valid range
OUT_OF_RANGE = ErrorRow("2:7.4", 416, "{path}: {value} is beyond the bound {bound}", "OUT_OF_RANGE", "out_of_range")

# 429 RESOURCE_EXHAUSTED: per-minute, token, daily, image quota; spend-based 10-minute limit; flex capacity shed; free
# tier shows `limit: 0` for paid-only models. 2:7.1: the retry delay is in the message text as seconds
EXCEEDED = (
    "You exceeded your current quota, please check your plan and billing details.\n"
    "* Quota exceeded for metric: {metric}, limit: {limit:g}, model: {model}\n"
    "Please retry in {delay_s:.3f}s."
)
RATE_LIMIT = ErrorRow("2:7.4", 429, EXCEEDED, "RESOURCE_EXHAUSTED", "rate_limit_exceeded")
QUOTA = ErrorRow("2:7.4", 429, EXCEEDED, "RESOURCE_EXHAUSTED", "quota_exceeded")
TOO_MANY = ErrorRow("2:7.4", 429, EXCEEDED, "RESOURCE_EXHAUSTED", "too_many_requests")

# 499 CANCELLED: client closed the request
CANCELLED = ErrorRow("2:7.4", 499, "The operation was cancelled.", "CANCELLED", "cancelled")

# 500 INTERNAL: server error, also for oversized contexts
INTERNAL = ErrorRow("2:7.4", 500, "An internal error has occurred. Please retry.", "INTERNAL", "api_error")
CONTEXT_TOO_LARGE = INTERNAL.with_message("An internal error has occurred: the context is too large.")

# 501 UNIMPLEMENTED: unsupported feature
UNIMPLEMENTED = ErrorRow("2:7.4", 501, type="UNIMPLEMENTED", code="unimplemented")
NO_SUCH_OUTPUT = UNIMPLEMENTED.with_message("{model} does not support the output {modalities}.")

# 503 UNAVAILABLE: overloaded or down; flex capacity unavailable
UNAVAILABLE = ErrorRow("2:7.4", 503, type="UNAVAILABLE", code="service_unavailable")
OVERLOADED = UNAVAILABLE.with_message("The model is overloaded. Please try again later.")
NO_FLEX_CAPACITY = UNAVAILABLE.with_message("Flex capacity is currently unavailable. Please try again later.")

# 504 DEADLINE_EXCEEDED: long prompts, thinking, flex queueing
DEADLINE = ErrorRow("2:7.4", 504, "The request missed its deadline.", "DEADLINE_EXCEEDED", "deadline_exceeded")

BREACHES: Mapping[Breach, ErrorRow] = {
    Breach.MISSING: MISSING_FIELD,
    Breach.UNKNOWN: UNKNOWN_FIELD,
    Breach.TYPE: WRONG_TYPE,
    Breach.OPTION: NOT_AN_OPTION,
    Breach.BELOW: OUT_OF_RANGE,
    Breach.ABOVE: OUT_OF_RANGE,
    Breach.TOO_FEW: EMPTY,
}
"""The error for each way in which a field can break its row."""


def make_rpc(refusal: Refusal) -> dict[str, Any]:
    """Return `{error: {code, message, status, details}}` (2:7.1)."""
    row = refusal.row
    error = {"code": row.status, "message": refusal.message, "status": row.type}
    return {"error": {**error, "details": refusal.extra.get("details", [])}}


def make_wrapped(refusal: Refusal) -> list[dict[str, Any]]:
    """Return the RPC envelope in a JSON array, as the compatibility layer may (2:7.1)."""
    return [make_rpc(refusal)]


def make_interactions(refusal: Refusal) -> dict[str, Any]:
    """Return `{error: {code: snake_case string, message}}` (2:7.1)."""
    return {"error": {"code": refusal.row.code, "message": refusal.message}}
