"""1:3 PA states: what deletes do to chats, files and projects, and the activities that tell of them (2:7.2).

They delete fixtures that the API cannot make: a success is asked of the mock alone. Refusals name what cannot exist.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.catalog.model.labels import ANSWER, SETUP, SUCCESS
from catalog_probe.probes.recipes.credential_rules import BOTH_REFUSALS
from catalog_probe.probes.recipes.recipe import Family, Recipe
from catalog_probe.probes.targets.target import Cost

from .compliance_requests import (
    APPS,
    CHAT,
    READ,
    UNKNOWN_CHAT,
    UNKNOWN_DOCUMENT,
    UNKNOWN_FILE,
    UNKNOWN_PROJECT,
    delete_resource,
    list_activities,
)

if TYPE_CHECKING:
    from catalog_probe.probes.calls.call import Call

OUTCOMES = Family("pa/errors/compliance_outcomes", credential=READ)

FILE = f"{APPS}/files/{{chat_file}}"
IDLE_PROJECT = f"{APPS}/projects/{{project_without_chats}}"
DOCUMENT = f"{APPS}/projects/documents/{{project_document}}"

DELETES_FIXTURE = (
    ReasonCode.NO_DOCUMENTED_SETUP,
    "it deletes a fixture for good, and the documents show no way to make one through the API",
)


def deletion_recipe(family: str, slug: str, path: str, unknown: str) -> Recipe:
    """Refusals without a key and with a wrong one, for an unknown id; on the mock also a real deletion."""
    endpoints = Family(f"pa/endpoints/{family}", credential=READ)
    return endpoints.recipe(
        slug,
        BOTH_REFUSALS.refused_calls(delete_resource(unknown)),
        optional=endpoints.optional_calls(
            slug, {SUCCESS: delete_resource(path)}, cost=Cost.DESTRUCTIVE, not_live=DELETES_FIXTURE
        ),
        not_sent=DELETES_FIXTURE,
    )


def activity_recipe(kind: str, call: Call) -> Recipe:
    """Delete something, then list the activity that reports it."""
    calls = {SETUP: call, ANSWER: list_activities(("activity_types[]", f"pa_{kind}"))}
    return OUTCOMES.recipe(f"{kind}_activity", calls, cost=Cost.DESTRUCTIVE, not_live=DELETES_FIXTURE)


RECIPES: tuple[Recipe, ...] = (
    # "Chat: active, user-deleted (`deleted_at` set, still listed), hard-deleted (404)."
    # "PA project with no attached chats | project delete | key holds delete scope | deleted"
    deletion_recipe("compliance_chats", "delete_chat", CHAT, UNKNOWN_CHAT),
    deletion_recipe("compliance_files", "delete_file", FILE, UNKNOWN_FILE),
    deletion_recipe("compliance_projects", "delete_project", IDLE_PROJECT, UNKNOWN_PROJECT),
    deletion_recipe("compliance_projects", "delete_project_document", DOCUMENT, UNKNOWN_DOCUMENT),
    # 2:7.2 "reconcile with chat activities", "… file …", "… project activities"
    activity_recipe("chat_deleted", delete_resource(CHAT)),
    activity_recipe("file_deleted", delete_resource(FILE)),
    activity_recipe("project_deleted", delete_resource(IDLE_PROJECT)),
)
