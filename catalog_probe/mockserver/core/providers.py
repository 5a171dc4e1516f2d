"""Providers: what a provider's package declares, and which there are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence

    from starlette.types import ASGIApp

    from catalog_probe.mockserver.core.routing import PathRow
    from catalog_probe.mockserver.core.scenarios import Scenario
    from catalog_probe.mockserver.core.world import World


@dataclass(frozen=True)
class Mount:
    """One host of a provider: its path prefix, the names of its address in the ready line, and what serves it.

    `sockets` serves its WebSockets; a host without it has none.
    """

    prefix: str
    addresses: tuple[str, ...]
    build: Callable[[World], ASGIApp]
    sockets: Callable[[World], ASGIApp] | None = None
    routes: Sequence[PathRow] = ()
    """What is served over HTTP, for who asks why a path is not."""


@dataclass(frozen=True)
class Provider:
    """What a provider's package exports as `PROVIDER`."""

    name: str
    mounts: tuple[Mount, ...]
    scenarios: tuple[Scenario, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    """What the stand-ins stand for; a `--prefixes` file may replace each value by one of the same type."""
    listen: Callable[[World, str], Awaitable[Mapping[str, str]]] | None = None
    """Starts listeners other than HTTP on the host given (gRPC), and says their addresses for the ready line."""
    models: Collection[str] = ()
    """The models that other names may stand in for; any where there are none."""


PROVIDER_NAMES = ("pa", "pb", "pc", "pd")
"""Each is a sub-package whose module `provider` exports `PROVIDER`."""
