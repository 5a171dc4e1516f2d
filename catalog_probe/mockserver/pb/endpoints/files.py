"""Files: those that a prompt may refer to, some of them other people's (2:7.4), and those that batches read (2:8.1).

The documents show no way to upload one (1:4). Here it is done as official clients do: an upload is begun by saying how
many bytes it will have, and they are sent to the address that the answer names. Where the size is all that is said, it
is all that is kept: a file of 2 GB need not be sent.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from starlette.responses import Response

from catalog_probe.mockserver.core.bodies import BodyTooLarge, read_body
from catalog_probe.mockserver.core.clock import rfc3339
from catalog_probe.mockserver.pb.access import authenticate
from catalog_probe.mockserver.pb.bodies import MOST_BYTES, JsonAnswer, read_object
from catalog_probe.mockserver.pb.errors import NO_RESOURCE, NOT_OWNED, TOO_LARGE
from catalog_probe.mockserver.pb.fields import FILE_CREATION
from catalog_probe.mockserver.pb.keys import MAIN, Project
from catalog_probe.mockserver.pb.limits import MOST_STORED_BYTES, USED_UP
from catalog_probe.mockserver.pb.paging import cut_page
from catalog_probe.mockserver.pb.quotas import make_quota_refusal

if TYPE_CHECKING:
    from starlette.requests import HTTPConnection

    from catalog_probe.mockserver.core.sessions import Session
    from catalog_probe.mockserver.core.stores import BoundedStore
    from catalog_probe.mockserver.core.world import Context
    from catalog_probe.mockserver.pb.call import Call
    from catalog_probe.mockserver.pb.names import Names

OWNERS: dict[str, str] = {"files/mock-own": MAIN.id, "files/mock-foreign": "mock-somebody-else"}
"""The project of each file that was there before."""


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


@dataclass(frozen=True)
class Upload:
    """An upload that was begun: the file, with what has arrived of it."""

    file: File


async def create(call: Call) -> Response:
    """Keep a file of which the size is all that is said."""
    return JsonAnswer({"file": describe_file(call, keep(call, await _read_file(call)))})


async def upload(call: Call) -> Response:
    """POST /upload/…/files: begin an upload, or go on with one where the address names it."""
    begun = call.request.query_params.get("upload_id")
    if begun is not None:
        return await _go_on(call, begun)
    upload_id = call.session.new_id("", 32)
    call.session.store(Upload)[upload_id] = Upload(await _read_file(call))
    call.headers[call.names.upload_header("url")] = f"{_address_of(call)}?upload_id={upload_id}"
    call.headers[call.names.upload_header("status")] = "active"
    return JsonAnswer({})


async def _read_file(call: Call) -> File:
    """The file that is announced; what is stored has a limit (2:8.1)."""
    body = (await read_object(call, FILE_CREATION))["file"]
    size = int(body["sizeBytes"]) if str(body["sizeBytes"]).isdecimal() else 0
    stored = sum(file.size for file in files_of(call).values())
    if stored + size > MOST_STORED_BYTES:
        raise make_quota_refusal("all models", USED_UP["file_storage"])
    name = body.get("name") or call.session.new_id("files/", 12).lower()
    mime_type = body.get("mimeType", File.mime_type)
    return File(name, call.project, size, call.now, body.get("displayName", ""), mime_type)


async def _go_on(call: Call, upload_id: str) -> Response:
    uploads = call.session.store(Upload)
    file = uploads[upload_id].file
    try:
        content = file.content + await read_body(call.request, MOST_BYTES - len(file.content))
    except BodyTooLarge:
        raise TOO_LARGE(most_bytes=MOST_BYTES) from None
    ended = "finalize" in call.request.headers.get(call.names.upload_header("command"), "finalize")
    call.headers[call.names.upload_header("status")] = "final" if ended else "active"
    if not ended:
        uploads[upload_id] = Upload(replace(file, content=content))
        return JsonAnswer({})
    del uploads[upload_id]
    return JsonAnswer({"file": describe_file(call, keep(call, replace(file, content=content, size=len(content))))})


def _address_of(call: Call) -> str:
    """Where an upload goes on; its session stands there, for clients send there no headers of their own."""
    base = call.request.base_url
    if call.session.name and "@" not in base.path:
        base = base.replace(path=f"{base.path.rstrip('/')}@{quote(call.session.name, safe='')}/")
    return f"{str(base).rstrip('/')}{call.request.scope['path'].removeprefix(call.request.scope.get('root_path', ''))}"


def authenticate_upload(request: HTTPConnection, names: Names, context: Context) -> Project:
    """Whose upload it is: its address is enough to go on with one; 404 where it is none."""
    upload_id = request.query_params.get("upload_id")
    if upload_id is None:
        return authenticate(request, names, context)
    return context.session.store(Upload).find(upload_id, NO_RESOURCE).file.project


def files_of(call: Call) -> BoundedStore[str, File]:
    """The files of the project, by name."""
    return call.session.store(File, call.project.id)


def keep(call: Call, file: File) -> File:
    """Keep a file."""
    files_of(call)[file.name] = file
    return file


def find_file(call: Call, name: str) -> File:
    """A file of the project, or 404."""
    return files_of(call).find(name, NO_RESOURCE)


async def list_files(call: Call) -> Response:
    """The files of the project."""
    return JsonAnswer(cut_page(call, "files", [describe_file(call, file) for file in files_of(call).values()]))


async def retrieve(call: Call) -> Response:
    """What is known of a file."""
    return JsonAnswer(describe_file(call, find_file(call, f"files/{call.params['file']}")))


async def download(call: Call) -> Response:
    """What is in a file."""
    file = find_file(call, f"files/{call.params['file']}")
    return Response(file.content, media_type=file.mime_type)


async def delete(call: Call) -> Response:
    """Delete a file."""
    del files_of(call)[find_file(call, f"files/{call.params['file']}").name]
    return JsonAnswer({})


def describe_file(call: Call, file: File) -> dict[str, Any]:
    """A file, with all that clients read of one."""
    return {
        "name": file.name,
        "displayName": file.display_name,
        "mimeType": file.mime_type,
        "sizeBytes": str(file.size),
        "createTime": rfc3339(file.created_at),
        "uri": f"{call.request.base_url}v1beta/{file.name}",
        "state": "ACTIVE",
    }


def check_readable(uri: str, session: Session, project: Project) -> None:
    """Raise 404 for a file that does not exist and 403 for one that is not the project's (2:7.4)."""
    name = "/".join(uri.split("/")[-2:])
    if name in session.store(File, project.id):
        return
    if name not in OWNERS:
        raise NO_RESOURCE(id=name)
    if OWNERS[name] != project.id:
        raise NOT_OWNED(id=name)
