"""Files: those that a prompt may refer to, some of them other people's (2:7.4), and those that batches read (2:8.1).

The documents show no way to upload one (1:4). Here it is done as clients do: an upload is begun by saying how many
bytes it will have, and they are sent to the address that the answer names; without that, the size is all that is kept.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from starlette.responses import Response

from catalog_probe.mockserver.core.bodies import BodyTooLarge, read_body
from catalog_probe.mockserver.core.clock import rfc3339
from catalog_probe.mockserver.core.stores import BoundedStore
from catalog_probe.mockserver.pb import fields
from catalog_probe.mockserver.pb.auth.authentication import authenticate
from catalog_probe.mockserver.pb.auth.keys import MAIN, Project
from catalog_probe.mockserver.pb.call import MAX_BODY, JsonAnswer, read_object
from catalog_probe.mockserver.pb.errors import NOT_FOUND, PERMISSION, QUOTA, TOO_LARGE, PbError
from catalog_probe.mockserver.pb.paging import page

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import HTTPConnection

    from catalog_probe.mockserver.core.sessions import Session
    from catalog_probe.mockserver.core.world import Context
    from catalog_probe.mockserver.pb.call import Call
    from catalog_probe.mockserver.pb.names import Names

OWNERS: dict[str, str] = {"files/mock-own": MAIN.id, "files/mock-foreign": "mock-somebody-else"}
"""The project of each file that was there before."""

MAX_STORED_BYTES = 20 * 1_000**3
"""20 GB (2:8.1); whether of 10^9 or 2^30 bytes is not told."""

KEPT_FOR_S = 48 * 3600.0
"""How long a file says that it will be kept; the documents do not tell."""

BODY: fields.Fields = {"file": fields.mapping}


def _size(at: str, value: Any) -> None:
    """A number of bytes; clients write it as text as well."""
    fields.at_least(0)(at, int(value) if isinstance(value, str) and value.isdecimal() else value)


FILE: fields.Fields = {
    "name": fields.string,
    "displayName": fields.string,
    "mimeType": fields.string,
    "sizeBytes": _size,
}


@dataclass(frozen=True)
class File:
    """One file: whose it is, what is said of it, and what is in it, as far as that was sent."""

    name: str
    project: Project
    size: int
    created_at: float
    display_name: str = ""
    mime_type: str = "application/octet-stream"
    content: bytes = b""


@dataclass
class _Files:
    kept: BoundedStore[tuple[str, str], File] = field(default_factory=BoundedStore)
    """By project and name."""
    uploads: BoundedStore[str, File] = field(default_factory=BoundedStore)
    """Those that were begun, with what has arrived of them, by the id in their address."""


async def create(call: Call) -> Response:
    """Begin an upload; what is stored has a limit."""
    file = await _begun(call)
    keep(call, file)
    return JsonAnswer({"file": {"name": file.name, "sizeBytes": str(file.size)}})


async def upload(call: Call) -> Response:
    """POST /upload/…/files: begin an upload, or go on with one, as the command in a header says."""
    begun = call.request.query_params.get("upload_id")
    if begun is not None:
        return await _go_on(call, begun)
    file = await _begun(call)
    upload_id = call.session.new_id("", 32)
    call.session.state(_Files).uploads[upload_id] = file
    call.headers[call.names.upload_header("url")] = f"{_address(call)}?upload_id={upload_id}"
    call.headers[call.names.upload_header("status")] = "active"
    return JsonAnswer({})


async def _begun(call: Call) -> File:
    given = fields.read(fields.require(fields.read(await read_object(call), BODY), "file"), FILE, "file")
    size = int(fields.require(given, "sizeBytes", "file"))
    kept = call.session.state(_Files).kept.values()
    stored = sum(each.size for each in kept if each.project.id == call.project.id)
    if stored + size > MAX_STORED_BYTES:
        raise PbError(QUOTA, f"File storage is full: {stored} of {MAX_STORED_BYTES} bytes are used.")
    name = given.get("name") or call.session.new_id("files/", 12).lower()
    said = {"display_name": given.get("displayName", ""), "mime_type": given.get("mimeType", File.mime_type)}
    return File(name, call.project, size, call.now, **said)


async def _go_on(call: Call, upload_id: str) -> Response:
    uploads = call.session.state(_Files).uploads
    begun = uploads[upload_id]
    try:
        content = begun.content + await read_body(call.request, MAX_BODY - len(begun.content))
    except BodyTooLarge:
        raise PbError(TOO_LARGE, f"Request payload size exceeds the limit: {MAX_BODY} bytes.") from None
    ended = "finalize" in call.request.headers.get(call.names.upload_header("command"), "finalize")
    call.headers[call.names.upload_header("status")] = "final" if ended else "active"
    if not ended:
        uploads[upload_id] = replace(begun, content=content)
        return JsonAnswer({})
    del uploads[upload_id]
    return JsonAnswer({"file": described(call, keep(call, begun, content))})


def _address(call: Call) -> str:
    """Where an upload goes on; its session stands there, for clients send there no headers of their own."""
    base = call.request.base_url
    if call.session.name and "@" not in base.path:
        base = base.replace(path=f"{base.path.rstrip('/')}@{quote(call.session.name, safe='')}/")
    return f"{str(base).rstrip('/')}{call.request.scope['path'].removeprefix(call.request.scope.get('root_path', ''))}"


def uploader(request: HTTPConnection, names: Names, context: Context) -> Project:
    """Whose upload it is: its address is enough to go on with one; 404 where it is none."""
    upload_id = request.query_params.get("upload_id")
    if upload_id is None:
        return authenticate(request, names, context)
    begun = context.session.state(_Files).uploads.get(upload_id)
    if begun is None:
        raise PbError(NOT_FOUND, "There is no such upload.")
    return begun.project


def keep(call: Call, file: File, content: bytes = b"") -> File:
    """Keep a file with what is in it."""
    kept = replace(file, content=content, size=len(content) or file.size)
    call.session.state(_Files).kept[file.project.id, file.name] = kept
    return kept


async def list_files(call: Call) -> Response:
    """The files of the project."""
    kept = call.session.state(_Files).kept.values()
    return JsonAnswer(page(call, "files", [described(call, each) for each in kept if each.project == call.project]))


async def retrieve(call: Call) -> Response:
    """What is known of a file."""
    return JsonAnswer(described(call, find(call, f"files/{call.params['file']}")))


async def download(call: Call) -> Response:
    """What is in a file."""
    file = find(call, f"files/{call.params['file']}")
    return Response(file.content, media_type=file.mime_type)


async def delete(call: Call) -> Response:
    """Delete a file."""
    file = find(call, f"files/{call.params['file']}")
    del call.session.state(_Files).kept[call.project.id, file.name]
    return JsonAnswer({})


def find(call: Call, name: str) -> File:
    """A file of the project, or 404."""
    file = call.session.state(_Files).kept.get((call.project.id, name))
    if file is None:
        raise PbError(NOT_FOUND, f"{name} is not found.")
    return file


def described(call: Call, file: File) -> dict[str, Any]:
    """A file, with all that clients read of one."""
    return {
        "name": file.name,
        "displayName": file.display_name,
        "mimeType": file.mime_type,
        "sizeBytes": str(file.size),
        "createTime": rfc3339(file.created_at),
        "updateTime": rfc3339(file.created_at),
        "expirationTime": rfc3339(file.created_at + KEPT_FOR_S),
        "sha256Hash": base64.b64encode(hashlib.sha256(file.content).digest()).decode(),
        "uri": f"{call.request.base_url}v1beta/{file.name}",
        "state": "ACTIVE",
        "source": "UPLOADED",
    }


def reader(session: Session, project: Project) -> Callable[[str], None]:
    """What refuses the files that a project may not read."""
    return partial(check_readable, session=session, project=project)


def check_readable(uri: str, session: Session, project: Project) -> None:
    """Raise 404 for a file that does not exist and 403 for one that is not the project's."""
    name = "/".join(uri.split("/")[-2:])
    if (project.id, name) in session.state(_Files).kept:
        return
    owner = OWNERS.get(name)
    if owner is None:
        raise PbError(NOT_FOUND, f"{name} is not found.")
    if owner != project.id:
        raise PbError(PERMISSION, f"You do not have permission to access {name}.")
