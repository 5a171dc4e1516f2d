"""PC's faults: citation of an error -> its row, or the scenario that causes it (2:7.5)."""

from __future__ import annotations

from functools import partial

from catalog_probe.mockserver.core.faults import STREAM, FaultTable, make_fault
from catalog_probe.mockserver.pc import errors

_token = partial(make_fault, within="/oauth/token")
_stream = partial(make_fault, at=STREAM)

_ROWS: FaultTable = {
    "invalid_type": make_fault(errors.INVALID_TYPE, param="temperature", wanted="a number"),
    "missing_required_parameter": make_fault(errors.MISSING_REQUIRED_PARAMETER, param="model", path="model"),
    "unknown_parameter": make_fault(errors.UNKNOWN_PARAMETER, param="colour", path="colour"),
    "unsupported_parameter": make_fault(errors.NOT_OF_THE_MODEL, param="temperature"),
    "invalid_value": make_fault(errors.ABOVE_RANGE, param="temperature", bound=2, value=3),
    "integer_below_min_value": make_fault(
        errors.INTEGER_BELOW_MIN_VALUE, param="max_output_tokens", path="max_output_tokens", bound=16, value=1
    ),
    "integer_above_max_value": make_fault(
        errors.INTEGER_ABOVE_MAX_VALUE, param="max_output_tokens", path="max_output_tokens", bound=64_000
    ),
    "string_above_max_length": make_fault(errors.STRING_ABOVE_MAX_LENGTH, param="user", path="user", bound=64),
    "array_above_max_length": make_fault(errors.ARRAY_ABOVE_MAX_LENGTH, param="tools", path="tools", bound=128),
    "mutually_exclusive_parameters": make_fault(errors.MUTUALLY_EXCLUSIVE_PARAMETERS),
    "invalid_json": make_fault(errors.INVALID_JSON),
    "unsupported_content_type": make_fault(errors.UNSUPPORTED_CONTENT_TYPE),
    "400 service tier not allowed for the project": make_fault(errors.SERVICE_TIER_NOT_ALLOWED, tier="priority"),
    "invalid_beta": make_fault(errors.UNKNOWN_BETA, header="PC-Beta", known="assistants=v2"),
    "previous_response_not_found": make_fault(errors.PREVIOUS_RESPONSE_NOT_FOUND, id="resp_123"),
    "websocket_connection_limit_reached": "session_age;age=60m",
    "context_length_exceeded": make_fault(errors.CONTEXT_LENGTH_EXCEEDED),
    "invalid_prompt": make_fault(errors.INVALID_PROMPT),
    "moderation_blocked": "image_moderation",
    "content_policy_violation": "usage_policy_violation",
    "invalid_image": make_fault(errors.INVALID_IMAGE),
    "invalid_image_format": make_fault(errors.INVALID_IMAGE_FORMAT),
    "image_parse_error": make_fault(errors.IMAGE_PARSE_ERROR),
    "token exchange invalid_grant": _token(errors.INVALID_GRANT),
    "token exchange invalid_subject_token": _token(errors.INVALID_SUBJECT_TOKEN, reason="has expired"),
    "token exchange invalid_request": _token(errors.INVALID_REQUEST_OF_TOKEN),
    "invalid_api_key": make_fault(errors.INVALID_API_KEY),
    "401 not an organization member": make_fault(errors.NOT_A_MEMBER),
    "401 revoked key": make_fault(errors.REVOKED_KEY),
    "401 key from another organization": make_fault(errors.FOREIGN_KEY),
    "mismatched_organization": make_fault(errors.MISMATCHED_ORGANIZATION),
    "invalid_project": make_fault(errors.INVALID_PROJECT),
    "ip_not_authorized": make_fault(errors.IP_NOT_AUTHORIZED),
    "403 mutual-TLS host": _token(errors.MUTUAL_TLS_HOST),
    "insufficient_permissions": make_fault(errors.INSUFFICIENT_PERMISSIONS, scope="api.external_storage.read"),
    "misalignment_policy_violation": "misalignment_detected",
    "cyber_policy": make_fault(errors.CYBER_POLICY),
    "unsupported_country_region_territory": "unsupported_region",
    "model_not_found": make_fault(errors.MODEL_NOT_FOUND),
    "404 resource lookup responses": make_fault(errors.NO_RESPONSE, id="resp_123"),
    "404 resource lookup conversations": make_fault(errors.NO_CONVERSATION, id="conv_123"),
    "404 resource lookup files": make_fault(errors.NO_FILE, id="file-123"),
    "404 resource lookup evals": make_fault(errors.NO_EVAL, id="eval_123"),
    "404 resource lookup fine-tuning jobs": make_fault(errors.NO_FINE_TUNING_JOB, id="ftjob-123"),
    "404 resource lookup not_found_error": make_fault(errors.NO_CONTAINER, id="cntr_123"),
    "fine_tune_not_found": make_fault(errors.NO_FINE_TUNE, id="ft-123"),
    "safety_alert_not_found": make_fault(errors.NO_SAFETY_ALERT, id="alert_123"),
    "call_id_not_found": make_fault(errors.NO_CALL, id="call_123"),
    "not_found_error vaults": make_fault(errors.NO_VAULT, id="vault_123"),
    "not_found_error skills": make_fault(errors.NO_SKILL, id="skill_123"),
    "not_found_error chat widgets": make_fault(errors.NO_CHAT_WIDGET, id="widget_123"),
    "not_found_error agent sessions": make_fault(errors.NO_AGENT_SESSION, id="session_123"),
    "not_found_error videos": make_fault(errors.NO_VIDEO, id="video_123"),
    "404 unknown URL": make_fault(errors.UNKNOWN_URL),
    "404 retired assistants routes": make_fault(errors.UNKNOWN_URL),
    "404 retired threads routes": make_fault(errors.UNKNOWN_URL),
    "405 wrong method": make_fault(errors.WRONG_METHOD, method="PATCH"),
    "409 conflict": make_fault(errors.CONFLICT),
    "422 unprocessable": make_fault(errors.UNPROCESSABLE, id="file-123"),
    "rate_limit_exceeded": make_fault(
        errors.RATE_LIMIT_EXCEEDED, holder="organization org-mock", limit="requests per min", waits=True
    ),
    "slow_down": make_fault(errors.SLOW_DOWN, waits=True),
    "insufficient_quota": make_fault(errors.INSUFFICIENT_QUOTA),
    "credit_balance_exhausted": make_fault(errors.CREDIT_BALANCE_EXHAUSTED),
    "organization_spend_limit_exceeded": make_fault(errors.ORGANIZATION_SPEND_LIMIT_EXCEEDED),
    "project_spend_limit_exceeded": make_fault(errors.PROJECT_SPEND_LIMIT_EXCEEDED),
    "organization_usage_limit_exceeded": make_fault(errors.ORGANIZATION_USAGE_LIMIT_EXCEEDED),
    "billing_hard_limit_reached": make_fault(errors.BILLING_HARD_LIMIT_REACHED),
    "500 transient fault": make_fault(errors.SERVER_ERROR),
    "server_is_overloaded": make_fault(errors.SERVER_IS_OVERLOADED, headers={"retry-after": "1"}, waits=True),
    "client-side connection error": "close_without_answer",
    "client-side timeout error": "hang",
    "incomplete max_output_tokens": "output_limit",
    "incomplete max_messages": "message_limit",
    "incomplete content_filter": "content_filtered",
    "chat finish_reason length": "output_limit",
    "chat finish_reason content_filter": "content_filtered",
}

_STREAM_CODES: FaultTable = {
    "server_error": _stream(errors.SERVER_ERROR),
    "rate_limit_exceeded": _stream(errors.CAPACITY_REACHED),
    "invalid_prompt": _stream(errors.INVALID_PROMPT),
    "vector_store_timeout": _stream(errors.VECTOR_STORE_TIMEOUT),
    "invalid_image": _stream(errors.INVALID_IMAGE),
    "invalid_image_format": _stream(errors.INVALID_IMAGE_FORMAT),
    "invalid_base64_image": _stream(errors.INVALID_BASE64_IMAGE),
    "invalid_image_url": _stream(errors.INVALID_IMAGE_URL),
    "image_too_large": _stream(errors.IMAGE_TOO_LARGE),
    "image_too_small": _stream(errors.IMAGE_TOO_SMALL),
    "image_parse_error": _stream(errors.IMAGE_PARSE_ERROR),
    "image_content_policy_violation": _stream(errors.IMAGE_CONTENT_POLICY_VIOLATION),
    "invalid_image_mode": _stream(errors.INVALID_IMAGE_MODE, depth=16),
    "image_file_too_large": _stream(errors.IMAGE_FILE_TOO_LARGE),
    "unsupported_image_media_type": _stream(errors.UNSUPPORTED_IMAGE_MEDIA_TYPE),
    "empty_image_file": _stream(errors.EMPTY_IMAGE_FILE),
    "failed_to_download_image": _stream(errors.FAILED_TO_DOWNLOAD_IMAGE),
    "image_file_not_found": _stream(errors.IMAGE_FILE_NOT_FOUND, id="file-123"),
}

ARMABLE_ERRORS: FaultTable = {
    **{f"2:7.5#{row}": fault for row, fault in _ROWS.items()},
    **{f"2:7.5#stream {code}": fault for code, fault in _STREAM_CODES.items()},
    "1:6#cyber_policy error": _stream(errors.CYBER_POLICY),
}
