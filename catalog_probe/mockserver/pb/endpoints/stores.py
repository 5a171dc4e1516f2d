"""File search stores and their documents: enough of them that a name can be taken (2:7.4, 409 ALREADY_EXISTS).

The documents show neither paths nor bodies (1:4). Official clients create, list and delete stores. Documents, and
the name of a store, are the mock's choice.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core.clock import rfc3339
from catalog_probe.mockserver.pb.bodies import JsonAnswer, read_object
from catalog_probe.mockserver.pb.errors import ALREADY_EXISTS, NO_RESOURCE
from catalog_probe.mockserver.pb.fields import DOCUMENT, STORE
from catalog_probe.mockserver.pb.paging import cut_page

if TYPE_CHECKING:
    from starlette.responses import Response

    from catalog_probe.mockserver.core.stores import BoundedStore
    from catalog_probe.mockserver.pb.call import Call

PREFIX = "fileSearchStores/"


@dataclass
class Store:
    """One store: what it is called, and the names of its documents."""

    name: str
    display_name: str
    created_at: float
    documents: set[str] = field(default_factory=set)


async def create(call: Call) -> Response:
    """Make a store; a name that is given must be new in its project."""
    body = await read_object(call, STORE)
    name = body.get("name") or PREFIX + call.session.new_id("", 20).lower()
    key = name.removeprefix(PREFIX)
    if key in _stores(call):
        raise ALREADY_EXISTS(id=name)
    store = _stores(call)[key] = Store(name, body.get("displayName", ""), call.now)
    return JsonAnswer(_describe(store))


async def list_stores(call: Call) -> Response:
    """The stores of the project."""
    return JsonAnswer(cut_page(call, "fileSearchStores", [_describe(store) for store in _stores(call).values()]))


async def delete(call: Call) -> Response:
    """Delete a store with its documents."""
    _find(call)
    del _stores(call)[call.params["store"]]
    return JsonAnswer({})


async def create_document(call: Call) -> Response:
    """Make a document; its name must be new in its store."""
    store, name = _find(call), (await read_object(call, DOCUMENT))["name"]
    if name in store.documents:
        raise ALREADY_EXISTS(id=name)
    store.documents.add(name)
    return JsonAnswer({"name": name})


def _stores(call: Call) -> BoundedStore[str, Store]:
    return call.session.store(Store, call.project.id)


def _find(call: Call) -> Store:
    return _stores(call).find(call.params["store"], NO_RESOURCE)


def _describe(store: Store) -> dict[str, Any]:
    return {
        "name": store.name,
        "displayName": store.display_name,
        "createTime": rfc3339(store.created_at),
        "activeDocumentsCount": str(len(store.documents)),
    }
