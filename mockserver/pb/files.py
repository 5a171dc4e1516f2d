"""Files that a prompt may refer to: the mock knows a few, some of them other people's (2:7.4, 403 and 404)."""

from __future__ import annotations

from mockserver.pb.errors import NOT_FOUND, PERMISSION, PbError
from mockserver.pb.keys import MAIN, Project

OWNERS: dict[str, str] = {"files/mock-own": MAIN.id, "files/mock-foreign": "mock-somebody-else"}
"""The project of each file. The documents show no way to upload one (1:4)."""


def check_readable(uri: str, project: Project) -> None:
    """Raise 404 for a file that does not exist and 403 for one that is not the project's."""
    name = "/".join(uri.split("/")[-2:])
    owner = OWNERS.get(name)
    if owner is None:
        raise PbError(NOT_FOUND, f"{name} is not found.")
    if owner != project.id:
        raise PbError(PERMISSION, f"You do not have permission to access {name}.")
