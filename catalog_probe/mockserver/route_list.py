"""The routes of all hosts, for readers of an unexpected 404."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core.routing import Router

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from catalog_probe.mockserver.core.providers import Mount


class RouteList:
    """The routes of all hosts, by prefix."""

    def __init__(self, mounts: Iterable[Mount]) -> None:
        self._routes = {mount.prefix: mount.routes for mount in mounts if mount.routes}

    def list_all(self) -> dict[str, list[str]]:
        """List each host's endpoints as `POST /pc/v1/responses`, by path."""
        return {
            prefix: [
                f"{row.method} /{prefix}{row.path}" for row in sorted(routes, key=lambda row: (row.path, row.method))
            ]
            for prefix, routes in self._routes.items()
        }

    def find_unserved(self, counts: Mapping[str, int]) -> dict[str, int]:
        """Return the counted requests (`POST /pc/v1/x`: 3) that have no route."""
        routers = {prefix: Router[Any](routes) for prefix, routes in self._routes.items()}
        return {request: count for request, count in counts.items() if not _is_served(routers, request)}


def _is_served(routers: Mapping[str, Router[Any]], request: str) -> bool:
    """Whether a request has a route, or is no HTTP request to a known host."""
    method, _, path = request.partition(" ")
    prefix, _, rest = path.removeprefix("/").partition("/")
    if prefix not in routers or method == "WS":
        return True
    return routers[prefix].find({"method": method, "path": f"/{rest}"}).row is not None
