"""Managed agents: create, list, retrieve, update, archive. Their paths are not shown (1:4.1); assumed as usual.

Two of their rules let a client provoke the 409 of 2:7.3: a name is unique among the organization's agents (uniqueness),
and an update names the version that it changes (concurrent modification).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse

from catalog_probe.mockserver.core.clock import rfc3339
from catalog_probe.mockserver.core.shelves import Shelf
from catalog_probe.mockserver.pa import fields
from catalog_probe.mockserver.pa.call import MB, Call, read_object
from catalog_probe.mockserver.pa.errors import CONFLICT, PaError, invalid, not_found
from catalog_probe.mockserver.pa.generation.message_request import find_model
from catalog_probe.mockserver.pa.limits import rates
from catalog_probe.mockserver.pa.paging import page

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.responses import Response

    from catalog_probe.mockserver.pa.auth.keys import Organization

MAX_BODY = 32 * MB
"""Not documented for agents; that of messages."""

_OPTIONAL: Mapping[str, Any] = {
    "description": None,
    "execution_identity": None,
    "mcp_servers": [],
    "metadata": {},
    "multiagent": None,
    "skills": [],
    "system": None,
    "tools": [],
}
"""What an agent has when its creator says nothing."""

_CREATE_FIELDS: Mapping[str, fields.Check] = {
    "name": fields.string,
    "model": fields.either(fields.string, fields.dictionary),
    "description": fields.either(fields.null, fields.string),
    "execution_identity": fields.either(fields.null, fields.dictionary),
    "mcp_servers": fields.array,
    "metadata": fields.dictionary,
    "multiagent": fields.either(fields.null, fields.dictionary),
    "skills": fields.array,
    "system": fields.either(fields.null, fields.string),
    "tools": fields.array,
}
_UPDATE_FIELDS: Mapping[str, fields.Check] = {**_CREATE_FIELDS, "version": fields.integer(minimum=1)}


@dataclass
class Agents:
    """The agents of one session, by organization, as they are shown."""

    by_organization: dict[str, Shelf[str, dict[str, Any]]] = field(default_factory=dict)

    def of(self, organization: Organization) -> Shelf[str, dict[str, Any]]:
        """The agents of an organization, by id."""
        return self.by_organization.setdefault(organization.id, Shelf())


async def create(call: Call) -> Response:
    """Make an agent; 409 when one of that name exists."""
    rates.admit_request(call, "agents_create")
    body = await read_object(call, MAX_BODY)
    fields.check_fields(body, _CREATE_FIELDS, ("name", "model"))
    changes = _checked(call, body)
    agent_id, now = call.session.new_id("agent_"), rfc3339(call.now)
    agent = {"id": agent_id, "type": "agent", **_OPTIONAL, **changes}
    agent |= {"version": 1, "created_at": now, "updated_at": now, "archived_at": None}
    _mine(call)[agent_id] = agent
    return JSONResponse(agent)


async def update(call: Call) -> Response:
    """Change an agent; 409 when it has changed since the version that the client knows."""
    rates.admit_request(call, "agents_create")
    agent = _find(call)
    body = await read_object(call, MAX_BODY)
    fields.check_fields(body, _UPDATE_FIELDS, ("version",))
    if body.pop("version") != agent["version"]:
        raise PaError(CONFLICT, f"Agent {agent['id']} was modified concurrently: its version is {agent['version']}.")
    changes = _checked(call, body, but=agent["id"])
    agent |= {**changes, "version": agent["version"] + 1, "updated_at": rfc3339(call.now)}
    return JSONResponse(agent)


async def archive(call: Call) -> Response:
    """Retire an agent for good; doing it again changes nothing."""
    rates.admit_request(call, "agents_create")
    agent = _find(call)
    agent["archived_at"] = agent["archived_at"] or rfc3339(call.now)
    return JSONResponse(agent)


async def list_agents(call: Call) -> Response:
    """One page of the agents, newest first."""
    rates.admit_request(call, "agents_read")
    return JSONResponse(page(call, list(_mine(call).newest_first())))


async def retrieve(call: Call) -> Response:
    """One agent."""
    rates.admit_request(call, "agents_read")
    return JSONResponse(_find(call))


def _mine(call: Call) -> Shelf[str, dict[str, Any]]:
    return call.session.state(Agents).of(call.key.organization)


def _find(call: Call) -> dict[str, Any]:
    agent = _mine(call).get(call.params["agent_id"])
    if agent is None:
        raise not_found(f"Agent not found: {call.params['agent_id']}")
    return agent


def _checked(call: Call, body: dict[str, Any], but: str | None = None) -> dict[str, Any]:
    """The fields of `body` as they are kept: the name is free, the model exists."""
    if "name" in body:
        if not body["name"]:
            raise invalid("name: String should have at least 1 character")
        if any(
            agent["name"] == body["name"] and agent["id"] != but and agent["archived_at"] is None
            for agent in _mine(call).values()
        ):
            raise PaError(CONFLICT, f"An agent named {body['name']!r} already exists.")
    if "model" not in body:
        return body
    model = body["model"] if isinstance(body["model"], dict) else {"id": body["model"]}
    if not isinstance(model.get("id"), str):
        raise invalid("model.id: Input should be a valid string")
    find_model(model["id"])
    return {**body, "model": {"speed": "standard", **model}}
