"""How PA is provoked: a module a section of the documents, `s2_7_3_errors` for document 2, section 7.3."""

from __future__ import annotations

from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.probes.calls import delete, get, post
from catalog_probe.probes.recipes.book import NEEDS_SETUP
from catalog_probe.probes.recipes.minimal_requests import list_minimal_requests

from . import (
    s1_2_5_lists,
    s1_3_states,
    s1_4_1_compliance,
    s1_4_1_endpoints,
    s1_4_1_messages,
    s1_5_1_access,
    s2_7_2_errors,
    s2_7_2_keys,
    s2_7_2_steps,
    s2_7_3_errors,
    s2_7_3_invalid_request,
    s2_7_3_server_tools,
    s2_8_2_counting,
    s2_8_2_rate_limits,
    s2_8_2_tiers,
)
from .compliance_requests import UNKNOWN_CHAT, UNKNOWN_DOCUMENT, UNKNOWN_PROJECT, delete_resource
from .compliance_requests import UNKNOWN_FILE as UNKNOWN_COMPLIANCE_FILE
from .requests import (
    AGENT_REMOVAL,
    BATCH_REMOVAL,
    FILE_REMOVAL,
    UNKNOWN_AGENT,
    UNKNOWN_BATCH,
    UNKNOWN_FILE,
    with_agents_beta,
)

__all__ = ["FAMILIES", "MINIMAL_REQUESTS", "NO_FAULT_FREE_REQUEST", "REMOVALS", "UNPROBED"]

FAMILIES = (
    s1_2_5_lists,
    s1_3_states,
    s1_4_1_compliance,
    s1_4_1_endpoints,
    s1_4_1_messages,
    s1_5_1_access,
    s2_7_2_errors,
    s2_7_2_keys,
    s2_7_2_steps,
    s2_7_3_errors,
    s2_7_3_invalid_request,
    s2_7_3_server_tools,
    s2_8_2_counting,
    s2_8_2_rate_limits,
    s2_8_2_tiers,
)

REMOVALS = (BATCH_REMOVAL, FILE_REMOVAL, AGENT_REMOVAL)

ITEM_REQUESTS = {
    "pa/endpoints/batches/get_batch": get(UNKNOWN_BATCH),
    "pa/endpoints/batches/cancel_batch": post(f"{UNKNOWN_BATCH}/cancel"),
    "pa/endpoints/batches/get_batch_results": get(f"{UNKNOWN_BATCH}/results"),
    "pa/endpoints/files/get_file": get(UNKNOWN_FILE),
    "pa/endpoints/files/download_file": get(f"{UNKNOWN_FILE}/content"),
    "pa/endpoints/files/delete_file": delete(UNKNOWN_FILE),
    "pa/endpoints/agents/get_agent": with_agents_beta(get(UNKNOWN_AGENT)),
    "pa/endpoints/compliance_chats/delete_chat": delete_resource(UNKNOWN_CHAT),
    "pa/endpoints/compliance_files/delete_file": delete_resource(UNKNOWN_COMPLIANCE_FILE),
    "pa/endpoints/compliance_projects/delete_project": delete_resource(UNKNOWN_PROJECT),
    "pa/endpoints/compliance_projects/delete_project_document": delete_resource(UNKNOWN_DOCUMENT),
}
"""Requests to endpoints about one thing, with an id that cannot exist."""

MINIMAL_REQUESTS = {
    **list_minimal_requests(
        s1_4_1_endpoints.RECIPES, s1_4_1_messages.RECIPES, s1_4_1_compliance.RECIPES, s1_2_5_lists.RECIPES
    ),
    **ITEM_REQUESTS,
}
"""The smallest request of each endpoint."""

UNPROBED: dict[str, tuple[str, str]] = {
    # 2:7.3 "422 | (SDK class only) | not in the HTTP error list"
    "pa/errors/general/unprocessable": (
        ReasonCode.NOT_ON_THE_WIRE,
        "422 is a class of the SDKs; the documents list no such HTTP error, a client treats it as 400",
    )
}

NO_FAULT_FREE_REQUEST: dict[str, str] = {
    "pa/endpoints/complete/create_completion": "it never succeeds: the path is removed (2:9)",
    **dict.fromkeys(
        (
            "pa/endpoints/limits/agent_requests",
            "pa/endpoints/limits/batch_requests",
            "pa/endpoints/limits/compliance",
            "pa/endpoints/limits/file_requests",
            "pa/endpoints/limits/scope",
        ),
        "its requests have no fault: it is limits that were used up that refuse them",
    ),
    **dict.fromkeys(ITEM_REQUESTS, NEEDS_SETUP),
}
