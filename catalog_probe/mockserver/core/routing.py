"""Routing for providers: a route table in which each provider gives its own answers to unknown paths and methods."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from starlette.routing import compile_path

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Mapping

Endpoint = TypeVar("Endpoint")


class Route(NamedTuple, Generic[Endpoint]):
    """One row of a table. Paths are written as Starlette writes them: `/v1/files/{file_id}`, `/v1/{rest:path}`."""

    method: str
    path: str
    endpoint: Endpoint


@dataclass(frozen=True, slots=True)
class Found(Generic[Endpoint]):
    """What a path and a method lead to. `known_path` tells a wrong method from a wrong path."""

    endpoint: Endpoint | None = None
    params: dict[str, str] = field(default_factory=dict)
    of_path: Mapping[str, Endpoint] = field(default_factory=dict)
    """The endpoints of the path by method."""

    @property
    def known_path(self) -> bool:
        """Whether any method leads somewhere on this path."""
        return bool(self.of_path)


class Router(Generic[Endpoint]):
    """Finds the endpoint of a request; answering is the provider's own business."""

    def __init__(self, routes: Iterable[Route[Endpoint]]) -> None:
        self._fixed: dict[str, dict[str, Endpoint]] = {}
        patterns: dict[str, dict[str, Endpoint]] = {}
        for method, path, endpoint in routes:
            table = patterns if "{" in path else self._fixed
            if method in table.setdefault(path, {}):
                raise ValueError(f"two routes for {method} {path}")
            table[path][method] = endpoint
        self._patterns: list[tuple[re.Pattern[str], dict[str, Endpoint]]] = [
            (compile_path(path)[0], methods) for path, methods in patterns.items()
        ]

    def find(self, scope: Any) -> Found[Endpoint]:
        """The endpoint for the scope's method and path below the mount; a HEAD request is a GET."""
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        path = scope["path"][len(scope.get("root_path", "")) :]
        fixed = self._fixed.get(path)
        methods, params = self._match(path) if fixed is None else (fixed, {})
        return Found(methods.get(method), params, methods) if methods is not None else Found()

    def _match(self, path: str) -> tuple[dict[str, Endpoint] | None, dict[str, str]]:
        for pattern, methods in self._patterns:
            match = pattern.match(path)
            if match:
                return methods, match.groupdict()
        return None, {}
