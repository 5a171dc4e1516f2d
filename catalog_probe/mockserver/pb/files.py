"""PB's files, file search stores and documents (1:4.2, 2:7.4, 2:8.1).

The documents show no way to upload one (1:4), so it is done as official clients do: the first request announces the
size, and its answer names the address for the content. The mock keeps the size alone, so a probe can announce a file of
2 GB without sending it.

The documents show neither paths nor bodies (1:4). Official clients create, list and delete stores. Documents, and
the name of a store, are the mock's choice.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from catalog_probe.mockserver.core.bodies import BodyTooLarge, read_body
from catalog_probe.mockserver.core.clock import rfc3339
from catalog_probe.mockserver.pb.access import authenticate
from catalog_probe.mockserver.pb.call import MAX_BODY_BYTES, AsciiJsonResponse, Resources, read_object
from catalog_probe.mockserver.pb.errors import ALREADY_EXISTS, NO_RESOURCE, NOT_OWNED, TOO_LARGE
from catalog_probe.mockserver.pb.fields import DOCUMENT, FILE_CREATION, STORE
from catalog_probe.mockserver.pb.keys import MAIN, Project
from catalog_probe.mockserver.pb.limits import EXHAUSTIBLE_QUOTAS, MAX_STORED_BYTES, make_quota_refusal

if TYPE_CHECKING:
    from starlette.requests import HTTPConnection
    from starlette.responses import Response

    from catalog_probe.mockserver.core.sessions import Session
    from catalog_probe.mockserver.core.world import Context
    from catalog_probe.mockserver.pb.call import Call, Names


OWNERS: dict[str, str] = {"files/mock-own": MAIN.id, "files/mock-foreign": "mock-somebody-else"}
"""The project of each file that every session has."""


@dataclass(frozen=True)
class File:
    """A file of a project."""

    name: str
    project: Project
    size: int
    created_at: float
    display_name: str = ""
    mime_type: str = "application/octet-stream"


def describe_file(call: Call, file: File) -> dict[str, Any]:
    """Return all fields that clients read of a file."""
    return {
        "name": file.name,
        "displayName": file.display_name,
        "mimeType": file.mime_type,
        "sizeBytes": str(file.size),
        "createTime": rfc3339(file.created_at),
        "uri": f"{call.request.base_url}v1beta/{file.name}",
        "state": "ACTIVE",
    }


FILES = Resources(File, "files/{file}", NO_RESOURCE, describe_file, "files")


@dataclass(frozen=True)
class Upload:
    """An announced upload."""

    file: File


async def create_file(call: Call) -> Response:
    """Create a file by its size alone."""
    return _keep(call, await _read_announcement(call))


async def upload(call: Call) -> Response:
    """Announce an upload, or receive its content if the address names one."""
    upload_id = call.request.query_params.get("upload_id")
    if upload_id is not None:
        return await _receive(call, upload_id)
    upload_id = call.session.new_id("", 32)
    call.session.store(Upload)[upload_id] = Upload(await _read_announcement(call))
    call.headers[call.names.upload_header("url")] = f"{_make_upload_url(call)}?upload_id={upload_id}"
    call.headers[call.names.upload_header("status")] = "active"
    return AsciiJsonResponse({})


async def _read_announcement(call: Call) -> File:
    """Read the announced file, or refuse it beyond the storage limit (2:8.1)."""
    body = (await read_object(call, FILE_CREATION))["file"]
    size = int(body["sizeBytes"]) if str(body["sizeBytes"]).isdecimal() else 0
    stored_bytes = sum(file.size for file in FILES.of(call).values())
    if stored_bytes + size > MAX_STORED_BYTES:
        raise make_quota_refusal("all models", EXHAUSTIBLE_QUOTAS["file_storage"])
    name = body.get("name") or call.session.new_id("files/", 12).lower()
    mime_type = body.get("mimeType", File.mime_type)
    return File(name, call.project, size, call.now, body.get("displayName", ""), mime_type)


async def _receive(call: Call, upload_id: str) -> Response:
    """Receive the content of an upload, all of it in one request."""
    file = call.session.store(Upload).pop(upload_id).file
    try:
        content = await read_body(call.request, MAX_BODY_BYTES)
    except BodyTooLarge:
        raise TOO_LARGE(most_bytes=MAX_BODY_BYTES) from None
    call.headers[call.names.upload_header("status")] = "final"
    return _keep(call, replace(file, size=len(content)))


def _make_upload_url(call: Call) -> str:
    """Return the address for the content, with the session in its path."""
    base = call.request.base_url
    if call.session.name and "@" not in base.path:
        base = base.replace(path=f"{base.path.rstrip('/')}@{quote(call.session.name, safe='')}/")
    return f"{str(base).rstrip('/')}{call.request.scope['path'].removeprefix(call.request.scope.get('root_path', ''))}"


def authenticate_upload(request: HTTPConnection, names: Names, context: Context) -> Project:
    """Return the project of an upload, whose address is credential enough."""
    upload_id = request.query_params.get("upload_id")
    if upload_id is None:
        return authenticate(request, names, context)
    return context.session.store(Upload).find(upload_id, NO_RESOURCE).file.project


def _keep(call: Call, file: File) -> Response:
    FILES.of(call)[file.name] = file
    return AsciiJsonResponse({"file": describe_file(call, file)})


def check_readable(uri: str, session: Session, project: Project) -> None:
    """Refuse a file that does not exist (404) or is not the project's (403, 2:7.4)."""
    name = "/".join(uri.split("/")[-2:])
    if name in session.store(File, project.id):
        return
    if name not in OWNERS:
        raise NO_RESOURCE(id=name)
    if OWNERS[name] != project.id:
        raise NOT_OWNED(id=name)


PREFIX = "fileSearchStores/"


@dataclass
class Store:
    """A store, with the names of its documents."""

    name: str
    display_name: str
    created_at: float
    documents: set[str] = field(default_factory=set)


def describe_store(call: Call, store: Store) -> dict[str, Any]:
    """Return all fields that clients read of a store."""
    return {
        "name": store.name,
        "displayName": store.display_name,
        "createTime": rfc3339(store.created_at),
        "activeDocumentsCount": str(len(store.documents)),
    }


STORES = Resources(Store, "{store}", NO_RESOURCE, describe_store, "fileSearchStores")


async def create_store(call: Call) -> Response:
    """Create a store; a given name must be new in the project."""
    body = await read_object(call, STORE)
    name = body.get("name") or PREFIX + call.session.new_id("", 20).lower()
    key = name.removeprefix(PREFIX)
    if key in STORES.of(call):
        raise ALREADY_EXISTS(id=name)
    store = STORES.of(call)[key] = Store(name, body.get("displayName", ""), call.now)
    return AsciiJsonResponse(describe_store(call, store))


async def create_document(call: Call) -> Response:
    """Create a document; its name must be new in the store."""
    store, name = STORES.find(call), (await read_object(call, DOCUMENT))["name"]
    if name in store.documents:
        raise ALREADY_EXISTS(id=name)
    store.documents.add(name)
    return AsciiJsonResponse({"name": name})
