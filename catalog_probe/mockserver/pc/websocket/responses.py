"""The responses of a WebSocket, and how one is steered (1:6)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core.echo import count_tokens
from catalog_probe.mockserver.core.stores import BoundedStore
from catalog_probe.mockserver.pc.generation.response import Body, output_text, store, stored_responses

if TYPE_CHECKING:
    from catalog_probe.mockserver.pc.call import Call

_WORD = re.compile(r"\S+\s*|\s+")
STEERED = "steered"


@dataclass
class SocketResponse:
    """A response. `new_input` is the input with which the client steers it."""

    call: Call
    request_body: Body
    body: Body
    active: bool = True
    new_input: str | None = None

    @property
    def id(self) -> str:
        return str(self.body["id"])

    def words(self) -> Iterator[str]:
        """Yield the words of its text."""
        return (match[0] for match in _WORD.finditer(output_text(self.body)))

    def truncate(self, text: str) -> None:
        """End it as incomplete: it was steered after this text (1:3)."""
        (item,) = self.body["output"]
        part = {**item["content"][0], "text": text}
        usage = {**self.body["usage"], "output_tokens": count_tokens(text)}
        usage["total_tokens"] = usage["input_tokens"] + usage["output_tokens"]
        self.body |= {
            "status": "incomplete",
            "incomplete_details": {"reason": STEERED},
            "output": [{**item, "status": "incomplete", "content": [part]}],
            "usage": usage,
        }

    def make_successor(self) -> Mapping[str, Any]:
        """Return the request body of the response that continues it after steering."""
        return {**self.request_body, "input": self.new_input, "previous_response_id": self.id}


@dataclass
class SocketResponses:
    """The active responses of a WebSocket, and those that are done, stored or not."""

    call: Call
    active: dict[str, SocketResponse] = field(default_factory=dict)
    done: BoundedStore[str, Body] = field(default_factory=BoundedStore)

    def begin(self, response: SocketResponse) -> None:
        """Add an active response."""
        self.active[response.id] = response

    def end(self, response: SocketResponse, *, failed: bool = False) -> None:
        """End a response; one that did not fail can be continued."""
        response.active = False
        del self.active[response.id]
        if not failed:
            self.done[response.id] = response.body
            store(response.call, response.request_body, response.body)

    def has(self, response_id: str) -> bool:
        """Return whether a response of this id is done."""
        return response_id in self.done or response_id in stored_responses(self.call)
