"""The names of events and messages, as clients dispatch on them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.model.exchange import DEFAULT_EVENT_NAME

if TYPE_CHECKING:
    from collections.abc import Iterable

    from catalog_probe.catalog.model import Event, Json


def stated_type(data: Json) -> str | None:
    """Return the type that the data of an event or message states, or None."""
    if not isinstance(data, dict):
        return None
    value = data.get("type") or data.get("event_type")
    return value if isinstance(value, str) else None


def name_message(message: Json, message_names: Iterable[str] = ()) -> str:
    """Return a socket message's name: its known member, else its stated type, else its first member.

    >>> name_message({"traceId": "t_1", "goAway": {"timeLeft": "10s"}}, ["setupComplete", "goAway"])
    'goAway'
    >>> name_message({"type": "response.created", "sequence_number": 0})
    'response.created'
    """
    if not isinstance(message, dict):
        return DEFAULT_EVENT_NAME
    name = find_member_name(message, message_names) or stated_type(message)
    return name if name is not None else str(next(iter(message), DEFAULT_EVENT_NAME))


def name_event_by_data(event: Event, message_names: Iterable[str] = ()) -> Event:
    """Return a recorded event under its known member, or if it has no name, under the type that its data states."""
    name = find_member_name(event.data, message_names)
    if name is None and event.event == DEFAULT_EVENT_NAME:
        name = stated_type(event.data)
    return event if name is None else replace(event, event=name)


def find_member_name(data: Json, message_names: Iterable[str]) -> str | None:
    """Return the first of the known names that is a member of the data, wherever it stands; None if none is."""
    return next((name for name in message_names if name in data), None) if isinstance(data, dict) else None
