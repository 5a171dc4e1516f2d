"""Responses as a socket knows them: the one that is being made, those that are done, and what they are on the wire."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mockserver.pc.responses import Kept
from mockserver.pc.websocket.model import tokens

if TYPE_CHECKING:
    from mockserver.pc.keys import Project
    from mockserver.sessions import Session

IN_PROGRESS, COMPLETED, INCOMPLETE = "in_progress", "completed", "incomplete"


@dataclass
class Made:
    """One response. `steered` is what its client wants to hear about instead, `injected` what it is to take in."""

    id: str
    item_id: str
    asked: Mapping[str, Any]
    heard: str
    created_at: int
    text: str = ""
    status: str = IN_PROGRESS
    reason: str | None = None
    steered: str | None = None
    injected: list[str] = field(default_factory=list)

    @property
    def active(self) -> bool:
        return self.status == IN_PROGRESS

    def end(self, reason: str | None = None) -> None:
        """Complete, or incomplete for a reason (1:3)."""
        self.status = INCOMPLETE if reason else COMPLETED
        self.reason = reason

    def over_budget(self) -> bool:
        """Whether it has said as much as it may."""
        limit = self.asked.get("max_output_tokens")
        return limit is not None and tokens(self.text) >= limit

    def part(self) -> dict[str, Any]:
        return {"type": "output_text", "text": self.text, "annotations": [], "logprobs": []}

    def item(self) -> dict[str, Any]:
        """Its one output item."""
        content = [] if self.active else [self.part()]
        return {
            "id": self.item_id,
            "type": "message",
            "role": "assistant",
            "status": self.status,
            "content": content,
        }

    def on_the_wire(self) -> dict[str, Any]:
        """The response object (1:2.6)."""
        asked = self.asked
        counts = {"input_tokens": tokens(self.heard), "output_tokens": tokens(self.text)}
        usage = {
            **counts,
            "total_tokens": sum(counts.values()),
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        }
        return {
            "id": self.id,
            "object": "response",
            "created_at": self.created_at,
            "status": self.status,
            "error": None,
            "incomplete_details": {"reason": self.reason} if self.reason else None,
            "instructions": asked.get("instructions"),
            "max_output_tokens": asked.get("max_output_tokens"),
            "metadata": asked.get("metadata") or {},
            "model": asked["model"],
            "output": [] if self.active else [self.item()],
            "parallel_tool_calls": asked.get("parallel_tool_calls", True),
            "previous_response_id": asked.get("previous_response_id"),
            "store": asked.get("store") is not False,
            "temperature": asked.get("temperature", 1.0),
            "tool_choice": asked.get("tool_choice") or "auto",
            "tools": asked.get("tools") or [],
            "top_p": asked.get("top_p", 1.0),
            "truncation": asked.get("truncation") or "disabled",
            "usage": None if self.active else usage,
        }


class Known:
    """What a socket can go on from: its own responses, whether stored or not, and those that are stored."""

    def __init__(self, session: Session, project: Project) -> None:
        self._stored = session.state(Kept).responses
        self._project = project.id
        self._own: dict[str, Made] = {}

    def begin(self, made: Made) -> None:
        """Remember a response while its socket lasts."""
        self._own[made.id] = made

    def store(self, made: Made) -> None:
        """Remember one that is done beyond that, unless its client asked otherwise."""
        if made.asked.get("store") is not False:
            self._stored[made.id] = (self._project, made.on_the_wire())

    def has(self, response_id: str) -> bool:
        """Whether there is a response of that id."""
        return response_id in self._own or self._stored.get(response_id, ("",))[0] == self._project

    def active(self, response_id: str) -> Made | None:
        """The response of that id, if it is still being made."""
        made = self._own.get(response_id)
        return made if made is not None and made.active else None
