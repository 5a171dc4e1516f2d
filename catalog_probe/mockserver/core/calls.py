"""One call of a provider: its request, time, session, and the answer's headers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from catalog_probe.mockserver.core.faults import CLOSE_EXTENSION
from catalog_probe.mockserver.core.world import Context, context_of

if TYPE_CHECKING:
    from starlette.requests import Request

    from catalog_probe.mockserver.core.sessions import Session


@dataclass(kw_only=True)
class Call:
    """What a handler gets; each provider adds the caller.

    Args:
        params: the values of each `{name}` in the path.
        headers: headers that the answer carries, even a refusal.
    """

    request: Request
    params: Mapping[str, str] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def context(self) -> Context:
        """The context that the mock opened for the request."""
        return context_of(self.request.scope)

    @property
    def session(self) -> Session:
        """The private state of this client."""
        return self.context.session

    @property
    def now(self) -> float:
        """When this call happens, in seconds since the epoch."""
        return self.context.now

    def abort_connection(self) -> None:
        """Close the connection without an answer, as a broken network does."""
        self.request.scope["extensions"][CLOSE_EXTENSION]["close"]()
