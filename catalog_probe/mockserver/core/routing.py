"""Endpoint tables, and the router that finds a request's row in one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from starlette.routing import compile_path


@dataclass(frozen=True)
class Endpoint:
    """A row of an endpoint table; providers add the credential that it needs.

    Paths are written as in Starlette: `/v1/files/{file_id}`, `/v1/{rest:path}`.
    """

    method: str
    path: str
    handler: Callable[..., Any]
    section: str


class PathRow(Protocol):
    """A row that the router can find."""

    @property
    def method(self) -> str: ...

    @property
    def path(self) -> str: ...


Row = TypeVar("Row", bound=PathRow)


@dataclass(frozen=True, slots=True)
class RouteMatch(Generic[Row]):
    """The row of a request if there is one, its parameters, and the rows of its path."""

    row: Row | None = None
    params: dict[str, str] = field(default_factory=dict)
    rows_by_method: Mapping[str, Row] = field(default_factory=dict)

    @property
    def is_known_path(self) -> bool:
        """Whether the path has a row for any method, so that only the method is wrong."""
        return bool(self.rows_by_method)


class Router(Generic[Row]):
    """Finds the row of a request."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._fixed: dict[str, dict[str, Row]] = {}
        templates: dict[str, dict[str, Row]] = {}
        for row in rows:
            table = templates if "{" in row.path else self._fixed
            if row.method in table.setdefault(row.path, {}):
                raise ValueError(f"two rows for {row.method} {row.path}")
            table[row.path][row.method] = row
        self._patterns: list[tuple[re.Pattern[str], dict[str, Row]]] = [
            (compile_path(path)[0], methods) for path, methods in templates.items()
        ]

    def find(self, scope: Any) -> RouteMatch[Row]:
        """Match the scope's method and path below the mount; a HEAD request is a GET."""
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        path = scope["path"][len(scope.get("root_path", "")) :]
        if path in self._fixed:
            return RouteMatch(self._fixed[path].get(method), {}, self._fixed[path])
        for pattern, methods in self._patterns:
            match = pattern.match(path)
            if match:
                return RouteMatch(methods.get(method), match.groupdict(), methods)
        return RouteMatch()
