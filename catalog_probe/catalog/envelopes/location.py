"""Locations of values in an exchange: in the answer's body, headers or events, or in the request."""

from __future__ import annotations

import re
from typing import NamedTuple, Self

ANY_EVENT = "*"
"""As the name of an event: every event."""

_LOCATION = re.compile(
    r"(?P<body>(?:/.*)?)|(?P<kind>header|ask/header|ask/query|ask/path):(?P<name>[^:/]+)"
    r"|(?P<request_body>ask/body)(?P<request_pointer>:/.*)?"
    r"|(?P<event>event)(?::(?P<event_name>[^/]+)(?P<event_pointer>/.*)?)?"
    r"|(?P<sent_event>ask/event):(?P<sent_name>[^/]+)(?P<sent_pointer>/.*)?",
    re.DOTALL,
)

LOCATION_FORMS = (
    "/a/json/pointer, header:NAME, event:NAME/pointer, ask/query:NAME, ask/header:NAME, ask/path:NAME, "
    "ask/body:/pointer or ask/event:NAME/pointer"
)
"""How a location is written, for messages."""


class Location(NamedTuple):
    """A location as a record writes it: `/data/*/id`, `header:request-id`, `event:error/code`, `ask/query:limit`."""

    kind: str
    """`body`, `header` or `event`; of the request `ask/query`, `ask/header`, `ask/body`, `ask/path` (the value of a
    `{name}` in the endpoint's path) or `ask/event` (a frame that we sent)."""
    name: str
    """The name of the header, parameter or event."""
    pointer: str = ""
    """The JSON pointer into the body or the event's data."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse a location.

        Raises:
            ValueError: with one line that says how a location is written.
        """
        match = _LOCATION.fullmatch(text)
        if match is None:
            raise ValueError(f"{text!r} is no place in an exchange: write {LOCATION_FORMS}")
        if match["kind"]:
            return cls(match["kind"], match["name"])
        if match["request_body"]:
            return cls("ask/body", "", (match["request_pointer"] or ":")[1:])
        if match["sent_event"]:
            return cls("ask/event", match["sent_name"], match["sent_pointer"] or "")
        if match["event"]:
            return cls("event", match["event_name"] or "", match["event_pointer"] or "")
        return cls("body", "", text)

    @property
    def is_text(self) -> bool:
        """Whether its values are always text, even if they look like numbers: `limit=2`."""
        return self.kind in ("header", "ask/query", "ask/header", "ask/path")
