"""PB's file search stores and documents, whose names can be taken (2:7.4).

The documents show neither paths nor bodies (1:4). Official clients create, list and delete stores. Documents, and
the name of a store, are the mock's choice.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core.clock import rfc3339
from catalog_probe.mockserver.pb.bodies import AsciiJsonResponse, read_object
from catalog_probe.mockserver.pb.errors import ALREADY_EXISTS, NO_RESOURCE
from catalog_probe.mockserver.pb.fields import DOCUMENT, STORE
from catalog_probe.mockserver.pb.paging import make_page

if TYPE_CHECKING:
    from starlette.responses import Response

    from catalog_probe.mockserver.core.stores import BoundedStore
    from catalog_probe.mockserver.pb.call import Call

PREFIX = "fileSearchStores/"


@dataclass
class Store:
    """A store, with the names of its documents."""

    name: str
    display_name: str
    created_at: float
    documents: set[str] = field(default_factory=set)


async def create_store(call: Call) -> Response:
    """Create a store; a given name must be new in the project."""
    body = await read_object(call, STORE)
    name = body.get("name") or PREFIX + call.session.new_id("", 20).lower()
    key = name.removeprefix(PREFIX)
    if key in _stores(call):
        raise ALREADY_EXISTS(id=name)
    store = _stores(call)[key] = Store(name, body.get("displayName", ""), call.now)
    return AsciiJsonResponse(_describe(store))


async def list_stores(call: Call) -> Response:
    """List the stores of the project, page by page."""
    return AsciiJsonResponse(
        make_page(call, "fileSearchStores", [_describe(store) for store in _stores(call).values()])
    )


async def delete_store(call: Call) -> Response:
    """Delete a store with its documents."""
    _find(call)
    del _stores(call)[call.params["store"]]
    return AsciiJsonResponse({})


async def create_document(call: Call) -> Response:
    """Create a document; its name must be new in the store."""
    store, name = _find(call), (await read_object(call, DOCUMENT))["name"]
    if name in store.documents:
        raise ALREADY_EXISTS(id=name)
    store.documents.add(name)
    return AsciiJsonResponse({"name": name})


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
