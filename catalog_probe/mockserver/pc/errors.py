"""PC's errors: the rows of document 2 section 7.5, and the refusals that they make in the envelope of section 7.1."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

INVALID_REQUEST = "invalid_request_error"
"""The type of all rows of 2:7.5 that state no other."""
RATE_LIMIT, SERVER, UNAVAILABLE = "rate_limit_error", "server_error", "service_unavailable_error"
IMAGE_GENERATION, NEWER, OAUTH = "image_generation_user_error", "not_found_error", "oauth"


class PcError(Exception):
    """A refusal: a status, and an error object whose four keys are always there."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        code: str | None = None,
        type: str | None = INVALID_REQUEST,
        param: str | None = None,
        headers: Mapping[str, str] | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.code = code
        self.type = type
        self.param = param
        self.headers = dict(headers or {})
        self.extra = dict(extra or {})

    def envelope(self) -> dict[str, Any]:
        """`{error: {message, type, param, code}}`, and what moderation or misalignment add (2:7.1)."""
        error = {"message": self.message, "type": self.type, "param": self.param, "code": self.code}
        return {"error": {**error, **self.extra}}

    def event(self) -> dict[str, Any]:
        """The same as an `error` event of a stream: flat, without the type of the error (1:6)."""
        return {"type": "error", "code": self.code, "message": self.message, "param": self.param}


@dataclass(frozen=True)
class Row:
    """A row of the table: what all refusals of one kind have in common. Calling it makes one of them."""

    status: int
    code: str | None = None
    type: str | None = INVALID_REQUEST

    def __call__(
        self,
        message: str,
        param: str | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> PcError:
        """The refusal of one request; `extra` stands beside the four keys."""
        return PcError(self.status, message, code=self.code, type=self.type, param=param, headers=headers, extra=extra)


INVALID_TYPE = Row(400, "invalid_type")
MISSING_REQUIRED_PARAMETER = Row(400, "missing_required_parameter")
UNKNOWN_PARAMETER = Row(400, "unknown_parameter")
UNSUPPORTED_PARAMETER = Row(400, "unsupported_parameter")
INVALID_VALUE = Row(400, "invalid_value")
INTEGER_BELOW_MIN_VALUE = Row(400, "integer_below_min_value")
INTEGER_ABOVE_MAX_VALUE = Row(400, "integer_above_max_value")
STRING_ABOVE_MAX_LENGTH = Row(400, "string_above_max_length")
ARRAY_ABOVE_MAX_LENGTH = Row(400, "array_above_max_length")
MUTUALLY_EXCLUSIVE_PARAMETERS = Row(400, "mutually_exclusive_parameters")
INVALID_JSON = Row(400, "invalid_json")
UNSUPPORTED_CONTENT_TYPE = Row(400, "unsupported_content_type")
SERVICE_TIER_NOT_ALLOWED = Row(400)
INVALID_BETA = Row(400, "invalid_beta")
PREVIOUS_RESPONSE_NOT_FOUND = Row(400, "previous_response_not_found")
WEBSOCKET_CONNECTION_LIMIT_REACHED = Row(400, "websocket_connection_limit_reached")
CONTEXT_LENGTH_EXCEEDED = Row(400, "context_length_exceeded")
INVALID_PROMPT = Row(400, "invalid_prompt")
MODERATION_BLOCKED = Row(400, "moderation_blocked", IMAGE_GENERATION)
CONTENT_POLICY_VIOLATION = Row(400, "content_policy_violation")
RESPONSE_ALREADY_COMPLETED = Row(400, "response_already_completed")
RESPONSE_UNKNOWN_HERE = Row(400, "response_not_found")
"""A socket's client steers or injects into a response that there is not; the documents are silent."""

INVALID_IMAGE = Row(400, "invalid_image")
INVALID_IMAGE_FORMAT = Row(400, "invalid_image_format")
IMAGE_PARSE_ERROR = Row(400, "image_parse_error")
INVALID_BASE64_IMAGE = Row(400, "invalid_base64_image")
INVALID_IMAGE_URL = Row(400, "invalid_image_url")
IMAGE_TOO_LARGE = Row(400, "image_too_large")
IMAGE_TOO_SMALL = Row(400, "image_too_small")
IMAGE_CONTENT_POLICY_VIOLATION = Row(400, "image_content_policy_violation")
INVALID_IMAGE_MODE = Row(400, "invalid_image_mode")
IMAGE_FILE_TOO_LARGE = Row(400, "image_file_too_large")
UNSUPPORTED_IMAGE_MEDIA_TYPE = Row(400, "unsupported_image_media_type")
EMPTY_IMAGE_FILE = Row(400, "empty_image_file")
FAILED_TO_DOWNLOAD_IMAGE = Row(400, "failed_to_download_image")
IMAGE_FILE_NOT_FOUND = Row(400, "image_file_not_found")
VECTOR_STORE_TIMEOUT = Row(400, "vector_store_timeout")
"""All but the first three of these are listed for streams alone; over HTTP they are refused alike."""

INVALID_GRANT = Row(400, "invalid_grant", OAUTH)
INVALID_SUBJECT_TOKEN = Row(400, "invalid_subject_token", OAUTH)
INVALID_REQUEST_OF_TOKEN = Row(400, "invalid_request", OAUTH)

NO_KEY = Row(401)
INVALID_API_KEY = Row(401, "invalid_api_key")
NOT_A_MEMBER = Row(401)
REVOKED_KEY = Row(401)
FOREIGN_KEY = Row(401)
MISMATCHED_ORGANIZATION = Row(401, "mismatched_organization")
INVALID_PROJECT = Row(401, "invalid_project")
IP_NOT_AUTHORIZED = Row(401, "ip_not_authorized")
"""No type is one of authentication (2:7.5)."""

MUTUAL_TLS_HOST = Row(403, type=None)
INSUFFICIENT_PERMISSIONS = Row(403, "insufficient_permissions")
MISALIGNMENT_POLICY_VIOLATION = Row(403, "misalignment_policy_violation")
CYBER_POLICY = Row(403, "cyber_policy")
UNSUPPORTED_COUNTRY_REGION_TERRITORY = Row(403, "unsupported_country_region_territory")

MODEL_NOT_FOUND = Row(404, "model_not_found")
NO_MODEL_OF_THIS_KIND = Row(404)
NO_RESPONSE = Row(404)
NO_CONVERSATION = Row(404)
NO_FILE = Row(404)
NO_BATCH = Row(404)
NO_VECTOR_STORE = Row(404)
NO_EVAL = Row(404)
NO_FINE_TUNING_JOB = Row(404)
NO_FINE_TUNE = Row(404, "fine_tune_not_found")
NO_SAFETY_ALERT = Row(404, "safety_alert_not_found")
NO_CALL = Row(404, "call_id_not_found")
NO_CONTAINER = Row(404, "not_found_error")
NO_VAULT = Row(404, "not_found_error", NEWER)
NO_SKILL = Row(404, "not_found_error", NEWER)
NO_CHAT_WIDGET = Row(404, "not_found_error", NEWER)
NO_AGENT_SESSION = Row(404, "not_found_error", NEWER)
NO_VIDEO = Row(404, "not_found_error", NEWER)

WRONG_METHOD = Row(405)
CONFLICT = Row(409)
TOO_LARGE = Row(413)
"""The documents give no limit of size."""
UNPROCESSABLE = Row(422)

RATE_LIMIT_EXCEEDED = Row(429, "rate_limit_exceeded", RATE_LIMIT)
SLOW_DOWN = Row(429, "slow_down", RATE_LIMIT)
INSUFFICIENT_QUOTA = Row(429, "insufficient_quota", "insufficient_quota")
CREDIT_BALANCE_EXHAUSTED = Row(429, "credit_balance_exhausted")
ORGANIZATION_SPEND_LIMIT_EXCEEDED = Row(429, "organization_spend_limit_exceeded")
PROJECT_SPEND_LIMIT_EXCEEDED = Row(429, "project_spend_limit_exceeded")
ORGANIZATION_USAGE_LIMIT_EXCEEDED = Row(429, "organization_usage_limit_exceeded")
BILLING_HARD_LIMIT_REACHED = Row(429, "billing_hard_limit_reached")

SERVER_ERROR = Row(500, type=SERVER)
"""Over HTTP it has no code; a stream cannot do without one, see `response_stream`."""
SERVER_IS_OVERLOADED = Row(503, "server_is_overloaded", UNAVAILABLE)


def missing(param: str) -> PcError:
    """A field that must be there and is not."""
    return MISSING_REQUIRED_PARAMETER(f"Missing required parameter: '{param}'.", param)


def retry_after(seconds: float) -> dict[str, str]:
    """The header that says how long to wait, in whole seconds (2:8.4)."""
    return {"retry-after": str(math.ceil(seconds))}
