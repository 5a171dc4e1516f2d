"""Responses as a socket knows them: those that are being told, those that are done, and where one was cut short."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core.echo import count_tokens
from catalog_probe.mockserver.core.stores import BoundedStore
from catalog_probe.mockserver.pc.generation.response import Body, output_text, store, stored_responses

if TYPE_CHECKING:
    from catalog_probe.mockserver.pc.gateway import Call

_WORD = re.compile(r"\S+\s*|\s+")
STEERED = "steered"


@dataclass
class SocketResponse:
    """One response. `new_input` is what its client wants to hear about instead."""

    call: Call
    request_body: Body
    body: Body
    active: bool = True
    new_input: str | None = None

    @property
    def id(self) -> str:
        return str(self.body["id"])

    def words(self) -> Iterator[str]:
        """What it says, word by word; nothing where it calls functions."""
        return (match[0] for match in _WORD.finditer(output_text(self.body)))

    def cut(self, text: str) -> None:
        """End it as incomplete, for it was steered when so much was said (1:3)."""
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

    def successor(self) -> Mapping[str, Any]:
        """What is asked by steering it: the same, about something else, and going on from it."""
        return {**self.request_body, "input": self.new_input, "previous_response_id": self.id}


@dataclass
class SocketResponses:
    """What a socket can go on from: its own responses, whether stored or not, and those that are stored."""

    call: Call
    active: dict[str, SocketResponse] = field(default_factory=dict)
    own: BoundedStore[str, Body] = field(default_factory=BoundedStore)

    def begin(self, response: SocketResponse) -> None:
        """Remember a response that is being told."""
        self.active[response.id] = response

    def end(self, response: SocketResponse, *, failed: bool = False) -> None:
        """It is done; what did not fail can be gone on from, beyond the socket unless its client asked otherwise."""
        response.active = False
        del self.active[response.id]
        if not failed:
            self.own[response.id] = response.body
            store(response.call, response.request_body, response.body)

    def has(self, response_id: str) -> bool:
        """Whether there is a response of that id that is done."""
        return response_id in self.own or response_id in stored_responses(self.call)
