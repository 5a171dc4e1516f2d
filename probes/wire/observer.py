"""What of an exchange becomes evidence: in stand-ins, redacted, and with its times. The same for every wire."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog.model import Exchange, Reason, Request, Response
from catalog.model.clock import ms_since

if TYPE_CHECKING:
    from catalog.model import Json
    from probes.target.dialect import Dialect
    from probes.wire.redact import Redactor


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
