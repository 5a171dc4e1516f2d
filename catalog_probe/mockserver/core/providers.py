"""The declaration of a provider, and the names of the providers."""

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
    """One host of a provider.

    Args:
        prefix: the first segment of its paths.
        addresses: the names of its address in the ready line.
        build: builds its HTTP app.
        sockets: builds its WebSocket app, if it has one.
        routes: the rows of its HTTP app, which `/__mock__/endpoints` lists.
    """

    prefix: str
    addresses: tuple[str, ...]
    build: Callable[[World], ASGIApp]
    sockets: Callable[[World], ASGIApp] | None = None
    routes: Sequence[PathRow] = ()


@dataclass(frozen=True)
class Provider:
    """What a provider's package exports as `PROVIDER`.

    Args:
        settings: the keys and defaults of its table in a `--prefixes` file; a value keeps the type of its default.
        listen: starts listeners other than HTTP on a host, and returns their addresses for the ready line.
        models: the models that other names may stand in for; any if empty.
    """

    name: str
    mounts: tuple[Mount, ...]
    scenarios: tuple[Scenario, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    listen: Callable[[World, str], Awaitable[Mapping[str, str]]] | None = None
    models: Collection[str] = ()


PROVIDER_NAMES = ("pa", "pb", "pc", "pd")
"""Each is a sub-package whose module `provider` exports `PROVIDER`."""
