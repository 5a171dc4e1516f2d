"""1:5.1 PA authentication: what each kind of key may do in the compliance API, endpoint by endpoint, and may not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.probes.recipes.minimal_requests import Refusals
from catalog_probe.probes.recipes.recipe import Family, Recipe

from .compliance_requests import ACTIVITIES, AUDIT, ORG_DATA, READ, UNKNOWN_CHAT, USER_DATA, delete_resource

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.probes.calls import Call

FAMILY = Family("pa/endpoints/compliance_access", credential=READ)
with_wrong_key = Refusals(missing=False).label_calls
"""No call without a key: these records are about kinds of keys."""

DELETE_REFUSED = {"delete_refused": delete_resource(UNKNOWN_CHAT)}


def refused_calls(calls: Mapping[str, Call], *labels: str) -> dict[str, Call]:
    """Select calls, labelled as refused."""
    return {f"{label}_refused": calls[label] for label in labels}


def key_recipe(slug: str, role: str, success: str, calls: Mapping[str, Call], refusals: Mapping[str, Call]) -> Recipe:
    """What a role's key may read and what it is refused. A read that needs values of the target is optional."""
    allowed = {label: call.replace(credential=role) for label, call in calls.items()}
    conditional_calls = {label: call for label, call in allowed.items() if call.placeholders}
    unconditional_calls = {
        label: call for label, call in allowed.items() if label not in conditional_calls and label != success
    }
    return FAMILY.recipe(
        slug,
        with_wrong_key(
            allowed[success],
            **unconditional_calls,
            **{label: call.replace(credential=role) for label, call in refusals.items()},
        ),
    ).with_optional(conditional_calls)


RECIPES: tuple[Recipe, ...] = (
    # "read:compliance_activities (activities)"
    key_recipe(
        "activities_key",
        "compliance_activities",
        "activities",
        ACTIVITIES,
        {**refused_calls(ORG_DATA, "organizations"), **refused_calls(USER_DATA, "chats"), **DELETE_REFUSED},
    ),
    # "read:compliance_org_data (organizations, roles, groups, settings)"
    key_recipe(
        "org_data_key",
        "compliance_org_data",
        "organizations",
        ORG_DATA,
        {**refused_calls(ACTIVITIES, "activities"), **refused_calls(USER_DATA, "chats"), **DELETE_REFUSED},
    ),
    # "read:compliance_user_data (chats, messages, files, projects, sessions, users, group members)"
    key_recipe(
        "user_data_key",
        "compliance_user_data",
        "chats",
        USER_DATA,
        {**refused_calls(ACTIVITIES, "activities"), **refused_calls(ORG_DATA, "organizations"), **DELETE_REFUSED},
    ),
    # "read:org_audit (accepted as an alternative for every read)"
    key_recipe("org_audit_key", AUDIT, "activities", {**ACTIVITIES, **ORG_DATA, **USER_DATA}, DELETE_REFUSED),
    # "Admin keys can never hold the user-data scope and cannot read organization metadata."
    key_recipe(
        "admin_key",
        "admin",
        "activities",
        ACTIVITIES,
        {**refused_calls(ORG_DATA, "organizations"), **refused_calls(USER_DATA, "chats")},
    ),
)
