"""Files: those that a prompt may refer to, some of them other people's (2:7.4), and those that batches read (2:8.1).

The documents show no way to upload one (1:4). Here an upload is begun by saying how many bytes it will have, and that
is all that is kept of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mockserver.pb import fields
from mockserver.pb.call import JsonAnswer, read_object
from mockserver.pb.errors import NOT_FOUND, PERMISSION, QUOTA, PbError
from mockserver.pb.keys import MAIN, Project
from mockserver.shelves import Shelf

if TYPE_CHECKING:
    from starlette.responses import Response

    from mockserver.pb.call import Call

OWNERS: dict[str, str] = {"files/mock-own": MAIN.id, "files/mock-foreign": "mock-somebody-else"}
"""The project of each file that was there before."""

MAX_STORED_BYTES = 20 * 1_000**3
"""20 GB (2:8.1); whether of 10^9 or 2^30 bytes is not told."""

BODY: fields.Fields = {"file": fields.mapping}
FILE: fields.Fields = {"displayName": fields.string, "sizeBytes": fields.at_least(0)}


@dataclass
class _Files:
    sizes: Shelf[tuple[str, str], int] = field(default_factory=Shelf)
    """Bytes of each file, by project and name."""


async def create(call: Call) -> Response:
    """Begin an upload; what is stored has a limit."""
    given = fields.read(fields.require(fields.read(await read_object(call), BODY), "file"), FILE, "file")
    size = fields.require(given, "sizeBytes", "file")
    sizes = call.session.state(_Files).sizes
    stored = sum(each for (project, _), each in sizes.items() if project == call.project.id) + call.history.stored
    if stored + size > MAX_STORED_BYTES:
        raise PbError(QUOTA, f"File storage is full: {stored} of {MAX_STORED_BYTES} bytes are used.")
    name = call.session.new_id("files/", 12).lower()
    sizes[call.project.id, name] = size
    return JsonAnswer({"file": {"name": name, "sizeBytes": str(size)}})


async def retrieve(call: Call) -> Response:
    """What is known of a file."""
    name = f"files/{call.params['file']}"
    return JsonAnswer({"name": name, "sizeBytes": str(size_of(call, name))})


async def delete(call: Call) -> Response:
    """Delete a file."""
    name = f"files/{call.params['file']}"
    size_of(call, name)
    del call.session.state(_Files).sizes[call.project.id, name]
    return JsonAnswer({})


def size_of(call: Call, name: str) -> int:
    """The bytes of a file of the project, or 404."""
    size = call.session.state(_Files).sizes.get((call.project.id, name))
    if size is None:
        raise PbError(NOT_FOUND, f"{name} is not found.")
    return size


def check_readable(uri: str, project: Project) -> None:
    """Raise 404 for a file that does not exist and 403 for one that is not the project's."""
    name = "/".join(uri.split("/")[-2:])
    owner = OWNERS.get(name)
    if owner is None:
        raise PbError(NOT_FOUND, f"{name} is not found.")
    if owner != project.id:
        raise PbError(PERMISSION, f"You do not have permission to access {name}.")
