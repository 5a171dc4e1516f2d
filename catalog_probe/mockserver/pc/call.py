"""One call of PC, and a row of its endpoint table."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from catalog_probe.mockserver.core import calls, routing
from catalog_probe.mockserver.pc.keys import UNIDENTIFIED, WORK, Key, Project

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.buckets import TokenBucket


@dataclass(kw_only=True)
class Call(calls.Call):
    """One call of PC. When a handler runs, its key has been admitted."""

    header_prefix: str
    key: Key = UNIDENTIFIED
    project: Project = WORK
    shown_buckets: dict[str, TokenBucket] = field(default_factory=dict)
    """Buckets whose state the response headers show, by family of headers."""

    def header_name(self, stem: str) -> str:
        """Return the name of the header that the documents call `PC-<stem>`."""
        return self.header_prefix + stem

    def header(self, stem: str) -> str | None:
        """Return the value of that header."""
        return self.request.headers.get(self.header_name(stem))


@dataclass(frozen=True)
class Endpoint(routing.Endpoint):
    """A row of the endpoint table, with the rights that it needs."""

    beta: str | None = None
    scope: str | None = None
    admin: bool = False
