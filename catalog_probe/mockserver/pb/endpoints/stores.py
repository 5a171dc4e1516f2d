"""File search stores and their documents: enough of them that a name can be taken (2:7.4, 409 ALREADY_EXISTS).

The documents show neither paths nor bodies (1:4); these are ours, in the manner of the other paths.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core.clock import rfc3339
from catalog_probe.mockserver.core.stores import BoundedStore
from catalog_probe.mockserver.pb import fields
from catalog_probe.mockserver.pb.call import JsonAnswer, read_object
from catalog_probe.mockserver.pb.errors import ALREADY_EXISTS, NOT_FOUND, PbError
from catalog_probe.mockserver.pb.paging import page

if TYPE_CHECKING:
    from starlette.responses import Response

    from catalog_probe.mockserver.pb.call import Call

BODY: fields.Fields = {"name": fields.string, "displayName": fields.string}


PREFIX = "fileSearchStores/"


@dataclass
class Store:
    """One store: what it is called, and the names of its documents."""

    name: str
    display_name: str
    created_at: float
    documents: dict[str, None] = field(default_factory=dict)


@dataclass
class _Stores:
    kept: BoundedStore[tuple[str, str], Store] = field(default_factory=BoundedStore)
    """By project, and by name as it stands in a path."""


async def create(call: Call) -> Response:
    """Make a store; a name that is given must be new in its project."""
    given = fields.read(await read_object(call), BODY)
    name = given.get("name") or PREFIX + call.session.new_id("", 20).lower()
    stores, key = call.session.state(_Stores).kept, (call.project.id, name.removeprefix(PREFIX))
    if key in stores:
        raise PbError(ALREADY_EXISTS, f"the store {name!r} already exists.")
    stores[key] = store = Store(name, given.get("displayName", ""), call.now)
    return JsonAnswer(_described(store))


async def list_stores(call: Call) -> Response:
    """The stores of the project."""
    kept = call.session.state(_Stores).kept.items()
    found = [_described(store) for (project, _), store in kept if project == call.project.id]
    return JsonAnswer(page(call, "fileSearchStores", found))


async def retrieve(call: Call) -> Response:
    """One store."""
    return JsonAnswer(_described(_store(call)))


async def delete(call: Call) -> Response:
    """Delete a store with its documents."""
    _store(call)
    del call.session.state(_Stores).kept[call.project.id, call.params["store"]]
    return JsonAnswer({})


async def create_document(call: Call) -> Response:
    """Make a document; its name must be new in its store."""
    store = _store(call)
    name = fields.require(fields.read(await read_object(call), BODY), "name")
    if name in store.documents:
        raise PbError(ALREADY_EXISTS, f"the document {name!r} already exists.")
    store.documents[name] = None
    call.session.state(_Stores).kept[call.project.id, call.params["store"]] = store  # which weighs more now
    return JsonAnswer({"name": name})


def _store(call: Call) -> Store:
    found = call.session.state(_Stores).kept.get((call.project.id, call.params["store"]))
    if found is None:
        raise PbError(NOT_FOUND, f"the store {call.params['store']!r} is not found.")
    return found


def _described(store: Store) -> dict[str, Any]:
    return {
        "name": store.name,
        "displayName": store.display_name,
        "createTime": rfc3339(store.created_at),
        "updateTime": rfc3339(store.created_at),
        "activeDocumentsCount": str(len(store.documents)),
    }
