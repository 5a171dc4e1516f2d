"""One call of PC, and a row of its endpoint table."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from catalog_probe.mockserver.core import calls, routing
from catalog_probe.mockserver.pc.keys import NOBODY, WORK, Key, Project

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.buckets import TokenBucket


@dataclass(kw_only=True)
class Call(calls.Call):
    """What a handler gets. `key` is authenticated, and allowed here, by the time a handler runs."""

    header_prefix: str
    key: Key = NOBODY
    project: Project = WORK
    meters: dict[str, TokenBucket] = field(default_factory=dict)
    """The limits that the answer tells of, as they are when it is sent: family of headers -> bucket."""

    def header_name(self, stem: str) -> str:
        """What the header is called that the documents call `PC-<stem>`."""
        return self.header_prefix + stem

    def header(self, stem: str) -> str | None:
        """The value of that header."""
        return self.request.headers.get(self.header_name(stem))


@dataclass(frozen=True)
class Endpoint(routing.Endpoint):
    """A row of the endpoint table, with the beta that it belongs to and the scope or the admin key that it needs."""

    beta: str | None = None
    scope: str | None = None
    admin: bool = False
