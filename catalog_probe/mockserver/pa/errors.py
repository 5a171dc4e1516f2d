"""PA's error table, row by row of 2:7.3, and the envelope of 2:7.1.

`compliance/errors.py` has the rows of 2:7.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse

from catalog_probe.mockserver.core.errors import CLIENTS, ErrorRow
from catalog_probe.mockserver.core.fields import Breach

if TYPE_CHECKING:
    from starlette.responses import Response

    from catalog_probe.mockserver.core.errors import Refusal

NO_RETRY: Mapping[str, str] = {"x-should-retry": "false"}  # on every 4xx (2:7.1) but those with RETRY

# 2:7.2 and 2:7.3 call some 4xx retryable, against 2:7.1; official clients obey the header before the status
RETRY: Mapping[str, str] = {"x-should-retry": "true"}

# 400: malformed request; other unlisted 4xx; self-set spend limit reached; invalid version or beta header value;
# parameter unsupported for the model
INVALID_REQUEST = ErrorRow("2:7.3", 400, type="invalid_request_error", headers=NO_RETRY)
NOT_JSON = INVALID_REQUEST.with_message("The request body is not valid JSON: {reason}")
NO_OBJECT = INVALID_REQUEST.with_message("The request body is not a valid JSON object.")
MISSING_FIELD = INVALID_REQUEST.with_message("{path}: Field required")
UNKNOWN_FIELD = INVALID_REQUEST.with_message("{path}: Extra inputs are not permitted")
WRONG_TYPE = INVALID_REQUEST.with_message("{path}: Input should be a valid {wanted}")
WRONG_OPTION = INVALID_REQUEST.with_message("{path}: Input should be {options}")
BELOW_MINIMUM = INVALID_REQUEST.with_message("{path}: Input should be greater than or equal to {bound}")
ABOVE_MAXIMUM = INVALID_REQUEST.with_message("{path}: Input should be less than or equal to {bound}")
TOO_FEW = INVALID_REQUEST.with_message("{path}: at least one {item} is required")
TOO_MANY = INVALID_REQUEST.with_message("{path}: at most {bound} items are allowed")

TOO_MANY_TOKENS = INVALID_REQUEST.with_message(
    "max_tokens: {max_tokens} > {maximum}, which is the maximum allowed number of output tokens for {model}"
)
# clients know a context that is too long by these words
PROMPT_TOO_LONG = INVALID_REQUEST.with_message("prompt is too long: {input_tokens} tokens > {maximum} maximum")
TEMPERATURE_AND_TOP_P = INVALID_REQUEST.with_message(
    "`temperature` and `top_p` cannot both be specified for this model. Please use only one."
)
NO_PREFILL = INVALID_REQUEST.with_message(
    "This model does not support assistant message prefill. The conversation must end with a user message."
)
NO_ADAPTIVE_THINKING = INVALID_REQUEST.with_message("adaptive thinking is not supported on this model")
NO_INFERENCE_GEO = INVALID_REQUEST.with_message("'{model}' does not support the `inference_geo` parameter.")
NO_SPEED = INVALID_REQUEST.with_message("'{model}' does not support the `speed` parameter.")
NO_FAST_MODE = INVALID_REQUEST.with_message("speed: fast mode is not available here")
NO_SAMPLING = INVALID_REQUEST.with_message("{name}: not supported from version {version} on")
UNANSWERED_TOOL_USE = INVALID_REQUEST.with_message(
    "messages.{index}: `tool_use` ids were found without `tool_result` blocks immediately after: {ids}."
    " Each `tool_use` block must have a corresponding `tool_result` block in the next message."
)
SERVER_TOOLS_UNCOUNTED = INVALID_REQUEST.with_message(
    "tools: Server tools are not supported in the count_tokens endpoint: {tools}"
)
REMOVED_PATH = INVALID_REQUEST.with_message("/v1/complete has been removed. Use /v1/messages instead.")
NO_VERSION = INVALID_REQUEST.with_message("{header}: header is required")
INVALID_VERSION = INVALID_REQUEST.with_message("{header}: {version!r} is not a valid version")
VERSION_NOT_ALLOWED = INVALID_REQUEST.with_message("{header}: {version!r} is not allowed for this endpoint")
UNEXPECTED_BETA = INVALID_REQUEST.with_message("Unexpected value(s) {values} for the `{header}` header.")
SPEND_LIMIT_REACHED = INVALID_REQUEST.with_message(
    "You have reached your specified {scope}API usage limits. You will regain access on {lifted}."
)
# no document names threads: official clients read the code, and send the whole conversation again
NO_THREADS = ErrorRow(
    CLIENTS,
    400,
    "thread: not supported here",
    "invalid_request_error",
    code="thread_unsupported_request",
    headers=NO_RETRY,
)
BAD_FORM = INVALID_REQUEST.with_message("{reason}")
DUPLICATE_CUSTOM_ID = INVALID_REQUEST.with_message("{path}: must be unique within the batch")
BAD_LIMIT = INVALID_REQUEST.with_message("limit: Input should be an integer between 1 and {most}")
TWO_CURSORS = INVALID_REQUEST.with_message("after_id and before_id cannot both be given")
NO_SUCH_CURSOR = INVALID_REQUEST.with_message("{name}: no such id in this list")

# 401: key malformed, revoked, expired, or bad request signing; "the 401 body says the key header is invalid"
AUTHENTICATION = ErrorRow("2:7.3", 401, type="authentication_error", headers=NO_RETRY)
INVALID_KEY = AUTHENTICATION.with_message("invalid {header}")
MISSING_KEY = AUTHENTICATION.with_message("invalid {header}: the header is missing")
BAD_SIGNATURE = AUTHENTICATION.with_message("invalid {header}: the request signature does not match")

# 402: payment problem
BILLING = ErrorRow(
    "2:7.3",
    402,
    "There is a problem with your payment information. Please update it.",
    "billing_error",
    headers=NO_RETRY,
)

# 403: key lacks permission for the resource
PERMISSION = ErrorRow("2:7.3", 403, type="permission_error", headers=NO_RETRY)
NOT_PERMITTED = PERMISSION.with_message("Your API key does not have permission to use the specified resource.")

# 404: unknown path, resource id or model
NOT_FOUND = ErrorRow("2:7.3", 404, type="not_found_error", headers=NO_RETRY)
UNKNOWN_PATH = NOT_FOUND.with_message("Not found")
NO_MODEL = NOT_FOUND.with_message("model: {id}")
NO_BATCH = NOT_FOUND.with_message("Message Batch {id} not found.")
NO_RESULTS = NOT_FOUND.with_message("Message Batch {id} has no available results.")
NO_FILE = NOT_FOUND.with_message("File not found: {id}")
NO_AGENT = NOT_FOUND.with_message("Agent not found: {id}")
NO_WORKSPACE = NOT_FOUND.with_message("Workspace not found: {id}")

# 405 is one of the "other unlisted 4xx"
METHOD_NOT_ALLOWED = ErrorRow("2:7.3", 405, "Method Not Allowed", "invalid_request_error", headers=NO_RETRY)

# 409: concurrent modification or uniqueness
CONFLICT = ErrorRow("2:7.3", 409, type="conflict_error", headers=RETRY)
BATCH_ENDED = CONFLICT.with_message("Message Batch {id} has already ended.")
AGENT_CHANGED = CONFLICT.with_message("Agent {id} was modified concurrently: its version is {version}.")
AGENT_EXISTS = CONFLICT.with_message("An agent named {name!r} already exists.")

# 413: body over size limit
TOO_LARGE = ErrorRow(
    "2:7.3",
    413,
    "Request exceeds the maximum allowed number of bytes: {most_bytes}.",
    "request_too_large",
    headers=NO_RETRY,
)

# 429: rate limit, tier monthly spend cap (no retry-after, keeps failing), acceleration limit, or coding-assistant
# workspace spend limit
RATE_LIMIT = ErrorRow("2:7.3", 429, type="rate_limit_error", headers=RETRY)
LIMIT_REACHED = RATE_LIMIT.with_message(
    "This request would exceed your organization's rate limit of {per_minute:,} {counted} per minute"
    " (org: {organization})."
)
USED_UP_BY_OTHERS = RATE_LIMIT.with_message(
    "Your organization has used up its rate limit of {per_minute:,} requests per minute."
)
BATCH_QUEUE_FULL = RATE_LIMIT.with_message(
    "This batch would exceed your organization's limit of {limit:,} batch requests in the queue."
)
ACCELERATION = RATE_LIMIT.with_message("Your organization's usage increased too sharply. Please ramp up gradually.")
CODING_ASSISTANT_LIMIT = RATE_LIMIT.with_message(
    "This request would exceed the spend limit of your coding-assistant workspace."
)
SPEND_CAP = ErrorRow(
    "2:7.3",
    429,
    "Your organization has reached the monthly spend cap of its usage tier, until {lifted}.",
    "rate_limit_error",
    code="enforced_spend_limit_reached",
    headers=NO_RETRY,
)

# 500, 504 and 529 are no 4xx, so that no x-should-retry is documented
API = ErrorRow("2:7.3", 500, "Internal server error", "api_error")
TIMEOUT = ErrorRow("2:7.3", 504, "Request timed out. Consider streaming or batches for long requests.", "timeout_error")
OVERLOADED = ErrorRow("2:7.3", 529, "Overloaded", "overloaded_error")

# the row of each breach of a field table
BREACHES: Mapping[Breach, ErrorRow] = {
    Breach.MISSING: MISSING_FIELD,
    Breach.UNKNOWN: UNKNOWN_FIELD,
    Breach.TYPE: WRONG_TYPE,
    Breach.OPTION: WRONG_OPTION,
    Breach.BELOW: BELOW_MINIMUM,
    Breach.ABOVE: ABOVE_MAXIMUM,
    Breach.TOO_FEW: TOO_FEW,
    Breach.TOO_MANY: TOO_MANY,
}


def make_response(refusal: Refusal, request_id: str) -> Response:
    """Make the response of a refusal, with the request id in the body (2:7.1)."""
    return JSONResponse({**make_envelope(refusal), "request_id": request_id}, refusal.row.status, refusal.headers)


def make_envelope(refusal: Refusal) -> dict[str, Any]:
    """Make the envelope (2:7.1), with details.error_code if the row has one (2:7.3)."""
    error: dict[str, Any] = {"type": refusal.row.type, "message": refusal.message}
    if refusal.row.code is not None:
        error["details"] = {"error_code": refusal.row.code, **refusal.extra}
    return {"type": "error", "error": error}
