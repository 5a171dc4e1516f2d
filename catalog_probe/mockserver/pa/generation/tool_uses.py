"""One use of a server tool: what the model asks of it, and the rows by which it fails (2:7.3 "other PA facts")."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from catalog_probe.mockserver.pa.call import Call


@dataclass(frozen=True)
class Use:
    """The circumstances: the request, the tool as it is configured, the how-manieth use it is, and what it is for."""

    call: Call
    body: Mapping[str, Any]
    tool: Mapping[str, Any]
    number: int
    argument: str

    @property
    def is_exhausted(self) -> bool:
        """Whether the request's `max_uses` is already spent."""
        limit = self.tool.get("max_uses")
        return limit is not None and self.number > limit


class Failure(NamedTuple):
    """A row: the `error_code` of the result block, and when a use comes to it."""

    code: str
    happens: Callable[[Use], bool]


class Directive(NamedTuple):
    """What one verb makes the model do."""

    tool: str
    """The tool that must be offered."""
    block: str
    """The name that its blocks carry."""
    failures: tuple[Failure, ...]
    """The first that happens counts."""
    read_input: Callable[[Use], dict[str, Any]]
    answer: Callable[[Use], Any]
    """The content of the result block."""
