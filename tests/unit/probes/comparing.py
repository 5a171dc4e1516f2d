"""An expectation in a plain envelope, an answer to it, and what the comparison of the two says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.envelopes.envelope import Envelope
from catalog_probe.catalog.model import Exchange, Json, Reason, Request, Response, Severity
from catalog_probe.catalog.reading.expected import Expected
from catalog_probe.probes.judging.comparison.compare import compare

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Finding

SCHEMA: dict[str, Json] = {
    "type": "object",
    "properties": {"error": {"type": "object", "properties": {"message": {"type": "string"}}, "required": ["type"]}},
    "required": ["error"],
}
WIRE = {
    "type": "/error/type",
    "code": "/error/code",
    "param": "/error/param",
    "message": "/error/message",
    "http_status": "/error/status",
}
ENVELOPE = Envelope("e", SCHEMA, WIRE, "json")
FINE: dict[str, Json] = {"error": {"type": "overloaded_error", "message": "Overloaded", "status": 529}}


def wanted(**stated: Any) -> Expected:
    return Expected(**{"label": "answer", "address": "pa/errors/x/y", "envelope": ENVELOPE, "status": 529, **stated})


def came(body: Json = FINE, status: int | None = 529, body_type: str = "json", **more: Any) -> Response:
    return Response(status, body=body, body_type=body_type, **more)


def found(expected: Expected, response: Response | None, failure: Reason | None = None) -> list[Finding]:
    return list(compare(expected, Exchange("answer", Request("GET", "https://x"), response, failure)))


def told(expected: Expected, response: Response | None, failure: Reason | None = None) -> list[tuple[Json, ...]]:
    """Of each finding the key without its label, the code, and what was documented and observed."""
    findings = found(expected, response, failure)
    assert all(each.label == "answer" and each.severity is Severity.MUST for each in findings)
    return [(each.assertion.removeprefix("answer/"), each.code, each.documented, each.observed) for each in findings]
