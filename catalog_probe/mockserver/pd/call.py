"""One call of PD's inference API, whichever way it came: whose it is, on which host, and when."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.mockserver.core.sessions import Session
    from catalog_probe.mockserver.core.world import Context
    from catalog_probe.mockserver.pd.auth.keys import Key
    from catalog_probe.mockserver.pd.models import Host


@dataclass(frozen=True, slots=True)
class Call:
    """What a handler gets. `key` is known, usable and allowed here by the time a handler runs."""

    context: Context
    host: Host
    key: Key
    params: Mapping[str, str] = field(default_factory=dict)

    @property
    def session(self) -> Session:
        """The private state of this client."""
        return self.context.session

    @property
    def now(self) -> float:
        """When this call happens."""
        return self.context.now
