"""What an exchange becomes for those who judge it: in stand-ins, and with its times. The same for every wire.

Nothing is redacted here. Who keeps or shows an exchange redacts it (`probes/wire/redaction`).
"""

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


@dataclass(frozen=True, slots=True)
class Observer:
    """Puts into stand-ins what the other side said."""

    dialect: Dialect | None = None
    """None where nothing is renamed on the way: over gRPC a target sets no more than the package."""

    def headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        """Headers, or metadata, as they came."""
        return self.dialect.headers_in(headers) if self.dialect else dict(headers)

    def json(self, value: Json) -> Json:
        """A JSON value, or a text, as it came."""
        return self.dialect.json_in(value) if self.dialect else value

    def body(self, raw: bytes) -> tuple[Json, str]:
        """A body, and its type: `json`, `text`, `binary` or `empty`."""
        value, body_type = parsed(raw)
        return self.json(value), body_type

    def stream(self, events: Iterable[Event]) -> tuple[Event, ...]:
        """The events of one stream as they came."""
        return tuple(event if event.sent else replace(event, data=self.json(event.data)) for event in events)

    def request(self, method: str, url: str, headers: Mapping[str, str], body: Json = None) -> Request:
        """A request; its address and headers as they went out, its body still as the recipe wrote it."""
        url = self.dialect.url_in(url) if self.dialect else url
        return Request(method=method, url=url, headers=self.headers(headers), body=body)

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
