"""Make an expectation in a plain envelope and an answer to it, and compare the two."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.envelopes import Envelope
from catalog_probe.catalog.model import Exchange, Json, Reason, Request, Response, Severity
from catalog_probe.catalog.reading.expectations import Expected
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
OVERLOADED_BODY: dict[str, Json] = {"error": {"type": "overloaded_error", "message": "Overloaded", "status": 529}}


def make_expected(**changes: Any) -> Expected:
    return Expected(**{"label": "answer", "address": "pa/errors/x/y", "envelope": ENVELOPE, "status": 529, **changes})


def make_response(
    body: Json = OVERLOADED_BODY, status: int | None = 529, body_type: str = "json", **fields: Any
) -> Response:
    return Response(status, body=body, body_type=body_type, **fields)


def find_differences(expected: Expected, response: Response | None, failure: Reason | None = None) -> list[Finding]:
    return list(compare(expected, Exchange("answer", Request("GET", "https://x"), response, failure)))


def summarize_findings(
    expected: Expected, response: Response | None, failure: Reason | None = None
) -> list[tuple[Json, ...]]:
    """List the findings as (key without its label, code, documented, observed)."""
    findings = find_differences(expected, response, failure)
    assert all(finding.label == "answer" and finding.severity is Severity.MUST for finding in findings)
    return [
        (finding.assertion.removeprefix("answer/"), finding.code, finding.documented, finding.observed)
        for finding in findings
    ]
