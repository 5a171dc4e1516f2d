"""PC's conversations, each held by one response (1:4.3, 2:7.5 row 409)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse, Response

from catalog_probe.mockserver.pc.bodies import read_object
from catalog_probe.mockserver.pc.errors import CONFLICT, NO_CONVERSATION
from catalog_probe.mockserver.pc.fields import CONVERSATION

if TYPE_CHECKING:
    from catalog_probe.mockserver.pc.call import Call


@dataclass
class Conversation:
    """A conversation. The mock keeps no items, because nothing reads them."""

    id: str
    created_at: int
    metadata: dict[str, Any]
    busy_until: float = 0.0  # the moment until which a response in the background holds it


async def create_conversation(call: Call) -> Response:
    """Create a conversation."""
    body = await read_object(call, CONVERSATION)
    conversation = Conversation(call.session.new_id("conv_", 32), int(call.now), body.get("metadata", {}))
    call.session.store(Conversation)[conversation.id] = conversation
    return _respond(conversation)


async def retrieve_conversation(call: Call) -> Response:
    """Describe a conversation."""
    return _respond(_find(call, call.params["conversation_id"]))


async def delete_conversation(call: Call) -> Response:
    """Delete a conversation, unless a response holds it."""
    conversation = _find(call, call.params["conversation_id"])
    refuse_while_busy(call, conversation)
    del call.session.store(Conversation)[conversation.id]
    return JSONResponse({"id": conversation.id, "object": "conversation.deleted", "deleted": True})


def hold(call: Call, conversation_id: str, until: float) -> None:
    """Let a response hold the conversation until a moment, unless another one does."""
    conversation = _find(call, conversation_id)
    refuse_while_busy(call, conversation)
    conversation.busy_until = until


def refuse_while_busy(call: Call, conversation: Conversation) -> None:
    """Refuse with 409 while a response holds the conversation."""
    if call.now < conversation.busy_until:
        raise CONFLICT()


def _find(call: Call, conversation_id: str) -> Conversation:
    return call.session.store(Conversation).find(conversation_id, NO_CONVERSATION)


def _respond(conversation: Conversation) -> Response:
    return JSONResponse(
        {
            "id": conversation.id,
            "object": "conversation",
            "created_at": conversation.created_at,
            "metadata": conversation.metadata,
        }
    )
