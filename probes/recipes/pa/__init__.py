"""How PA is provoked."""

from __future__ import annotations

from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.probes.recipes.fault_free import MADE_FIRST

from . import (
    admin,
    compliance_access,
    compliance_activities,
    compliance_deletes,
    compliance_errors,
    compliance_reads,
    compliance_steps,
    compliance_walks,
    endpoints,
    general,
    invalid_request,
    limits,
    messages,
    outcomes,
    rate_limits,
    tiers,
)
from .shapes import SHAPES

__all__ = ["FAMILIES", "REMOVALS", "SHAPES", "UNPROBED"]

FAMILIES = (
    messages,
    endpoints,
    general,
    invalid_request,
    outcomes,
    compliance_reads,
    compliance_deletes,
    compliance_errors,
    compliance_steps,
    compliance_activities,
    compliance_walks,
    compliance_access,
    admin,
    rate_limits,
    tiers,
    limits,
)

REMOVALS = (endpoints.BATCH_REMOVAL, endpoints.FILE_REMOVAL, general.AGENT_REMOVAL)

UNPROBED: dict[str, tuple[str, str]] = {
    "pa/errors/general/unprocessable": (
        ReasonCode.NOT_ON_THE_WIRE,
        "422 is a class of the SDKs; the documents list no such HTTP error, a client treats it as 400",
    ),
}

NO_TWIN: dict[str, str] = {
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
    **dict.fromkeys(
        (
            "pa/endpoints/agents/get_agent",
            "pa/endpoints/batches/cancel_batch",
            "pa/endpoints/batches/get_batch",
            "pa/endpoints/batches/get_batch_results",
            "pa/endpoints/compliance_chats/delete_chat",
            "pa/endpoints/compliance_files/delete_file",
            "pa/endpoints/compliance_projects/delete_project",
            "pa/endpoints/compliance_projects/delete_project_document",
            "pa/endpoints/files/delete_file",
            "pa/endpoints/files/download_file",
            "pa/endpoints/files/get_file",
        ),
        MADE_FIRST,
    ),
}
