"""How an answer travels that is an event, a frame, a close or a gRPC status: the `stream` of a record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Json, Record


@dataclass(frozen=True, slots=True)
class StreamRule:
    """What the documents say of an answer that travels as an event, a frame, a close or a gRPC status."""

    protocol: str
    """`sse`, `websocket` or `grpc`."""
    event: str | None = None
    """The name of the event or frame that holds the answer."""
    terminal: str | None = None
    """The event that must come last."""
    events: tuple[str, ...] = ()
    """Events that must occur, in this order; others may stand between them."""
    close_code: tuple[int, int] | None = None
    """The documented code, as a range that both ends belong to."""
    close_clean: bool | None = None
    close_reason: bool = False
    """Whether the close must say why."""
    grpc_status: int | None = None

    @property
    def closes(self) -> bool:
        """Whether anything is documented of how the other side closes."""
        return self.close_code is not None or self.close_clean is not None or self.close_reason


def parse_stream_rule(written: Json) -> StreamRule | None:
    """The rule of a `stream` or `streaming` field, or None where it names no protocol: not every `true` says how."""
    if not isinstance(written, dict) or "protocol" not in written:
        return None
    return StreamRule(
        protocol=written["protocol"],
        event=written.get("event"),
        terminal=written.get("terminal"),
        events=tuple(written.get("events") or ()),
        close_code=_range(written.get("close_code")),
        close_clean=written.get("close_clean"),
        close_reason=written.get("close_reason", False),
        grpc_status=written.get("grpc_status"),
    )


def event_names(record: Record) -> frozenset[str]:
    """Every event and frame that a record names."""
    data = record.data
    response = data.get("response")
    written = (
        data.get("stream"),
        data.get("streaming"),
        response.get("stream") if isinstance(response, dict) else None,
    )
    rules = [rule for rule in map(parse_stream_rule, written) if rule is not None]
    return frozenset(name for rule in rules for name in (rule.event, rule.terminal, *rule.events) if name)


def _range(code: Json) -> tuple[int, int] | None:
    if isinstance(code, int):
        return (code, code)
    return (code[0], code[1]) if code else None
