"""File search stores and their documents: enough of them that a name can be taken (2:7.4, 409 ALREADY_EXISTS).

The documents show neither paths nor bodies (1:4); these are ours, in the manner of the other paths.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mockserver.pb import fields
from mockserver.pb.call import JsonAnswer, read_object
from mockserver.pb.errors import ALREADY_EXISTS, NOT_FOUND, PbError

if TYPE_CHECKING:
    from starlette.responses import Response

    from mockserver.pb.call import Call

BODY: fields.Fields = {"name": fields.string, "displayName": fields.string}


@dataclass
class _Stores:
    documents: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    """The documents of each store, by project and name."""


async def create(call: Call) -> Response:
    """Make a store; its name must be new in its project."""
    name = fields.require(fields.read(await read_object(call), BODY), "name")
    stores = call.session.state(_Stores).documents
    if (call.project.id, name) in stores:
        raise PbError(ALREADY_EXISTS, f"the store {name!r} already exists.")
    stores[call.project.id, name] = set()
    return JsonAnswer({"name": name})


async def delete(call: Call) -> Response:
    """Delete a store with its documents."""
    _documents(call)
    del call.session.state(_Stores).documents[call.project.id, call.params["store"]]
    return JsonAnswer({})


async def create_document(call: Call) -> Response:
    """Make a document; its name must be new in its store."""
    documents = _documents(call)
    name = fields.require(fields.read(await read_object(call), BODY), "name")
    if name in documents:
        raise PbError(ALREADY_EXISTS, f"the document {name!r} already exists.")
    documents.add(name)
    return JsonAnswer({"name": name})


def _documents(call: Call) -> set[str]:
    documents = call.session.state(_Stores).documents.get((call.project.id, call.params["store"]))
    if documents is None:
        raise PbError(NOT_FOUND, f"the store {call.params['store']!r} is not found.")
    return documents
