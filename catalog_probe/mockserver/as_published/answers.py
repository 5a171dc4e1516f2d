"""A whole answer, and the contradictions that change it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any


@dataclass(frozen=True)
class RequestHead:
    """A request without its body: its path below the prefix, and lower-case headers."""

    method: str
    path: str
    headers: Mapping[str, str]


@dataclass(frozen=True)
class WholeAnswer:
    """A complete answer; header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @cached_property
    def json(self) -> Any:
        """The body as JSON; None if it is none."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None

    @property
    def error(self) -> Mapping[str, Any]:
        """The error object of an envelope `{error: {…}}`; empty without one."""
        error = self.json.get("error") if isinstance(self.json, dict) else None
        return error if isinstance(error, dict) else {}

    def replace(
        self, *, status: int | None = None, headers: Mapping[str, str | None] | None = None, json_body: Any = None
    ) -> WholeAnswer:
        """Return a copy with another status, other headers (None removes one) or body."""
        all_headers = {**self.headers, **(headers or {})}
        return WholeAnswer(
            self.status if status is None else status,
            {name: value for name, value in all_headers.items() if value is not None},
            self.body if json_body is None else encode_json(json_body),
        )

    def replace_error(self, *, status: int | None = None, **members: Any) -> WholeAnswer:
        """Return a copy with other members in its error object; `...` removes one."""
        error = {name: value for name, value in {**self.error, **members}.items() if value is not ...}
        return self.replace(status=status, json_body={**self.json, "error": error})


def encode_json(value: Any) -> bytes:
    """Write a value as compact JSON."""
    return json.dumps(value, separators=(",", ":")).encode()


Change = Callable[[RequestHead, WholeAnswer], WholeAnswer | None]
"""Returns the published form of a documented answer; None if they do not differ."""


@dataclass(frozen=True)
class Contradiction:
    """One difference between documents and published answers.

    The docstring of its function tells it.

    Args:
        name: unique for the provider.
        change: changes a whole answer.
        change_block: changes a block of an event stream, given without the blank line at its end.
    """

    name: str
    change: Change | None = None
    change_block: Callable[[str], str] | None = None
