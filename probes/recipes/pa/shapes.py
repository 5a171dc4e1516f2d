"""The smallest request of each endpoint of PA; where one thing is asked for or deleted, of an id that cannot exist."""

from __future__ import annotations

from catalog_probe.probes.calls.call import delete, get, post
from catalog_probe.probes.recipes.shapes import shapes_of

from . import admin, compliance_reads, compliance_walks, endpoints, messages
from .compliance_requests import (
    UNKNOWN_CHAT,
    UNKNOWN_DOCUMENT,
    UNKNOWN_FILE,
    UNKNOWN_PROJECT,
    deletion,
)
from .endpoints import UNKNOWN_AGENT, UNKNOWN_BATCH
from .endpoints import UNKNOWN_FILE as UNKNOWN_UPLOAD
from .requests import as_agents

SHAPES = {
    **shapes_of(endpoints.RECIPES, messages.RECIPES, admin.RECIPES, compliance_reads.RECIPES, compliance_walks.RECIPES),
    "pa/endpoints/batches/get_batch": get(UNKNOWN_BATCH),
    "pa/endpoints/batches/cancel_batch": post(f"{UNKNOWN_BATCH}/cancel"),
    "pa/endpoints/batches/get_batch_results": get(f"{UNKNOWN_BATCH}/results"),
    "pa/endpoints/files/get_file": get(UNKNOWN_UPLOAD),
    "pa/endpoints/files/download_file": get(f"{UNKNOWN_UPLOAD}/content"),
    "pa/endpoints/files/delete_file": delete(UNKNOWN_UPLOAD),
    "pa/endpoints/agents/get_agent": as_agents(get(UNKNOWN_AGENT)),
    "pa/endpoints/compliance_chats/delete_chat": deletion(UNKNOWN_CHAT),
    "pa/endpoints/compliance_files/delete_file": deletion(UNKNOWN_FILE),
    "pa/endpoints/compliance_projects/delete_project": deletion(UNKNOWN_PROJECT),
    "pa/endpoints/compliance_projects/delete_project_document": deletion(UNKNOWN_DOCUMENT),
}
