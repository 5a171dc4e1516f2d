"""One call of PB, with its project and the names of headers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog_probe.mockserver.core import calls
from catalog_probe.mockserver.pb.keys import UNIDENTIFIED

if TYPE_CHECKING:
    from catalog_probe.mockserver.pb.keys import Project
    from catalog_probe.mockserver.pb.names import Names


@dataclass(kw_only=True)
class Call(calls.Call):
    """One call of PB. When a handler runs, its project has been authenticated."""

    names: Names
    project: Project = UNIDENTIFIED

    @property
    def version(self) -> str:
        """API version in the path: `v1` or `v1beta` (2:9)."""
        path: str = self.request.scope["path"]
        return path.removeprefix(self.request.scope.get("root_path", "")).split("/")[1]
