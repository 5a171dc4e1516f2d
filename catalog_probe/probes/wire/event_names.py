"""The names of events and messages, as clients dispatch on them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.model.exchange import DEFAULT_EVENT_NAME

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Event, Json


def stated_type(data: Json) -> str | None:
    """Return the type that the data of an event or message states, or None."""
    if not isinstance(data, dict):
        return None
    value = data.get("type") or data.get("event_type")
    return value if isinstance(value, str) else None


def name_message(message: Json) -> str:
    """Return a socket message's name: its stated type, else its first field."""
    if not isinstance(message, dict):
        return DEFAULT_EVENT_NAME
    name = stated_type(message)
    return name if name is not None else str(next(iter(message), DEFAULT_EVENT_NAME))


def name_event_by_data(event: Event) -> Event:
    """Return an event without a name under the type that its data states."""
    name = stated_type(event.data) if event.event == DEFAULT_EVENT_NAME else None
    return event if name is None else replace(event, event=name)
