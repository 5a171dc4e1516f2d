"""Makes exchanges of what was sent and received, for every wire.

They are in stand-in names, and have times.

Nothing is redacted here. Who keeps or shows an exchange redacts it (`probes/wire/redaction`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Event, Exchange, Reason, Request, Response
from catalog_probe.catalog.model.clock import ms_since
from catalog_probe.probes.wire.body import parse_body

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from catalog_probe.catalog.model import Json
    from catalog_probe.probes.targets.dialect import Dialect


@dataclass(frozen=True, slots=True)
class Observer:
    """Translates the real names in requests and answers into stand-ins."""

    dialect: Dialect | None = None
    """None where nothing is renamed: over gRPC a target sets only the package."""

    def translate_headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        """Translate headers, or metadata."""
        return self.dialect.headers_in(headers) if self.dialect else dict(headers)

    def translate_json(self, value: Json) -> Json:
        """Translate a JSON value, or a text."""
        return self.dialect.json_in(value) if self.dialect else value

    def parse_body(self, raw: bytes) -> tuple[Json, str]:
        """Return the value of a body and its type: `json`, `text`, `binary` or `empty`."""
        value, body_type = parse_body(raw)
        return self.translate_json(value), body_type

    def translate_events(self, events: Iterable[Event]) -> tuple[Event, ...]:
        """Translate the events of a stream; what we sent is in stand-ins already."""
        return tuple(event if event.sent else replace(event, data=self.translate_json(event.data)) for event in events)

    def make_request(self, method: str, url: str, headers: Mapping[str, str], body: Json = None) -> Request:
        """Make a request of its URL and headers as sent, and its body as written."""
        url = self.dialect.url_in(url) if self.dialect else url
        return Request(method=method, url=url, headers=self.translate_headers(headers), body=body)

    def make_exchange(
        self, label: str, request: Request, outcome: Response | Reason, *, started: float, since: float
    ) -> Exchange:
        """Make an exchange that has just ended.

        `started` and `since` are readings of `time.perf_counter`.
        """
        return Exchange(
            label=label,
            request=request,
            response=outcome if isinstance(outcome, Response) else None,
            failure=outcome if isinstance(outcome, Reason) else None,
            started_ms=round((started - since) * 1000, 3),
            elapsed_ms=ms_since(started),
        )
