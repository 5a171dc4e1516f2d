"""How an answer travels as an event, a frame, a close or a gRPC status: the `stream` of a record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Json, Record


@dataclass(frozen=True, slots=True)
class StreamRule:
    """The documented form of an answer in a stream."""

    protocol: str
    """`sse`, `websocket` or `grpc`."""
    event: str | None = None
    """The name of the event or frame that contains the answer."""
    terminal: str | None = None
    """The event that must come last."""
    events: tuple[str, ...] = ()
    """Events that must occur in this order; others may come between them."""
    close_code: tuple[int, int] | None = None
    """The documented close code, as a range that includes both ends."""
    close_clean: bool | None = None
    close_reason: bool = False
    """Whether the close must give a reason."""
    grpc_status: int | None = None

    @property
    def describes_close(self) -> bool:
        """Whether anything is documented about how the provider closes."""
        return self.close_code is not None or self.close_clean is not None or self.close_reason


def parse_stream_rule(field: Json) -> StreamRule | None:
    """Parse a `stream` field; None if it names no protocol."""
    if not isinstance(field, dict) or "protocol" not in field:
        return None
    return StreamRule(
        protocol=field["protocol"],
        event=field.get("event"),
        terminal=field.get("terminal"),
        events=tuple(field.get("events") or ()),
        close_code=_parse_range(field.get("close_code")),
        close_clean=field.get("close_clean"),
        close_reason=field.get("close_reason", False),
        grpc_status=field.get("grpc_status"),
    )


def parse_streaming(field: Json) -> StreamRule | None:
    """Parse the `streaming` field of an endpoint; None if it names no protocol, for a bare `true` does not say how.

    Members that only a `stream` field defines are no rules here, e.g. `{"protocol": "sse", "event": 5}`.
    """
    if not isinstance(field, dict):
        return None
    return parse_stream_rule({name: field[name] for name in ("protocol", "events", "terminal") if name in field})


def event_names(record: Record) -> frozenset[str]:
    """Return every event and frame that a record names."""
    response = record.data.get("response")
    rules = (
        parse_stream_rule(record.data.get("stream")),
        parse_streaming(record.data.get("streaming")),
        parse_stream_rule(response.get("stream") if isinstance(response, dict) else None),
    )
    return frozenset(name for rule in rules if rule for name in (rule.event, rule.terminal, *rule.events) if name)


def _parse_range(code: Json) -> tuple[int, int] | None:
    if isinstance(code, int):
        return (code, code)
    return (code[0], code[1]) if code else None
