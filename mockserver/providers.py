"""Providers: what a provider's package declares, and how the packages are found."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from mockserver.routing import Route
    from mockserver.scenarios import Scenario
    from mockserver.world import World


@dataclass(frozen=True)
class Mount:
    """One host of a provider: its path prefix, the names of its address in the ready line, and what serves it.

    `sockets` serves its WebSockets; a host without it has none.
    """

    prefix: str
    addresses: tuple[str, ...]
    build: Callable[[World], ASGIApp]
    sockets: Callable[[World], ASGIApp] | None = None
    routes: Sequence[Route[Any]] = ()
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


def load(names: Iterable[str] | None = None, package: str = "mockserver") -> tuple[Provider, ...]:
    """The providers called `names`, or all: each sub-package of `package` that exports a `PROVIDER` is one.

    Only what is wanted is imported.

    Raises:
        ValueError: no provider has one of the names.
    """
    candidates = _sub_packages(package)
    wanted = candidates if names is None else tuple(names)
    found = {name: _provider(f"{package}.{name}") if name in candidates else None for name in wanted}
    unknown = [name for name, provider in found.items() if provider is None]
    if unknown and names is not None:
        there_are = ", ".join(provider.name for provider in load(package=package))
        raise ValueError(f"unknown provider {', '.join(unknown)}; there are {there_are}")
    return tuple(provider for provider in found.values() if provider is not None)


def known_names(package: str = "mockserver") -> tuple[str, ...]:
    """The names of all packages that may be providers; imports none of them."""
    return _sub_packages(package)


@cache
def _sub_packages(package: str) -> tuple[str, ...]:
    """The names of the packages below a package, in alphabetical order; imports none of them."""
    return tuple(sorted(each.name for each in iter_modules(import_module(package).__path__) if each.ispkg))


def _provider(package: str) -> Provider | None:
    found = getattr(import_module(package), "PROVIDER", None)
    return found if isinstance(found, Provider) else None
