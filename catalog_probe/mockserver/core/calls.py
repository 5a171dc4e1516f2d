"""One call of a provider: the request, when it happens, whose state it sees, and the headers of its answer."""

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
    """What a handler gets; each provider adds whose call it is."""

    request: Request
    params: Mapping[str, str] = field(default_factory=dict)
    """What stands in the path in the place of each `{name}`."""
    headers: dict[str, str] = field(default_factory=dict)
    """Those that the answer carries, a refusal as well."""

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
        """When this call happens."""
        return self.context.now

    @property
    def real_now(self) -> float:
        """The real time: where the clock of the call is ahead, what holds today may no longer hold then."""
        return self.context.now - self.context.ahead_s

    def break_off(self) -> None:
        """Break the connection without a word, as a network does."""
        self.request.scope["extensions"][CLOSE_EXTENSION]["close"]()
