"""Endpoint tables: which method and path a handler serves; each provider answers itself what is in no row."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from starlette.routing import compile_path


@dataclass(frozen=True)
class Endpoint:
    """A row of a provider's endpoint table, to which the provider adds the credential that it needs.

    Paths are written as Starlette writes them: `/v1/files/{file_id}`, `/v1/{rest:path}`.
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
class Found(Generic[Row]):
    """What a path and a method lead to. `known_path` tells a wrong method from a wrong path."""

    row: Row | None = None
    params: dict[str, str] = field(default_factory=dict)
    of_path: Mapping[str, Row] = field(default_factory=dict)
    """The rows of the path by method."""

    @property
    def known_path(self) -> bool:
        """Whether any method leads somewhere on this path."""
        return bool(self.of_path)


class Router(Generic[Row]):
    """Finds the row of a request."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._fixed: dict[str, dict[str, Row]] = {}
        patterns: dict[str, dict[str, Row]] = {}
        for row in rows:
            table = patterns if "{" in row.path else self._fixed
            if row.method in table.setdefault(row.path, {}):
                raise ValueError(f"two rows for {row.method} {row.path}")
            table[row.path][row.method] = row
        self._patterns: list[tuple[re.Pattern[str], dict[str, Row]]] = [
            (compile_path(path)[0], methods) for path, methods in patterns.items()
        ]

    def find(self, scope: Any) -> Found[Row]:
        """The row for the scope's method and path below the mount; a HEAD request is a GET."""
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        path = scope["path"][len(scope.get("root_path", "")) :]
        fixed = self._fixed.get(path)
        methods, params = self._match(path) if fixed is None else (fixed, {})
        return Found(methods.get(method), params, methods) if methods is not None else Found()

    def _match(self, path: str) -> tuple[dict[str, Row] | None, dict[str, str]]:
        for pattern, methods in self._patterns:
            match = pattern.match(path)
            if match:
                return methods, match.groupdict()
        return None, {}
