"""Managed agents: create, list, retrieve, update, archive. Their paths are not shown (1:4.1); assumed as usual.

Two of their rules let a client provoke the 409 of 2:7.3: a name is unique among the organization's agents (uniqueness),
and an update names the version that it changes (concurrent modification).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse

from catalog_probe.mockserver.core.clock import rfc3339
from catalog_probe.mockserver.pa.bodies import AGENTS, check_fields, read_object
from catalog_probe.mockserver.pa.errors import AGENT_CHANGED, AGENT_EXISTS, NO_AGENT
from catalog_probe.mockserver.pa.fields import CHANGED_AGENT, NEW_AGENT
from catalog_probe.mockserver.pa.models import find_model
from catalog_probe.mockserver.pa.paging import make_page

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.responses import Response

    from catalog_probe.mockserver.core.stores import BoundedStore
    from catalog_probe.mockserver.pa.call import Call

DEFAULTS: Mapping[str, Any] = {
    "description": None,
    "execution_identity": None,
    "mcp_servers": [],
    "metadata": {},
    "multiagent": None,
    "skills": [],
    "system": None,
    "tools": [],
}
"""What an agent has when its creator says nothing, or null; clients validate it."""


@dataclass
class Agent:
    """An agent as it is shown."""

    fields: dict[str, Any]


async def create(call: Call) -> Response:
    """Make an agent; 409 when one of that name exists."""
    body = await read_object(call, AGENTS)
    check_fields(body, NEW_AGENT)
    refuse_taken_name(call, body)
    agent_id, now = call.session.new_id("agent_"), rfc3339(call.now)
    agent = {"id": agent_id, "type": "agent", **DEFAULTS, **_settle(body)}
    agent |= {"version": 1, "created_at": now, "updated_at": now, "archived_at": None}
    _agents(call)[agent_id] = Agent(agent)
    return JSONResponse(agent)


async def update(call: Call) -> Response:
    """Change an agent; 409 when it has changed since the version that the client knows."""
    agent = _find(call)
    changes = await read_object(call, AGENTS)
    check_fields(changes, CHANGED_AGENT)
    if changes.pop("version", agent["version"]) != agent["version"]:
        raise AGENT_CHANGED(id=agent["id"], version=agent["version"])
    refuse_taken_name(call, changes, own_id=agent["id"])
    agent |= {**_settle(changes), "version": agent["version"] + 1, "updated_at": rfc3339(call.now)}
    return JSONResponse(agent)


async def archive(call: Call) -> Response:
    """Retire an agent for good; doing it again changes nothing."""
    agent = _find(call)
    agent["archived_at"] = agent["archived_at"] or rfc3339(call.now)
    return JSONResponse(agent)


async def list_agents(call: Call) -> Response:
    """One page of the agents, newest first."""
    return JSONResponse(make_page(call, [agent.fields for agent in _agents(call).newest_first()]))


async def retrieve(call: Call) -> Response:
    """One agent."""
    return JSONResponse(_find(call))


def refuse_taken_name(call: Call, body: Mapping[str, Any], own_id: str | None = None) -> None:
    """Raise that another agent, not archived, has the name that a body gives."""
    others = [agent.fields for agent in _agents(call).values() if agent.fields["id"] != own_id]
    if any(other["name"] == body.get("name") and other["archived_at"] is None for other in others):
        raise AGENT_EXISTS(name=body["name"])


def _agents(call: Call) -> BoundedStore[str, Agent]:
    return call.session.store(Agent, call.key.organization.id)


def _find(call: Call) -> dict[str, Any]:
    return _agents(call).find(call.params["agent_id"], NO_AGENT).fields


def _settle(body: Mapping[str, Any]) -> dict[str, Any]:
    """The fields as they are kept: null is the default, and a model that is named exists and has its settings."""
    fields = {name: DEFAULTS[name] if value is None else value for name, value in body.items()}
    if "model" in fields:
        model = fields["model"] if isinstance(fields["model"], dict) else {"id": fields["model"]}
        find_model(model["id"])
        fields["model"] = {"speed": "standard", **model}
    return fields
