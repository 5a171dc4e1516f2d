"""Conversations: what responses can be part of; one that is being answered takes no other (1:4.3, 2:7.5 row 409).

The documents show none of these paths.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse

from catalog_probe.mockserver.core.shelves import Shelf
from catalog_probe.mockserver.pc.call import read_object
from catalog_probe.mockserver.pc.endpoints.files import page
from catalog_probe.mockserver.pc.errors import CONFLICT, NO_CONVERSATION
from catalog_probe.mockserver.pc.fields import OBJECT, array, check

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.responses import Response

    from catalog_probe.mockserver.pc.call import Call

MOST_ITEMS = 20
"""So many items may be added at once."""

MOST_KEPT = 1_000
"""Beyond these the first of a conversation are forgotten; the documents name no number."""

Item = dict[str, Any]


@dataclass
class Conversation:
    """One conversation: its items by id, and until when a response in the background holds it."""

    id: str
    created_at: int
    metadata: dict[str, Any]
    items: dict[str, Item] = field(default_factory=dict)
    busy_until: float = 0.0


@dataclass
class Conversations:
    """The conversations of a session."""

    known: Shelf[str, Conversation] = field(default_factory=Shelf)


async def create(call: Call) -> Response:
    """POST /v1/conversations."""
    body = await read_object(call)
    check(body, {"items": array(MOST_ITEMS), "metadata": OBJECT})
    made = Conversation(call.session.new_id("conv_", 32), int(call.now), body.get("metadata") or {})
    _add(call, made, body.get("items") or ())
    return JSONResponse(_described(made))


async def retrieve(call: Call) -> Response:
    """GET /v1/conversations/{conversation_id}."""
    return JSONResponse(_described(_asked(call)))


async def update(call: Call) -> Response:
    """POST /v1/conversations/{conversation_id}."""
    found, body = _asked(call), await read_object(call)
    check(body, {"metadata": OBJECT})
    found.metadata = body.get("metadata") or {}
    return JSONResponse(_described(found))


async def delete(call: Call) -> Response:
    """DELETE /v1/conversations/{conversation_id}."""
    found = call.params["conversation_id"]
    refuse_while_busy(call, found)
    del call.session.state(Conversations).known[found]
    return JSONResponse({"id": found, "object": "conversation.deleted", "deleted": True})


async def add_items(call: Call) -> Response:
    """POST /v1/conversations/{conversation_id}/items."""
    found, body = _asked(call), await read_object(call)
    check(body, {"items": array(MOST_ITEMS)}, required=("items",))
    return JSONResponse(page(_add(call, found, body["items"])))


async def list_items(call: Call) -> Response:
    """GET /v1/conversations/{conversation_id}/items, the last first unless told otherwise."""
    items = [*_asked(call).items.values()]
    return JSONResponse(page(items if call.request.query_params.get("order") == "asc" else items[::-1]))


async def retrieve_item(call: Call) -> Response:
    """GET /v1/conversations/{conversation_id}/items/{item_id}."""
    return JSONResponse(_item(call, _asked(call)))


async def delete_item(call: Call) -> Response:
    """DELETE /v1/conversations/{conversation_id}/items/{item_id}."""
    found = _asked(call)
    del found.items[_item(call, found)["id"]]
    return JSONResponse(_described(found))


def hold(call: Call, conversation: str, until: float) -> None:
    """Let a response have the conversation until then; 409 if another has it."""
    refuse_while_busy(call, conversation)
    _known(call, conversation).busy_until = until


def take_in(call: Call, conversation: str, items: Sequence[Item]) -> None:
    """Let what was said to a response, and by it, be part of the conversation."""
    _add(call, _known(call, conversation), items)


def refuse_while_busy(call: Call, conversation: str) -> None:
    """409 while a response has the conversation: it can neither be answered twice at once nor be deleted."""
    if call.now < _known(call, conversation).busy_until:
        raise CONFLICT("Another response of this conversation is still in progress.", "conversation")


def item_of(given: Item, own_id: str) -> Item:
    """An item of an input as it is told: under an id, its text in a part."""
    item = {"id": own_id, "type": "message", "status": "completed", **given}
    if isinstance(item.get("content"), str):
        kind = "output_text" if item.get("role") == "assistant" else "input_text"
        item["content"] = [{"type": kind, "text": item["content"]}]
    return item


def _add(call: Call, conversation: Conversation, items: Sequence[Item]) -> list[Item]:
    added = [item_of(each, call.session.new_id("msg_", 32)) for each in items if isinstance(each, dict)]
    conversation.items.update((str(item["id"]), item) for item in added)
    while len(conversation.items) > MOST_KEPT:
        del conversation.items[next(iter(conversation.items))]
    call.session.state(Conversations).known[conversation.id] = conversation  # which weighs more now
    return added


def _asked(call: Call) -> Conversation:
    return _known(call, call.params["conversation_id"])


def _item(call: Call, conversation: Conversation) -> Item:
    item = conversation.items.get(call.params["item_id"])
    if item is None:
        raise NO_CONVERSATION(f"Item with id '{call.params['item_id']}' not found in this conversation.")
    return item


def _known(call: Call, conversation: str) -> Conversation:
    found = call.session.state(Conversations).known.get(conversation)
    if found is None:
        raise NO_CONVERSATION(f"Conversation with id '{conversation}' not found.")
    return found


def _described(conversation: Conversation) -> Item:
    return {
        "id": conversation.id,
        "object": "conversation",
        "created_at": conversation.created_at,
        "metadata": conversation.metadata,
    }
