"""Responses as a socket knows them: the one that is being told, those that are done, and where one was cut short."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core.shelves import Shelf
from catalog_probe.mockserver.pc.generation.answering import Body, Kept, keep, said_in
from catalog_probe.mockserver.pc.generation.echo import tokens

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from catalog_probe.mockserver.pc.call import Call

_WORD = re.compile(r"\S+\s*|\s+")
STEERED = "steered"


@dataclass
class Made:
    """One response. `steered` is what its client wants to hear about instead, `injected` what it is to take in."""

    call: Call
    asked: Body
    response: Body
    active: bool = True
    steered: str | None = None
    injected: list[str] = field(default_factory=list)

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
        usage = {**self.response["usage"], "output_tokens": tokens(said)}
        usage["total_tokens"] = usage["input_tokens"] + usage["output_tokens"]
        self.response |= {
            "status": "incomplete",
            "incomplete_details": {"reason": STEERED},
            "output": [{**item, "status": "incomplete", "content": [part]}],
            "usage": usage,
        }


class Known:
    """What a socket can go on from: its own responses, whether stored or not, and those that are stored."""

    def __init__(self, call: Call) -> None:
        self._kept = call.session.state(Kept)
        self._project = call.project.id
        self._active: dict[str, Made] = {}
        self.own: Shelf[str, Body] = Shelf()

    def begin(self, made: Made) -> None:
        """Remember a response that is being told."""
        self._active[made.id] = made

    def end(self, made: Made, *, failed: bool = False) -> None:
        """It is done; what did not fail can be gone on from, beyond the socket unless its client asked otherwise."""
        made.active = False
        del self._active[made.id]
        if not failed:
            self.own[made.id] = made.response
            keep(made.call, made.asked, made.response)

    def has(self, response_id: str) -> bool:
        """Whether there is a response of that id that is done."""
        return response_id in self.own or self._kept.find(response_id, self._project) is not None

    def active(self, response_id: str) -> Made | None:
        """The response of that id, if it is still being told."""
        return self._active.get(response_id)


def succeeding(made: Made) -> Mapping[str, Any]:
    """What is asked by steering a response: the same, about something else, and going on from it."""
    return {**made.asked, "input": made.steered, "previous_response_id": made.id}
