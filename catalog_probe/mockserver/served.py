"""What the mock serves over HTTP, and of what clients asked, what it does not: for who is answered 404 and wonders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core.routing import Router

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from catalog_probe.mockserver.core.providers import Mount


class Served:
    """The routes of all hosts, by their prefixes."""

    def __init__(self, mounts: Iterable[Mount]) -> None:
        self._routes = {each.prefix: each.routes for each in mounts if each.routes}
        self._routers: dict[str, Router[Any]] = {}

    def listing(self) -> dict[str, list[str]]:
        """Each host's endpoints as `POST /pc/v1/responses`, in alphabetical order of their paths."""
        return {
            prefix: [
                f"{each.method} /{prefix}{each.path}" for each in sorted(routes, key=lambda one: (one.path, one.method))
            ]
            for prefix, routes in self._routes.items()
        }

    def unserved(self, counted: Mapping[str, int]) -> dict[str, int]:
        """Of the requests of a session, as they were counted, those that no route of their host leads anywhere."""
        return {asked: number for asked, number in counted.items() if not self._leads_somewhere(asked)}

    def _leads_somewhere(self, asked: str) -> bool:
        """Whether there is a route for it, or it is no request over HTTP to a host whose routes are known."""
        method, _, path = asked.partition(" ")
        prefix, _, rest = path.removeprefix("/").partition("/")
        if prefix not in self._routes or method == "WS":
            return True
        if prefix not in self._routers:
            self._routers[prefix] = Router(self._routes[prefix])
        return self._routers[prefix].find({"method": method, "path": f"/{rest}"}).endpoint is not None
