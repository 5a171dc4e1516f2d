"""Where in an exchange values stand: in the answer's body, headers or events, or in the request that was sent."""

from __future__ import annotations

import re
from typing import NamedTuple, Self

ANY_EVENT = "*"
"""In place of an event's name: each event."""

_PLACE = re.compile(
    r"(?P<body>(?:/.*)?)|(?P<kind>header|ask/header|ask/query|ask/path):(?P<name>[^:/]+)|(?P<asked>ask/body)(?P<sent>:/.*)?"
    r"|(?P<event>event)(?::(?P<of>[^/]+)(?P<data>/.*)?)?|(?P<frame>ask/event):(?P<by>[^/]+)(?P<said>/.*)?",
    re.DOTALL,
)

LOCATION_FORMS = (
    "/a/json/pointer, header:NAME, event:NAME/pointer, ask/query:NAME, ask/header:NAME, ask/path:NAME, "
    "ask/body:/pointer or ask/event:NAME/pointer"
)
"""How a place is written, for whoever wrote it otherwise."""


class Location(NamedTuple):
    """A place, as a record writes it: `/data/*/id`, `header:request-id`, `event:error/code`, `ask/query:limit`.

    `kind` is `body`, `header`, `event`, or for the request that was sent `ask/query`, `ask/header`, `ask/body`,
    `ask/path` (of what stands for a `{name}` of the endpoint's path) or `ask/event` (of a frame that we sent). `name`
    is the header's, parameter's or event's; `pointer` is where in the body or in the event's data.
    """

    kind: str
    name: str
    pointer: str = ""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a place.

        Raises:
            ValueError: with one line saying how a place is written.
        """
        match = _PLACE.fullmatch(text)
        if match is None:
            raise ValueError(f"{text!r} is no place in an exchange: write {LOCATION_FORMS}")
        if match["kind"]:
            return cls(match["kind"], match["name"])
        if match["asked"]:
            return cls("ask/body", "", (match["sent"] or ":")[1:])
        if match["frame"]:
            return cls("ask/event", match["by"], match["said"] or "")
        if match["event"]:
            return cls("event", match["of"] or "", match["data"] or "")
        return cls("body", "", text)

    @property
    def is_text(self) -> bool:
        """Whether what stands there is text whatever it says: `limit=2` is a number only to who reads it as one."""
        return self.kind in ("header", "ask/query", "ask/header", "ask/path")
