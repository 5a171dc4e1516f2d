"""PA's faults: citation of an error -> its row, or the scenario that causes it (2:7.2, 2:7.3)."""

from __future__ import annotations

from functools import partial

from catalog_probe.mockserver.core.faults import STREAM, FaultTable, make_fault
from catalog_probe.mockserver.pa import errors
from catalog_probe.mockserver.pa.compliance import errors as compliance

_compliance = partial(make_fault, within="/v1/compliance/")

_INVALID: FaultTable = {
    "missing max_tokens": make_fault(errors.MISSING_FIELD, path="max_tokens"),
    "max_tokens above the model maximum": make_fault(errors.TOO_MANY_TOKENS),
    "temperature below 0": make_fault(errors.BELOW_MINIMUM, path="temperature", bound=0),
    "temperature above 1": make_fault(errors.ABOVE_MAXIMUM, path="temperature", bound=1),
    "top_k not an integer": make_fault(errors.WRONG_TYPE, path="top_k", wanted="integer"),
    "temperature and top_p both given": make_fault(errors.TEMPERATURE_AND_TOP_P),
    "empty messages": make_fault(errors.TOO_FEW, path="messages", item="message"),
    "body not valid JSON": make_fault(errors.NOT_JSON),
    "version value invalid": make_fault(errors.INVALID_VERSION, header="pa-version"),
    "version value not allowed for the endpoint": make_fault(errors.VERSION_NOT_ALLOWED, header="pa-version"),
    "unexpected beta header value": make_fault(errors.UNEXPECTED_BETA, header="pa-beta"),
    "assistant prefill unsupported": make_fault(errors.NO_PREFILL),
    "adaptive thinking unsupported": make_fault(errors.NO_ADAPTIVE_THINKING),
    "tool_use without tool_result": make_fault(errors.UNANSWERED_TOOL_USE),
    "server tools in count_tokens": make_fault(errors.SERVER_TOOLS_UNCOUNTED),
    "inference_geo unsupported": make_fault(errors.NO_INFERENCE_GEO),
    "speed parameter unsupported": make_fault(errors.NO_SPEED),
    "extra inputs betas": make_fault(errors.UNKNOWN_FIELD, path="betas"),
    "extra inputs output_format": make_fault(errors.UNKNOWN_FIELD, path="output_format"),
    "removed completion path": make_fault(errors.REMOVED_PATH),
}

_SERVER_TOOLS: FaultTable = {
    "web_search invalid_tool_input": "server_tool_failed;tool=web_search;code=invalid_tool_input",
    "web_search unavailable": "server_tool_failed;tool=web_search;code=unavailable",
    "web_search max_uses_exceeded": "server_tool_failed;tool=web_search;code=max_uses_exceeded",
    "web_search too_many_requests": "server_tool_failed;tool=web_search;code=too_many_requests",
    "web_search query_too_long": "server_tool_failed;tool=web_search;code=query_too_long",
    "web_search request_too_large": "server_tool_failed;tool=web_search;code=request_too_large",
    "web_fetch invalid_tool_input": "server_tool_failed;tool=web_fetch;code=invalid_tool_input",
    "web_fetch url_too_long": "server_tool_failed;tool=web_fetch;code=url_too_long",
    "web_fetch url_not_allowed": "server_tool_failed;tool=web_fetch;code=url_not_allowed",
    "web_fetch url_not_in_prior_context": "server_tool_failed;tool=web_fetch;code=url_not_in_prior_context",
    "web_fetch url_not_accessible": "server_tool_failed;tool=web_fetch;code=url_not_accessible",
    "web_fetch unsupported_content_type": "server_tool_failed;tool=web_fetch;code=unsupported_content_type",
    "web_fetch too_many_requests": "server_tool_failed;tool=web_fetch;code=too_many_requests",
    "web_fetch max_uses_exceeded": "server_tool_failed;tool=web_fetch;code=max_uses_exceeded",
    "web_fetch unavailable": "server_tool_failed;tool=web_fetch;code=unavailable",
    "web_fetch content_too_large": "server_tool_failed;tool=web_fetch;code=content_too_large",
    "code_execution invalid_tool_input": "server_tool_failed;tool=code_execution;code=invalid_tool_input",
    "code_execution unavailable": "server_tool_failed;tool=code_execution;code=unavailable",
    "code_execution too_many_requests": "server_tool_failed;tool=code_execution;code=too_many_requests",
    "code_execution execution_time_exceeded": "server_tool_failed;tool=code_execution;code=execution_time_exceeded",
    "code_execution bash output_file_too_large": (
        "server_tool_failed;tool=bash_code_execution;code=output_file_too_large"
    ),
    "code_execution text editor file_not_found": (
        "server_tool_failed;tool=text_editor_code_execution;code=file_not_found"
    ),
}

_MESSAGES: FaultTable = {
    **_INVALID,
    "400 malformed request": make_fault(errors.NO_OBJECT),
    "400 other unlisted 4xx": make_fault(errors.METHOD_NOT_ALLOWED),
    "400 self-set spend limit reached": make_fault(errors.SPEND_LIMIT_REACHED),
    "400 parameter unsupported for the model": make_fault(errors.NO_SAMPLING),
    "401 key malformed": make_fault(errors.INVALID_KEY),
    "401 key revoked": make_fault(errors.INVALID_KEY),
    "401 key expired": make_fault(errors.INVALID_KEY),
    "401 bad request signing": make_fault(errors.BAD_SIGNATURE),
    "402 payment problem": "payment_problem",
    "403 key lacks permission": make_fault(errors.NOT_PERMITTED),
    "404 unknown path": make_fault(errors.UNKNOWN_PATH),
    "404 unknown resource id": make_fault(errors.NO_FILE),
    "404 unknown model": make_fault(errors.NO_MODEL),
    "409 concurrent modification": make_fault(errors.AGENT_CHANGED),
    "409 uniqueness": make_fault(errors.AGENT_EXISTS),
    "413 body over size limit": make_fault(errors.TOO_LARGE),
    "429 rate limit": "rate_limited",
    "enforced_spend_limit_reached": make_fault(errors.SPEND_CAP),
    "429 acceleration limit": "acceleration_limit",
    "429 coding-assistant workspace spend limit": make_fault(
        errors.CODING_ASSISTANT_LIMIT, headers={"retry-after": "60"}, waits=True
    ),
    "500 internal error": "internal_error",
    "504 request timed out": "upstream_timeout",
    "529 temporary overload": "overloaded",
    "overloaded stream error": make_fault(errors.OVERLOADED, at=STREAM),
}

_COMPLIANCE: FaultTable = {
    "compliance_api_not_enabled": _compliance(compliance.NOT_ENABLED),
    "unknown_query_parameter": _compliance(compliance.UNKNOWN_PARAMETER, name="colour"),
    "invalid_parameter_value": _compliance(compliance.BAD_PARAMETER, name="limit"),
    "invalid_pagination_cursor": _compliance(compliance.FOREIGN_CURSOR, name="page"),
    "api_key_invalid": _compliance(compliance.UNUSABLE_KEY),
    "api_key_deactivated": _compliance(compliance.UNUSABLE_KEY),
    "api_key_expired": _compliance(compliance.UNUSABLE_KEY),
    "settings endpoint not authenticated": _compliance(compliance.UNUSABLE_KEY),
    "insufficient_scope_activities": _compliance(compliance.INSUFFICIENT_SCOPE, scope="read:compliance_activities"),
    "insufficient_scope_org_data": _compliance(compliance.INSUFFICIENT_SCOPE, scope="read:compliance_org_data"),
    "insufficient_scope_user_data": _compliance(compliance.INSUFFICIENT_SCOPE, scope="read:compliance_user_data"),
    "insufficient_scope_delete": _compliance(compliance.INSUFFICIENT_SCOPE, scope="delete:compliance_user_data"),
    "retired_scope_org_settings": _compliance(compliance.RETIRED_SCOPE),
    "request_not_authenticated": _compliance(errors.UNKNOWN_PATH),
    "chat_not_found": _compliance(compliance.NO_CHAT),
    "file_not_found": _compliance(compliance.NO_FILE),
    "generated_file_or_artifact_not_found": _compliance(compliance.NO_PRODUCT),
    "project_not_found": _compliance(compliance.NO_PROJECT),
    "project_document_not_found": _compliance(compliance.NO_DOCUMENT),
    "local_session_not_found": _compliance(compliance.NO_LOCAL_SESSION),
    "local session malformed id": _compliance(compliance.MALFORMED_SESSION_ID),
    "local_sessions_not_available": _compliance(compliance.NO_LOCAL_SESSIONS),
    "remote_session_not_found": _compliance(compliance.NO_REMOTE_SESSION),
    "remote session malformed id": _compliance(compliance.MALFORMED_SESSION_ID, kind="remote"),
    "organization_role_or_group_not_found": _compliance(compliance.NO_ORGANIZATION_ROLE_OR_GROUP),
    "organization_settings_not_available": _compliance(compliance.NO_SETTINGS),
    "project_has_attached_chats": _compliance(compliance.ATTACHED_CHATS),
    "compliance_rate_limit_exceeded": _compliance(compliance.BUDGET_USED_UP, waits=True),
    "remote-session second budget": _compliance(compliance.BUDGET_USED_UP, budget="remote-session", waits=True),
    "502/503/504/529 transient": "upstream_trouble",
    "local_sessions_index_unavailable": _compliance(compliance.NO_INDEX),
    "local_sessions_captured_content_unavailable": _compliance(compliance.NO_CONTENT),
    "local_sessions_retention_overrides_unavailable": _compliance(compliance.NO_OVERRIDES),
}

ARMABLE_ERRORS: FaultTable = {
    **{f"2:7.3#{row}": fault for row, fault in {**_MESSAGES, **_SERVER_TOOLS}.items()},
    **{f"2:7.2#{row}": fault for row, fault in _COMPLIANCE.items()},
    "1:2.6#pa-workspace-id": make_fault(errors.NO_WORKSPACE),
    "1:6#refusal stop": "refusal",
}
