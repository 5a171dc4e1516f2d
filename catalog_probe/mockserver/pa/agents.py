"""Managed agents: create, list, retrieve, update, archive (1:4.1).

Their paths are not shown; assumed as usual.

Two rules let a client provoke the 409 of 2:7.3: a name is unique in the organization (uniqueness), and an update names
the version that it changes (concurrent modification).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse

from catalog_probe.mockserver.core.clock import rfc3339
from catalog_probe.mockserver.pa.call import AGENT_BODY, Resources, check_fields, read_object
from catalog_probe.mockserver.pa.errors import AGENT_CHANGED, AGENT_EXISTS, NO_AGENT
from catalog_probe.mockserver.pa.fields import CHANGED_AGENT, NEW_AGENT
from catalog_probe.mockserver.pa.models import find_model

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.responses import Response

    from catalog_probe.mockserver.pa.call import Call


# the fields of an agent whose creator leaves them out or null; clients validate them
AGENT_DEFAULTS: Mapping[str, Any] = {
    "description": None,
    "execution_identity": None,
    "mcp_servers": [],
    "metadata": {},
    "multiagent": None,
    "skills": [],
    "system": None,
    "tools": [],
}


@dataclass
class Agent:
    """An agent as it is shown."""

    fields: dict[str, Any]


AGENTS = Resources(Agent, "{agent_id}", NO_AGENT, lambda call, agent: agent.fields, "agent")


async def create_agent(call: Call) -> Response:
    """Create an agent; 409 if one with that name exists."""
    body = await read_object(call, AGENT_BODY)
    check_fields(body, NEW_AGENT)
    refuse_taken_name(call, body)
    agent_id, now = call.session.new_id("agent_"), rfc3339(call.now)
    agent = {"id": agent_id, "type": "agent", **AGENT_DEFAULTS, **_complete_fields(body)}
    agent |= {"version": 1, "created_at": now, "updated_at": now, "archived_at": None}
    AGENTS.of(call)[agent_id] = Agent(agent)
    return JSONResponse(agent)


async def update(call: Call) -> Response:
    """Change an agent; 409 if it has changed since the version that the client names."""
    agent = AGENTS.find(call).fields
    changes = await read_object(call, AGENT_BODY)
    check_fields(changes, CHANGED_AGENT)
    if changes.pop("version", agent["version"]) != agent["version"]:
        raise AGENT_CHANGED(id=agent["id"], version=agent["version"])
    refuse_taken_name(call, changes, own_id=agent["id"])
    agent |= {**_complete_fields(changes), "version": agent["version"] + 1, "updated_at": rfc3339(call.now)}
    return JSONResponse(agent)


async def archive(call: Call) -> Response:
    """Archive an agent for good; a second time changes nothing."""
    agent = AGENTS.find(call).fields
    agent["archived_at"] = agent["archived_at"] or rfc3339(call.now)
    return JSONResponse(agent)


def refuse_taken_name(call: Call, body: Mapping[str, Any], own_id: str | None = None) -> None:
    """Refuse the name of another agent that is not archived."""
    agents = [agent.fields for agent in AGENTS.of(call).values() if agent.fields["id"] != own_id]
    if any(agent["name"] == body.get("name") and agent["archived_at"] is None for agent in agents):
        raise AGENT_EXISTS(name=body["name"])


def _complete_fields(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that are kept: null is the default, and the model has its settings."""
    kept = [name for name in ("name", "model", *AGENT_DEFAULTS) if name in body]
    fields = {name: AGENT_DEFAULTS[name] if body[name] is None else body[name] for name in kept}
    if "model" in fields:
        model = fields["model"] if isinstance(fields["model"], dict) else {"id": fields["model"]}
        find_model(model["id"])
        fields["model"] = {"speed": "standard", **model}
    return fields
