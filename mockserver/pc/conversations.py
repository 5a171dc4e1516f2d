"""Conversations: what responses can be part of; one that is being answered takes no other (1:4.3, 2:7.5 row 409)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse

from mockserver.pc.call import read_object
from mockserver.pc.errors import CONFLICT, NO_CONVERSATION
from mockserver.pc.fields import OBJECT, array, check
from mockserver.shelves import Shelf

if TYPE_CHECKING:
    from starlette.responses import Response

    from mockserver.pc.call import Call


@dataclass
class Conversations:
    """The conversations of a session: id -> until when a response in the background holds it."""

    busy_until: Shelf[str, float] = field(default_factory=Shelf)


async def create(call: Call) -> Response:
    """POST /v1/conversations; the path is not in the documents."""
    body = await read_object(call)
    check(body, {"items": array(20), "metadata": OBJECT})
    made = call.session.new_id("conv_", 32)
    call.session.state(Conversations).busy_until[made] = 0.0
    return JSONResponse(_described(made, call.now))


async def retrieve(call: Call) -> Response:
    """GET /v1/conversations/{conversation_id}; the path is not in the documents."""
    found = call.params["conversation_id"]
    _known(call, found)
    return JSONResponse(_described(found, call.now))


async def delete(call: Call) -> Response:
    """DELETE /v1/conversations/{conversation_id}; the path is not in the documents."""
    found = call.params["conversation_id"]
    refuse_while_busy(call, found)
    del call.session.state(Conversations).busy_until[found]
    return JSONResponse({"id": found, "object": "conversation.deleted", "deleted": True})


def hold(call: Call, conversation: str, until: float) -> None:
    """Let a response have the conversation until then; 409 if another has it."""
    refuse_while_busy(call, conversation)
    call.session.state(Conversations).busy_until[conversation] = until


def refuse_while_busy(call: Call, conversation: str) -> None:
    """409 while a response has the conversation: it can neither be answered twice at once nor be deleted."""
    if call.now < _known(call, conversation):
        raise CONFLICT("Another response of this conversation is still in progress.", "conversation")


def _known(call: Call, conversation: str) -> float:
    busy_until = call.session.state(Conversations).busy_until
    if conversation not in busy_until:
        raise NO_CONVERSATION(f"Conversation with id '{conversation}' not found.")
    return busy_until[conversation]


def _described(conversation: str, now: float) -> dict[str, Any]:
    return {"id": conversation, "object": "conversation", "created_at": int(now), "metadata": {}}
