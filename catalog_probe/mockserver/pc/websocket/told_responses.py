"""Responses as a socket knows them: those that are being told, those that are done, and where one was cut short."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core.echo import count_tokens
from catalog_probe.mockserver.core.stores import BoundedStore
from catalog_probe.mockserver.pc.generation.response import Body, said_in, store, stored_responses

if TYPE_CHECKING:
    from catalog_probe.mockserver.pc.gateway import Call

_WORD = re.compile(r"\S+\s*|\s+")
STEERED = "steered"


@dataclass
class ToldResponse:
    """One response. `steered` is what its client wants to hear about instead."""

    call: Call
    asked: Body
    response: Body
    active: bool = True
    steered: str | None = None

    @property
    def id(self) -> str:
        return str(self.response["id"])

    def words(self) -> Iterator[str]:
        """What it says, word by word; nothing where it calls functions."""
        return (match[0] for match in _WORD.finditer(said_in(self.response)))

    def cut(self, said: str) -> None:
        """End it as incomplete, for it was steered when so much was said (1:3)."""
        (item,) = self.response["output"]
        part = {**item["content"][0], "text": said}
        usage = {**self.response["usage"], "output_tokens": count_tokens(said)}
        usage["total_tokens"] = usage["input_tokens"] + usage["output_tokens"]
        self.response |= {
            "status": "incomplete",
            "incomplete_details": {"reason": STEERED},
            "output": [{**item, "status": "incomplete", "content": [part]}],
            "usage": usage,
        }

    def successor(self) -> Mapping[str, Any]:
        """What is asked by steering it: the same, about something else, and going on from it."""
        return {**self.asked, "input": self.steered, "previous_response_id": self.id}


@dataclass
class ToldResponses:
    """What a socket can go on from: its own responses, whether stored or not, and those that are stored."""

    call: Call
    active: dict[str, ToldResponse] = field(default_factory=dict)
    own: BoundedStore[str, Body] = field(default_factory=BoundedStore)

    def begin(self, told: ToldResponse) -> None:
        """Remember a response that is being told."""
        self.active[told.id] = told

    def end(self, told: ToldResponse, *, failed: bool = False) -> None:
        """It is done; what did not fail can be gone on from, beyond the socket unless its client asked otherwise."""
        told.active = False
        del self.active[told.id]
        if not failed:
            self.own[told.id] = told.response
            store(told.call, told.asked, told.response)

    def has(self, response_id: str) -> bool:
        """Whether there is a response of that id that is done."""
        return response_id in self.own or response_id in stored_responses(self.call)
