"""What of an exchange becomes evidence: in stand-ins, redacted, and with its times. The same for every wire."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Event, Exchange, Reason, Request, Response
from catalog_probe.catalog.model.clock import ms_since
from catalog_probe.probes.wire.body import parsed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from catalog_probe.catalog.model import Json
    from catalog_probe.probes.targets.dialect import Dialect
    from catalog_probe.probes.wire.redaction.redact import Redactor


SHOWN_OF_BINARY = 256
"""Bytes that are kept of what is no text."""


@dataclass(frozen=True, slots=True)
class Observer:
    """Puts into stand-ins what the other side said, hides what is secret in what both said, and keeps it."""

    redactor: Redactor
    dialect: Dialect | None = None
    """None where nothing is renamed on the way: over gRPC a target sets no more than the package."""

    def text(self, text: str) -> str:
        """A text as it stands, without secrets."""
        return self.redactor.text(text)

    def headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        """Headers, or metadata, as they came."""
        return self.redactor.headers(self.dialect.headers_in(headers) if self.dialect else headers)

    def json(self, value: Json) -> Json:
        """A JSON value as it came."""
        return self.redactor.json(self.dialect.json_in(value) if self.dialect else value)

    def body(self, raw: bytes) -> tuple[Json, str]:
        """A body as evidence, and its type: `json`, `text`, `binary` or `empty`."""
        return self.evidence(*parsed(raw))

    def evidence(self, value: Json, body_type: str) -> tuple[Json, str]:
        """What `parsed` made of a body, as evidence, and its type."""
        if body_type == "binary":
            return self.redactor.binary(value, SHOWN_OF_BINARY), body_type
        return self.json(value), body_type

    def stream(self, events: Iterable[Event]) -> tuple[Event, ...]:
        """The events of one stream as they came: all at once, for a secret may stand in several together."""
        told = tuple(events)
        names = self.redactor.stream([event.event for event in told])
        data = self.redactor.stream([self._put_in(event) for event in told])
        return tuple(
            replace(event, event=name, data=shown) for event, name, shown in zip(told, names, data, strict=True)
        )

    def _put_in(self, event: Event) -> Json:
        if isinstance(event.data, bytes):
            return self.redactor.binary(event.data, SHOWN_OF_BINARY)
        return event.data if event.sent or self.dialect is None else self.dialect.json_in(event.data)

    def request(self, method: str, url: str, headers: Mapping[str, str], body: Json = None) -> Request:
        """A request; its address and headers as they went out, its body still as the recipe wrote it."""
        return Request(
            method=method,
            url=self.text(self.dialect.url_in(url) if self.dialect else url),
            headers=self.headers(headers),
            body=self.redactor.json(body),
        )

    def exchange(
        self, label: str, request: Request, seen: Response | Reason, *, started: float, since: float
    ) -> Exchange:
        """A request and what came of it, which has just ended; `started` and `since` read `time.perf_counter`."""
        return Exchange(
            label=label,
            request=request,
            response=seen if isinstance(seen, Response) else None,
            failure=seen if isinstance(seen, Reason) else None,
            started_ms=round((started - since) * 1000, 3),
            elapsed_ms=ms_since(started),
        )
