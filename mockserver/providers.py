"""Providers: what a provider's package declares, and where the packages are found."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from mockserver.scenarios import Scenario
    from mockserver.world import World

PACKAGES = {name: f"mockserver.{name}" for name in ("pa", "pb", "pc", "pd")}
"""Where each provider is built. A package that does not exist is not served."""


@dataclass(frozen=True)
class Mount:
    """One host of a provider: its path prefix, the names of its address in the ready line, and what serves it.

    `sockets` serves its WebSockets; a host without it has none.
    """

    prefix: str
    addresses: tuple[str, ...]
    build: Callable[[World], ASGIApp]
    sockets: Callable[[World], ASGIApp] | None = None


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


def load(names: Iterable[str] | None = None) -> tuple[Provider, ...]:
    """The providers called `names`, or all that are built."""
    wanted = tuple(names) if names is not None else tuple(PACKAGES)
    unknown = [name for name in wanted if name not in PACKAGES]
    if unknown:
        raise ValueError(f"unknown provider {', '.join(unknown)}; there are {', '.join(PACKAGES)}")
    found = (name for name in wanted if find_spec(PACKAGES[name]) is not None)
    return tuple(import_module(PACKAGES[name]).PROVIDER for name in found)
