"""PD's error table, in the order of 2:7.6, and the shapes of error bodies (2:7.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from starlette.responses import JSONResponse, PlainTextResponse, Response

from catalog_probe.mockserver.core.errors import ENVELOPE, ErrorRow
from catalog_probe.mockserver.core.fields import Breach

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.errors import Refusal

STRING = "a bare JSON string"
TEXT = "plain text: the documents show no shape"
EMPTY = "no body at all"

# 400: bad body or URL, parameter unsupported for the model, or an incorrect API key
INVALID_ARGUMENT = ErrorRow("2:7.6", 400, code="invalid-argument")
# 2:7.1 says that "some 400" are a bare string, and not which
UNREADABLE = INVALID_ARGUMENT.with_message("Failed to parse the request body as JSON: {reason}", shape=STRING)
TOO_LARGE = INVALID_ARGUMENT.with_message("The request body is larger than {most_bytes} bytes.")
MISSING_FIELD = INVALID_ARGUMENT.with_message("missing field `{path}`")
BELOW_MINIMUM = INVALID_ARGUMENT.with_message("{path} must be at least {bound}, not {value}.")
ABOVE_MAXIMUM = INVALID_ARGUMENT.with_message("{path} must be at most {bound}, not {value}.")
NO_MESSAGES = INVALID_ARGUMENT.with_message("Messages cannot be empty.")
NOT_OFFERED = INVALID_ARGUMENT.with_message("tool_choice: {name!r} is none of the tools.")
NO_SCHEMA = INVALID_ARGUMENT.with_message("{field}: {reason}")
NO_RPC_MESSAGE = INVALID_ARGUMENT.with_message("Failed to parse the request message.")
BAD_URL = INVALID_ARGUMENT.with_message("Invalid URL: {reason}.")
UNSUPPORTED_EFFORT = INVALID_ARGUMENT.with_message("Model {model} does not support parameter reasoningEffort.")
MULTI_AGENT = INVALID_ARGUMENT.with_message("Model {model} is a multi-agent model: use /v1/responses.")
INCORRECT_KEY = INVALID_ARGUMENT.with_message("Incorrect API key provided.")

# 401: no Authorization header; management API answers invalid bearer with {code: 16}
NO_CREDENTIALS = ErrorRow(
    "2:7.6",
    401,
    "No credentials were provided: send Authorization: Bearer <API_KEY>.",
    code="unauthenticated:no-credentials",
)
INVALID_BEARER = ErrorRow("2:7.6", 401, "Invalid bearer token.")

# 403: missing ACL, key disabled or blocked, team blocked, zero-data-retention or feature restriction
PERMISSION_DENIED = ErrorRow("2:7.6", 403, code="permission-denied")
MISSING_ACL = PERMISSION_DENIED.with_message("This API key lacks the ACL {acl}.")
KEY_DISABLED = PERMISSION_DENIED.with_message("This API key is disabled.")
KEY_BLOCKED = PERMISSION_DENIED.with_message("This API key is blocked.")
TEAM_BLOCKED = PERMISSION_DENIED.with_message("The team of this API key is blocked.")
NOTHING_RETAINED = PERMISSION_DENIED.with_message(
    "Deferred completions are kept for 24 hours; your team has zero data retention."
)
NO_SUCH_FEATURE = PERMISSION_DENIED.with_message("The tool {tool} is not enabled for your team.")

# 404: unknown path; model missing or restricted (same message); regional hosts 404 models they do not serve
NOT_FOUND = ErrorRow("2:7.6", 404, code="not-found")
UNKNOWN_PATH = NOT_FOUND.with_message("The requested resource was not found.")
NO_SUCH_MODEL = NOT_FOUND.with_message("The model does not exist or your team does not have access to it.")
NO_SUCH_RESULT = NOT_FOUND.with_message("No deferred completion is found under this request id.")

# 405: wrong method; empty body
METHOD_NOT_ALLOWED = ErrorRow("2:7.6", 405, shape=EMPTY)
# 415: wrong Content-Type
UNSUPPORTED_MEDIA_TYPE = ErrorRow("2:7.6", 415, "Expected request with `Content-Type: application/json`", shape=TEXT)
# 422: field of wrong type; plain-string body naming field, line, column
WRONG_TYPE = ErrorRow(
    "2:7.6",
    422,
    "Failed to deserialize the JSON body into the target type: {field}invalid type: {found}, "
    "expected {wanted} at line {line} column {column}",
    shape=STRING,
)

# 429: per-model rate or token limit, per-key cap, or depleted prepaid credit with a zero invoiced limit; no Retry-After
EXHAUSTED = ErrorRow("2:7.6", 429, code="resource-exhausted")
USED_UP_BY_OTHERS = EXHAUSTED.with_message("Your team has used up its rate limit. Try again in {retry_after} s.")
MODEL_REQUESTS = EXHAUSTED.with_message("Your team has reached the request rate limit of model {model}.")
MODEL_TOKENS = EXHAUSTED.with_message("Your team has reached the limit of {number} tokens per minute of model {model}.")
KEY_CAP = EXHAUSTED.with_message("This API key has reached its cap of {number:g} {unit}.")
NO_CREDIT = EXHAUSTED.with_message("Your team has used all of its prepaid credit and has no invoiced limit.")

# 500: server fault; the gRPC mapping names 503 and 504 as well
INTERNAL = ErrorRow("2:7.6", 500, "Internal server error", shape=TEXT)
UNAVAILABLE = ErrorRow("2:7.6", 503, "The service is temporarily unavailable", shape=TEXT)
DEADLINE_EXCEEDED = ErrorRow("2:7.6", 504, "The request took too long", shape=TEXT)

BREACHES: Mapping[Breach, ErrorRow] = {
    Breach.MISSING: MISSING_FIELD,
    Breach.TYPE: WRONG_TYPE,
    Breach.BELOW: BELOW_MINIMUM,
    Breach.ABOVE: ABOVE_MAXIMUM,
    Breach.TOO_FEW: NO_MESSAGES,
}
"""The error for each way in which a field can break its row."""

GRPC_NUMBERS: Mapping[int, int] = {400: 3, 401: 16, 403: 7, 404: 5, 429: 8, 500: 13, 503: 14, 504: 4}
"""The gRPC mapping of 2:7.6, by HTTP status."""

MANAGEMENT_CODES: Mapping[int, int] = {401: 16, 404: 5, 429: 8, 500: 13, 503: 14, 504: 4}
"""The codes of the management API: gRPC numbering, 16 = unauthenticated (2:7.1)."""


def make_response(refusal: Refusal) -> Response:
    """Return the response of a refusal on the inference API; no row has a header."""
    row = refusal.row
    if row.shape == ENVELOPE:
        return JSONResponse({"code": row.code, "error": refusal.message}, row.status)
    if row.shape == STRING:
        return JSONResponse(refusal.message, row.status)
    if row.shape == TEXT:
        return PlainTextResponse(refusal.message, row.status)
    return Response(status_code=row.status)


def make_management_response(refusal: Refusal) -> Response:
    """Return the response of a refusal on the management API."""
    row = refusal.row
    if row.shape == EMPTY:
        return make_response(refusal)
    return make_management_envelope(row.status, MANAGEMENT_CODES[row.status], refusal.message)


def make_management_envelope(status: int, code: int, message: str) -> Response:
    """Return `{code: integer, message, details: [ ]}` (2:7.1)."""
    return JSONResponse({"code": code, "message": message, "details": []}, status)
