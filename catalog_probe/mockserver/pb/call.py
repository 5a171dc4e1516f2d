"""One call of PB's API: the request, whose project makes it, and what things are called on the wire."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog_probe.mockserver.core import calls
from catalog_probe.mockserver.pb.keys import NOBODY

if TYPE_CHECKING:
    from catalog_probe.mockserver.pb.keys import Project
    from catalog_probe.mockserver.pb.names import Names


@dataclass(kw_only=True)
class Call(calls.Call):
    """What a handler gets. `project` is authenticated by the time a handler runs."""

    names: Names
    project: Project = NOBODY

    @property
    def version(self) -> str:
        """The API version in the path: `v1` or `v1beta` (2:9)."""
        path: str = self.request.scope["path"]
        return path.removeprefix(self.request.scope.get("root_path", "")).split("/")[1]
