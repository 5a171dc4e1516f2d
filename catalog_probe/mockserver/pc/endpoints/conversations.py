"""Conversations: what responses can be part of; one that is being answered takes no other (1:4.3, 2:7.5 row 409)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse, Response

from catalog_probe.mockserver.core.stores import BoundedStore
from catalog_probe.mockserver.pc.bodies import read_object
from catalog_probe.mockserver.pc.errors import CONFLICT, NO_CONVERSATION, NO_ITEM
from catalog_probe.mockserver.pc.fields import CONVERSATION, CONVERSATION_ITEMS, CONVERSATION_UPDATE
from catalog_probe.mockserver.pc.pages import list_page

if TYPE_CHECKING:
    from catalog_probe.mockserver.pc.gateway import Call

Item = dict[str, Any]


@dataclass
class Conversation:
    """One conversation: its items by id, and until when a response in the background holds it."""

    id: str
    created_at: int
    metadata: dict[str, Any]
    items: BoundedStore[str, Item] = field(default_factory=BoundedStore)
    busy_until: float = 0.0


async def create(call: Call) -> Response:
    """A conversation, empty or with the items that are given."""
    body = await read_object(call, CONVERSATION)
    conversation = Conversation(call.session.new_id("conv_", 32), int(call.now), body.get("metadata", {}))
    call.session.store(Conversation)[conversation.id] = conversation
    add(call, conversation, body.get("items", ()))
    return JSONResponse(_describe(conversation))


async def retrieve(call: Call) -> Response:
    """The conversation without its items."""
    return JSONResponse(_describe(_find(call)))


async def update(call: Call) -> Response:
    """Replace the metadata."""
    conversation = _find(call)
    conversation.metadata = (await read_object(call, CONVERSATION_UPDATE)).get("metadata", {})
    return JSONResponse(_describe(conversation))


async def delete(call: Call) -> Response:
    """Forget a conversation; 409 while a response has it."""
    conversation = hold(call, call.params["conversation_id"], 0.0)
    del call.session.store(Conversation)[conversation.id]
    return JSONResponse({"id": conversation.id, "object": "conversation.deleted", "deleted": True})


async def add_items(call: Call) -> Response:
    """Add items at the end."""
    conversation = _find(call)
    return list_page(add(call, conversation, (await read_object(call, CONVERSATION_ITEMS))["items"]))


async def list_items(call: Call) -> Response:
    """The items, the last first unless told otherwise."""
    items = _find(call).items
    return list_page([*items.values()] if call.request.query_params.get("order") == "asc" else items.newest_first())


async def retrieve_item(call: Call) -> Response:
    """One item."""
    return JSONResponse(_find(call).items.find(call.params["item_id"], NO_ITEM))


async def delete_item(call: Call) -> Response:
    """Take one item out."""
    conversation = _find(call)
    del conversation.items[conversation.items.find(call.params["item_id"], NO_ITEM)["id"]]
    return JSONResponse(_describe(conversation))


def hold(call: Call, conversation_id: str, until: float) -> Conversation:
    """Let a response have the conversation until then, or a delete; 409 while another response has it."""
    conversation = call.session.store(Conversation).find(conversation_id, NO_CONVERSATION)
    refuse_while_busy(call, conversation)
    conversation.busy_until = until
    return conversation


def refuse_while_busy(call: Call, conversation: Conversation) -> None:
    """A conversation can neither be answered twice at once nor be deleted meanwhile."""
    if call.now < conversation.busy_until:
        raise CONFLICT()


def add(call: Call, conversation: Conversation, items: Iterable[Item]) -> list[Item]:
    """Let items be part of the conversation, each under an id."""
    added = [describe_item(item, call.session.new_id("msg_", 32)) for item in items]
    for item in added:
        conversation.items[str(item["id"])] = item
    return added


def describe_item(item: Item, own_id: str) -> Item:
    """An item under an id, its text in a part."""
    described = {"id": own_id, "type": "message", "status": "completed", **item}
    if isinstance(described.get("content"), str):
        kind = "output_text" if described.get("role") == "assistant" else "input_text"
        described["content"] = [{"type": kind, "text": described["content"]}]
    return described


def _find(call: Call) -> Conversation:
    return call.session.store(Conversation).find(call.params["conversation_id"], NO_CONVERSATION)


def _describe(conversation: Conversation) -> Item:
    return {
        "id": conversation.id,
        "object": "conversation",
        "created_at": conversation.created_at,
        "metadata": conversation.metadata,
    }
