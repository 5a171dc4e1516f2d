"""The errors of the compliance API, and the scenarios that cause some (2:7.2)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from starlette.responses import PlainTextResponse

from catalog_probe.mockserver.core.errors import ErrorRow
from catalog_probe.mockserver.core.scenarios import Scenario, choice
from catalog_probe.mockserver.pa.errors import (
    AUTHENTICATION,
    INVALID_REQUEST,
    NO_RETRY,
    NOT_FOUND,
    PERMISSION,
    RATE_LIMIT,
    RETRY,
)

if TYPE_CHECKING:
    from starlette.responses import Response

    from catalog_probe.mockserver.pa.call import Call


_INVALID = replace(INVALID_REQUEST, section="2:7.2")
_NOT_FOUND = replace(NOT_FOUND, section="2:7.2")
_FORBIDDEN = replace(PERMISSION, section="2:7.2")

# 400 compliance_api_not_enabled
NOT_ENABLED = _INVALID.with_message(
    "The Compliance API is not enabled for this organization or its parent organization."
)
# 400 unknown_query_parameter: "use dot notation for ranges, `[]` for arrays"
UNKNOWN_PARAMETER = _INVALID.with_message("Unknown query parameter {name!r}.{hint}")
# 400 invalid_parameter_value: "message starts with the parameter name then the failed constraint"
BAD_PARAMETER = _INVALID.with_message("{name}: {constraint}")
# 400 invalid_pagination_cursor
UNKNOWN_ACTIVITY = _INVALID.with_message("{name}: no such activity in this list")
MALFORMED_ACTIVITY_ID = _INVALID.with_message("{name}: not a valid activity id")
FOREIGN_CURSOR = _INVALID.with_message("{name}: the cursor is not valid for this request")
EXPIRED_CURSOR = _INVALID.with_message("{name}: the cursor has expired; start again without it")
# 404 local_session_not_found, remote_session_not_found: "malformed id gives 400"
MALFORMED_SESSION_ID = _INVALID.with_message("Invalid {kind} session id: it should begin with {prefix}.")

# 401 api_key_invalid, api_key_deactivated, api_key_expired; "the settings endpoint answers 401 instead"
UNUSABLE_KEY = replace(AUTHENTICATION, section="2:7.2", message="invalid {header}")

# 403 insufficient_scope_activities, …_org_data, …_user_data, …_delete
INSUFFICIENT_SCOPE = _FORBIDDEN.with_message("This key lacks the required scope {scope}.")
# 403 retired_scope_org_settings
RETIRED_SCOPE = _FORBIDDEN.with_message(
    "The scope read:compliance_org_settings is retired. Create a key with read:compliance_org_data."
)

NO_CHAT = _NOT_FOUND.with_message("Chat not found.")
NO_FILE = _NOT_FOUND.with_message("File not found.")
NO_PRODUCT = _NOT_FOUND.with_message("Generated file or artifact version not found.")
NO_PROJECT = _NOT_FOUND.with_message("Project not found.")
NO_DOCUMENT = _NOT_FOUND.with_message("Project document not found.")
NO_LOCAL_SESSION = _NOT_FOUND.with_message("Local session not found.")
NO_ORGANIZATION_ROLE_OR_GROUP = _NOT_FOUND.with_message("Organization, role or group not found.")
# 404 organization_settings_not_available: "same body on purpose"
NO_SETTINGS = _NOT_FOUND.with_message("Organization settings are not available.")

# 404 local_sessions_not_available, remote_session_not_found: retryable, or conditionally so
NOT_FOUND_YET = ErrorRow("2:7.2", 404, type="not_found_error", headers=RETRY)
NO_LOCAL_SESSIONS = NOT_FOUND_YET.with_message("Local sessions are not available to this organization.")
NO_REMOTE_SESSION = NOT_FOUND_YET.with_message("Remote session not found.")

# 409 project_has_attached_chats: "distinguished from other invalid_request_error by status 409"
ATTACHED_CHATS = ErrorRow(
    "2:7.2",
    409,
    "The project has attached chats. Delete or detach them first.",
    "invalid_request_error",
    headers=NO_RETRY,
)

# 429 compliance_rate_limit_exceeded
BUDGET_USED_UP = replace(
    RATE_LIMIT,
    section="2:7.2",
    message="The parent organization's limit of {per_minute} {budget} requests per minute is reached.",
)

# 503 local_sessions_index_unavailable, …_captured_content_unavailable, …_retention_overrides_unavailable
UNAVAILABLE = ErrorRow("2:7.2", 503, type="overloaded_error")
NO_INDEX = UNAVAILABLE.with_message("The index of local sessions is temporarily unavailable.")
NO_CONTENT = UNAVAILABLE.with_message("Captured content is temporarily unavailable.")
NO_OVERRIDES = UNAVAILABLE.with_message("Retention overrides for this page or session are temporarily unavailable.")


TROUBLE = {"bad_gateway": 502, "down": 503, "slow": 504, "overloaded": 529}
"""The status of each kind of transient trouble upstream."""

OF_LOCAL_SESSIONS = (
    Scenario("local_sessions_index_down", "The index of local sessions is down; local sessions.", row=NO_INDEX),
    Scenario("captured_content_down", "The store of captured content is down; local sessions.", row=NO_CONTENT),
    Scenario("retention_overrides_down", "Retention overrides cannot be evaluated; local sessions.", row=NO_OVERRIDES),
)

SCENARIOS = (
    Scenario(
        "upstream_trouble",
        "Something behind the compliance API fails for a moment; any compliance call.",
        (choice("kind", TROUBLE, "What fails.", default="down"),),
    ),
    *OF_LOCAL_SESSIONS,
)


def raise_local_sessions_failure(call: Call) -> None:
    """Raise the failure of a part that local sessions need, if any."""
    call.context.raise_failure(OF_LOCAL_SESSIONS)


def take_upstream_trouble(call: Call) -> Response | None:
    """Return the answer of a failure upstream; its row has no type, so no envelope."""
    scenario = call.context.take("upstream_trouble")
    if scenario is None:
        return None
    return PlainTextResponse("upstream trouble", TROUBLE[scenario.params["kind"]])
