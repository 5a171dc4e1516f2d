"""What a server tool is given, and what it can come to: a result or a failure with its `error_code` (2:7.3)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.mockserver.pa.call import Call


@dataclass(frozen=True)
class Setting:
    """The circumstances of one use: the request, the tool as configured, and the how-manieth use of it this is."""

    call: Call
    body: Mapping[str, Any]
    tool: Mapping[str, Any]
    use: int

    @property
    def exhausted(self) -> bool:
        """Whether the request's `max_uses` is already spent."""
        limit = self.tool.get("max_uses")
        return isinstance(limit, int) and self.use > limit


@dataclass(frozen=True)
class Outcome:
    """What the tool was asked, and the content of its result block."""

    input: dict[str, Any] = field(default_factory=dict)
    content: Any = None


@dataclass(frozen=True)
class ToolFailure(Outcome):
    """A failure: the message is still a success, the result block carries the code."""

    code: str = ""

    def __init__(self, code: str, input: dict[str, Any] | None = None) -> None:
        object.__setattr__(self, "code", code)
        object.__setattr__(self, "input", input or {})
        object.__setattr__(self, "content", None)
