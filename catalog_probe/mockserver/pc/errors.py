"""PC's error table, in the order of 2:7.5, and its shape on each transport."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse, Response

from catalog_probe.mockserver.core.errors import CLIENTS, OURS, ErrorRow
from catalog_probe.mockserver.core.fields import Breach

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.errors import Refusal


# "All rows use type `invalid_request_error` unless stated."
INVALID = "invalid_request_error"
RATE_LIMIT = "rate_limit_error"
IMAGE_GENERATION = "image_generation_user_error"
NEWER = "not_found_error"
OAUTH = "oauth"

EMPTY = "no body at all"


def _row(
    status: int,
    code: str | None,
    message: str = "",
    *,
    type: str | None = INVALID,
    param: str | None = None,
    section: str = "2:7.5",
) -> ErrorRow:
    """Make a row from the columns of 2:7.5: HTTP, code, condition."""
    return ErrorRow(section, status, message, type, code, param)


# 400 invalid_type: a field has the wrong JSON type; `param` names it
INVALID_TYPE = _row(400, "invalid_type", "Invalid type for '{path}': expected {wanted}, but got {found} instead.")
# 400 missing_required_parameter: e.g. model missing
MISSING_REQUIRED_PARAMETER = _row(400, "missing_required_parameter", "Missing required parameter: '{path}'.")
NO_INPUT = MISSING_REQUIRED_PARAMETER.with_message("Missing required parameter: 'input'.", param="input")
# 400 unknown_parameter: unrecognized body field (strict)
UNKNOWN_PARAMETER = _row(400, "unknown_parameter", "Unknown parameter: '{path}'.")
# 400 unsupported_parameter: parameter not valid for the model or endpoint
UNSUPPORTED_PARAMETER = _row(400, "unsupported_parameter")
NOT_OF_THE_MODEL = UNSUPPORTED_PARAMETER.with_message(
    "Unsupported parameter: '{name}' is not supported with this model."
)
NOT_OF_THE_ENDPOINT = UNSUPPORTED_PARAMETER.with_message(
    "Unsupported parameter: '{name}' is not supported on this endpoint."
)
NO_DIMENSIONS = UNSUPPORTED_PARAMETER.with_message(
    "This model does not support specifying dimensions.", param="dimensions"
)
# 400 invalid_value: out of range, bad enum member, oversized max_tokens
INVALID_VALUE = _row(400, "invalid_value")
BELOW_RANGE = INVALID_VALUE.with_message("Invalid '{path}': expected a value >= {bound}, but got {value} instead.")
ABOVE_RANGE = INVALID_VALUE.with_message("Invalid '{path}': expected a value <= {bound}, but got {value} instead.")
NO_OPTION = INVALID_VALUE.with_message("Invalid value: '{value:.64}'. Supported values are: {options}.")
TOO_FEW_ITEMS = INVALID_VALUE.with_message("Invalid '{path}': expected at least {bound} items.")
MAX_TOKENS_TOO_LARGE = INVALID_VALUE.with_message(
    "max_tokens is too large: {value}. This model supports at most {most} output tokens."
)
NOT_OFFERED = INVALID_VALUE.with_message("Tool choice '{name}' not found in 'tools' parameter.", param="tool_choice")
# 400 integer_below_min_value (family: integer_above_max_value, string_above_max_length, array_above_max_length)
INTEGER_BELOW_MIN_VALUE = _row(400, "integer_below_min_value", BELOW_RANGE.message)
INTEGER_ABOVE_MAX_VALUE = _row(400, "integer_above_max_value", ABOVE_RANGE.message)
STRING_ABOVE_MAX_LENGTH = _row(400, "string_above_max_length", "Invalid '{path}': expected at most {bound} characters.")
ARRAY_ABOVE_MAX_LENGTH = _row(400, "array_above_max_length", "Invalid '{path}': expected at most {bound} items.")
# 400 mutually_exclusive_parameters: e.g. previous_response_id with conversation
MUTUALLY_EXCLUSIVE_PARAMETERS = _row(
    400,
    "mutually_exclusive_parameters",
    "Mutually exclusive parameters: 'previous_response_id' and 'conversation'. Send only one of them.",
    param="previous_response_id",
)
# 400 invalid_json: body not parseable
INVALID_JSON = _row(400, "invalid_json", "We could not parse the JSON body of your request: {reason}")
# 400 unsupported_content_type: body not application/json (multipart only on file endpoints)
UNSUPPORTED_CONTENT_TYPE = _row(400, "unsupported_content_type", "Unsupported content type: '{media_type}'.")
NO_FORM = UNSUPPORTED_CONTENT_TYPE.with_message("{reason}")
# 400 none: service tier not allowed for the project (`param` service_tier)
SERVICE_TIER_NOT_ALLOWED = _row(
    400, None, "The service tier '{tier}' is not allowed for this project.", param="service_tier"
)
# 400 invalid_beta: required beta header missing or invalid
INVALID_BETA = _row(400, "invalid_beta")
UNKNOWN_BETA = INVALID_BETA.with_message("The '{header}' header has a value other than {known}.")
MISSING_BETA = INVALID_BETA.with_message("You must send the '{header}: {beta}' header to use this endpoint.")
# 400 previous_response_not_found: unresolvable (deleted, unstored, wrong project, socket state lost)
PREVIOUS_RESPONSE_NOT_FOUND = _row(
    400, "previous_response_not_found", "Previous response with id '{id}' not found.", param="previous_response_id"
)
# 400 websocket_connection_limit_reached: socket reached 60 minutes
WEBSOCKET_CONNECTION_LIMIT_REACHED = _row(
    400, "websocket_connection_limit_reached", "This WebSocket has reached its limit of 60 minutes. Open a new one."
)
# 400 context_length_exceeded: prompt plus output over context window. The words are those that clients look for.
CONTEXT_LENGTH_EXCEEDED = _row(
    400,
    "context_length_exceeded",
    "This model's maximum context length is {window} tokens, and your input exceeds the context window of this model: "
    "{prompt} tokens, with {output} for the output. Please shorten one of them.",
)
# 400 invalid_prompt: prompt rejected before generation
INVALID_PROMPT = _row(
    400, "invalid_prompt", "Your prompt was rejected: it was flagged as potentially violating our policy."
)
# 400 moderation_blocked (type image_generation_user_error): image prompt or input blocked
MODERATION_BLOCKED = _row(
    400, "moderation_blocked", "Your request was rejected by the safety system.", type=IMAGE_GENERATION
)
# 400 content_policy_violation (legacy): usage policy
CONTENT_POLICY_VIOLATION = _row(
    400, "content_policy_violation", "Your request was rejected because it violates the usage policy."
)
# 400 response_already_completed: response.inject on a completed response
RESPONSE_ALREADY_COMPLETED = _row(400, "response_already_completed", "The response has already completed.")
RESPONSE_UNKNOWN_HERE = _row(400, "response_not_found", "There is no such response on this socket.", section=OURS)

# 400 invalid_image, invalid_image_format, image_parse_error: cannot be decoded, wrong format or too large.
# The others are listed as stream error codes alone; over HTTP they are refused alike.
INVALID_IMAGE = _row(400, "invalid_image", "The image cannot be decoded.")
INVALID_IMAGE_FORMAT = _row(400, "invalid_image_format", "The image is not in the format '{media_type}'.")
IMAGE_PARSE_ERROR = _row(400, "image_parse_error", "The image is cut off or damaged.")
INVALID_BASE64_IMAGE = _row(400, "invalid_base64_image", "The image is not valid base64.")
INVALID_IMAGE_URL = _row(400, "invalid_image_url", "The image has no URL that can be used.")
IMAGE_TOO_LARGE = _row(400, "image_too_large", "The image has a side of more than {most} pixels.")
IMAGE_TOO_SMALL = _row(400, "image_too_small", "The image has a side of less than {least} pixels.")
IMAGE_CONTENT_POLICY_VIOLATION = _row(400, "image_content_policy_violation", "The image violates the content policy.")
INVALID_IMAGE_MODE = _row(400, "invalid_image_mode", "Images of {depth} bits a channel are not supported.")
IMAGE_FILE_TOO_LARGE = _row(400, "image_file_too_large", "The image file is larger than {most} bytes.")
UNSUPPORTED_IMAGE_MEDIA_TYPE = _row(
    400, "unsupported_image_media_type", "'{media_type}' is no supported type of images."
)
EMPTY_IMAGE_FILE = _row(400, "empty_image_file", "The image file is empty.")
FAILED_TO_DOWNLOAD_IMAGE = _row(400, "failed_to_download_image", "Error while downloading {url:.64}.")
IMAGE_FILE_NOT_FOUND = _row(400, "image_file_not_found", "No file found with id '{id}'.")
VECTOR_STORE_TIMEOUT = _row(400, "vector_store_timeout", "The vector store did not answer in time.")

# "Token exchange failures (400, type oauth): invalid_grant, invalid_subject_token, invalid_request."
INVALID_GRANT = _row(400, "invalid_grant", "The {what} does not match the provider configuration.", type=OAUTH)
INVALID_SUBJECT_TOKEN = _row(
    400, "invalid_subject_token", "The subject token {reason}.", type=OAUTH, param="subject_token"
)
INVALID_REQUEST_OF_TOKEN = _row(400, "invalid_request", "The request body cannot be read.", type=OAUTH)
NO_PARAMETER_OF_TOKEN = INVALID_REQUEST_OF_TOKEN.with_message("Missing or invalid parameter: '{path}'.")

# 401 invalid_api_key: incorrect key; type is invalid_request_error, not an authentication type
INVALID_API_KEY = _row(401, "invalid_api_key", "Incorrect API key provided: {start}***.")
# 401 none: not an organization member, revoked key, or key from another organization
NOT_A_MEMBER = _row(401, None, "You must be a member of an organization to use the API.")
REVOKED_KEY = _row(401, None, "This API key has been revoked.")
FOREIGN_KEY = _row(401, None, "This API key belongs to another organization.")
NO_KEY = _row(401, None, "You didn't provide an API key. Send it as Authorization: Bearer YOUR_KEY.", section=OURS)
# 401 mismatched_organization: organization header differs from the key's organization
MISMATCHED_ORGANIZATION = _row(
    401, "mismatched_organization", "The organization header does not match the key's organization."
)
# 401 invalid_project: project header names no project of the key
INVALID_PROJECT = _row(401, "invalid_project", "The project header names no project of this key.")
# 401 ip_not_authorized: address outside the allowlist
IP_NOT_AUTHORIZED = _row(401, "ip_not_authorized", "Your IP address is not on the allowlist of this {owner}.")

# 403 none (type null): mutual-TLS host: any method or path except exact POST /oauth/token
MUTUAL_TLS_HOST = _row(403, None, "Only POST /oauth/token is allowed on this host.", type=None)
# 403 insufficient_permissions: missing scope
INSUFFICIENT_PERMISSIONS = _row(
    403, "insufficient_permissions", "You have insufficient permissions for this operation. Missing scopes: {scope}."
)
NO_ADMIN = replace(INSUFFICIENT_PERMISSIONS, section=OURS, message="This operation needs an admin key.")
# 403 misalignment_policy_violation: monitoring blocked the request before streaming
MISALIGNMENT_POLICY_VIOLATION = _row(403, "misalignment_policy_violation", "Monitoring blocked this request.")
# 403 cyber_policy: cybersecurity safeguard flagged the request; may arrive mid-stream
CYBER_POLICY = _row(403, "cyber_policy", "This request was flagged by the cybersecurity safeguard.")
# 403 unsupported_country_region_territory: region not supported
UNSUPPORTED_COUNTRY_REGION_TERRITORY = _row(
    403, "unsupported_country_region_territory", "Country, region, or territory not supported"
)

# 404 model_not_found: model absent, denied by project permissions, or not enabled for the organization
MODEL_NOT_FOUND = _row(
    404, "model_not_found", "The model '{model}' does not exist or you do not have access to it.", param="model"
)
NO_MODEL_OF_THIS_KIND = _row(
    404, None, "The model '{model}' is no {kind} model and not supported here.", param="model", section=OURS
)
# 404 none: resource lookup failed (responses, conversations, files, evals, fine-tuning jobs)
NO_RESPONSE = _row(404, None, "Response with id '{id}' not found.")
NO_CONVERSATION = _row(404, None, "Conversation with id '{id}' not found.")
NO_FILE = _row(404, None, "No such File object: {id}", param="id")
NO_EVAL = _row(404, None, "No eval found with id '{id}'.")
NO_FINE_TUNING_JOB = _row(404, None, "No fine-tuning job found with id '{id}'.", param="fine_tuning_job_id")
NO_VECTOR_STORE = _row(404, None, "No vector store found with id '{id}'.", section=CLIENTS)
# "some resources return not_found_error, fine_tune_not_found, safety_alert_not_found, call_id_not_found"
NO_CONTAINER = _row(404, "not_found_error", "No container found with id '{id}'.")
NO_FINE_TUNE = _row(404, "fine_tune_not_found", "No fine tune found with id '{id}'.", param="fine_tune_id")
NO_SAFETY_ALERT = _row(404, "safety_alert_not_found", "No safety alert found with id '{id}'.")
NO_CALL = _row(404, "call_id_not_found", "No call found with id '{id}'.")
# 404 not_found_error (type not_found_error): vaults, skills, chat widgets, agent sessions, videos
NO_VAULT = _row(404, "not_found_error", "No vault found with id '{id}'.", type=NEWER)
NO_SKILL = _row(404, "not_found_error", "No skill found with id '{id}'.", type=NEWER)
NO_CHAT_WIDGET = _row(404, "not_found_error", "No chat widget found with id '{id}'.", type=NEWER)
NO_AGENT_SESSION = _row(404, "not_found_error", "No agent session found with id '{id}'.", type=NEWER)
NO_VIDEO = _row(404, "not_found_error", "No video found with id '{id}'.", type=NEWER)
# 404 none: unknown URL; empty body; retired assistants and threads routes also 404
UNKNOWN_URL = ErrorRow("2:7.5", 404, shape=EMPTY)

# 405 none: wrong method on a path; 1:4.3 "updates use POST"
WRONG_METHOD = _row(405, None, "Not allowed to {method} on this path.")
# 409 none: concurrent modification or state conflict
CONFLICT = _row(409, None, "Another response of this conversation is still in progress.", param="conversation")
# the documents give no limit of size
TOO_LARGE = _row(413, None, "The request body is larger than {most_bytes} bytes.", section=OURS)
# 422 none: well-formed but unprocessable
UNPROCESSABLE = _row(422, None, "The file '{id}' holds no text that could be searched.")

# 429 rate_limit_exceeded (type rate_limit_error): rate exhausted; Retry-After may be present
RATE_LIMIT_EXCEEDED = _row(429, "rate_limit_exceeded", "Rate limit reached for {holder} on {limit}.", type=RATE_LIMIT)
USED_UP_BY_OTHERS = RATE_LIMIT_EXCEEDED.with_message(
    "Rate limit reached: your organization has used up its requests per minute."
)
CAPACITY_REACHED = RATE_LIMIT_EXCEEDED.with_message("Rate limit reached. Please try again later.")
# 429 slow_down (type rate_limit_error): traffic ramped too fast
SLOW_DOWN = _row(429, "slow_down", "Your traffic is ramping up too fast. Please slow down.", type=RATE_LIMIT)
# 429 insufficient_quota (type insufficient_quota): quota or billing exhausted
INSUFFICIENT_QUOTA = _row(
    429,
    "insufficient_quota",
    "You exceeded your current quota, please check your plan and billing details.",
    type="insufficient_quota",
)
# 429 credit_balance_exhausted: prepaid balance depleted
CREDIT_BALANCE_EXHAUSTED = _row(429, "credit_balance_exhausted", "Your prepaid credit balance is exhausted.")
# 429 organization_spend_limit_exceeded, project_spend_limit_exceeded: monthly hard spend limit
ORGANIZATION_SPEND_LIMIT_EXCEEDED = _row(
    429, "organization_spend_limit_exceeded", "Your organization has reached its monthly hard spend limit."
)
PROJECT_SPEND_LIMIT_EXCEEDED = _row(
    429, "project_spend_limit_exceeded", "Your project has reached its monthly hard spend limit."
)
# 429 organization_usage_limit_exceeded: provider-assigned monthly usage limit
ORGANIZATION_USAGE_LIMIT_EXCEEDED = _row(
    429, "organization_usage_limit_exceeded", "Your organization has reached the monthly usage limit assigned to it."
)
# 429 billing_hard_limit_reached (legacy, unverified): old hard-limit name
BILLING_HARD_LIMIT_REACHED = _row(429, "billing_hard_limit_reached", "Billing hard limit has been reached.")

# 500 none (type server_error): transient fault
SERVER_ERROR = _row(500, None, "The server had an error while processing your request.", type="server_error")
# 503 server_is_overloaded (type service_unavailable_error): model lacks capacity; Retry-After
SERVER_IS_OVERLOADED = _row(
    503,
    "server_is_overloaded",
    "The server is currently overloaded. Please try again later.",
    type="service_unavailable_error",
)

BREACHES: Mapping[Breach, ErrorRow] = {
    Breach.MISSING: MISSING_REQUIRED_PARAMETER,
    Breach.UNKNOWN: UNKNOWN_PARAMETER,
    Breach.TYPE: INVALID_TYPE,
    Breach.OPTION: NO_OPTION,
    Breach.BELOW: INTEGER_BELOW_MIN_VALUE,
    Breach.ABOVE: INTEGER_ABOVE_MAX_VALUE,
    Breach.TOO_LONG: STRING_ABOVE_MAX_LENGTH,
    Breach.TOO_FEW: TOO_FEW_ITEMS,
    Breach.TOO_MANY: ARRAY_ABOVE_MAX_LENGTH,
}
"""The error for each way in which a field can break its row."""

DECIMAL_BREACHES: Mapping[Breach, ErrorRow] = {Breach.BELOW: BELOW_RANGE, Breach.ABOVE: ABOVE_RANGE}
"""The errors for decimal numbers: the codes of bounds in 2:7.5 are named for integers."""

TOKEN_BREACHES: Mapping[Breach, ErrorRow] = dict.fromkeys(Breach, NO_PARAMETER_OF_TOKEN)
"""The error for any field on the mutual-TLS host."""


def envelope(refusal: Refusal) -> dict[str, Any]:
    """Return `{error: {message, type, param, code, …}}` (2:7.1)."""
    row = refusal.row
    error = {"message": refusal.message, "type": row.type, "param": refusal.param, "code": row.code}
    return {"error": {**error, **refusal.extra}}


def error_event(refusal: Refusal) -> dict[str, Any]:
    """Return the `error` event of a stream: flat, without the error's type (1:6)."""
    return {"type": "error", "code": refusal.row.code, "message": refusal.message, "param": refusal.param}


def error_message(refusal: Refusal) -> dict[str, Any]:
    """Return the error message of a WebSocket, as official clients read it."""
    return {"type": "error", "status": refusal.row.status, **envelope(refusal)}


def make_response(refusal: Refusal) -> Response:
    """Return the response of a refusal."""
    if refusal.row.shape == EMPTY:
        return Response(status_code=refusal.row.status)
    return JSONResponse(envelope(refusal), refusal.row.status, refusal.headers)
