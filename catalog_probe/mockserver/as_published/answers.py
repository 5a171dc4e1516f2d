"""An answer on its way out, and the contradictions that change it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any


@dataclass(frozen=True)
class Asked:
    """What a request was, as an edge sees it: path below the provider's prefix, header names in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]


@dataclass(frozen=True)
class Answer:
    """A whole answer; header names in lower case. It is never changed, only replaced."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @cached_property
    def json(self) -> Any:
        """The body as JSON; None where it is none."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None

    @property
    def error(self) -> Mapping[str, Any]:
        """The error object of an envelope `{error: {…}}`; empty where there is none."""
        found = self.json.get("error") if isinstance(self.json, dict) else None
        return found if isinstance(found, dict) else {}

    def but(
        self, *, status: int | None = None, headers: Mapping[str, str | None] | None = None, json_body: Any = None
    ) -> Answer:
        """The same with another status, other headers (None takes one away) or another body."""
        kept = {**self.headers, **(headers or {})}
        return Answer(
            self.status if status is None else status,
            {name: value for name, value in kept.items() if value is not None},
            self.body if json_body is None else as_json(json_body),
        )

    def but_error(self, *, status: int | None = None, **changes: Any) -> Answer:
        """The same with other members in its error object; one that becomes `...` is left out."""
        error = {name: value for name, value in {**self.error, **changes}.items() if value is not ...}
        return self.but(status=status, json_body={**self.json, "error": error})


def as_json(value: Any) -> bytes:
    """A value as compact JSON."""
    return json.dumps(value, separators=(",", ":")).encode()


Changes = Callable[[Asked, Answer], Answer | None]
"""The answer as it is in the field, or None where it is as documented."""


@dataclass(frozen=True)
class Contradiction:
    """One thing that the documents say and published answers do not show.

    Args:
        name: what it is called, unique for the provider.
        documented: what the documents say, with section.
        shown: what published answers show.
        changes: the answer that shows it, from the one that is as documented.
        block: the same for one block of an event stream, its text without the blank line at its end.
    """

    name: str
    documented: str
    shown: str
    changes: Changes | None = None
    block: Callable[[str], str] | None = None
