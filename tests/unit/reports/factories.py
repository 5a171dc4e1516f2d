"""Factories of runs, results, findings, exchanges and record data."""

from __future__ import annotations

from datetime import date
from typing import Any

from catalog_probe.catalog.evidence.results import Result, Run
from catalog_probe.catalog.model import Aspect, Exchange, Finding, Outcome, Request, Response, Severity
from catalog_probe.catalog.model.exchange import AnsweredBy

TODAY = date(2026, 11, 21)

MEANINGS = {
    "overloaded": (529, "overloaded_error", "The provider is overloaded for all users at the moment.", True),
    "rate_limit_error": (429, "rate_limit_error", "A rate limit of the organization was reached.", True),
    "model_not_found": (404, "not_found_error", "No model of that name is visible to this key.", False),
    "timeout_error": (504, "timeout_error", "The request took longer than the provider allows.", True),
    "api_error": (500, "api_error", "An unexpected fault inside the provider.", True),
    "permission_denied": (403, "permission_error", "The key may not use this resource.", False),
    "scope_missing": (403, "permission_error", "The key lacks the scope that the endpoint needs.", False),
}
PLAIN = (400, "invalid_request_error", "A required field is missing, or a field has the wrong type.", False)


def make_run(**changes: Any) -> Run:
    """A live run without a past."""
    defaults: dict[str, Any] = {
        "run": "20261121T040212Z-live-3f9a",
        "target": "live",
        "live": True,
        "started_at": "2026-11-21T04:02:12Z",
        "today": TODAY.isoformat(),
        "providers": ("pa", "pb", "pc", "pd"),
        "policy": {"allow": ["free"], "kinds": [], "update": True},
        "versions": {"python": "3.11.2", "httpx": "0.28.1", "pytest": "9.0.1"},
        "catalog_digest": "5f2b9c0d1e3a",
    }
    mock_defaults = {} if changes.get("live", True) else {"answered_by": AnsweredBy.MOCK}
    return Run(**{**defaults, **mock_defaults, **changes})


def make_result(address: str, outcome: Outcome = Outcome.CONFORMS, **changes: Any) -> Result:
    defaults = {
        "probed_record": make_record_data(address),
        "outcome": outcome,
        "observed_at": f"{TODAY.isoformat()}T04:05:00Z",
    }
    return Result(record=address, **{**defaults, **changes})


def make_finding(code: str = "status-differs", **changes: Any) -> Finding:
    fields: dict[str, Any] = {
        "code": code,
        "aspect": Aspect.STATUS,
        "severity": Severity.MUST,
        "label": "answer",
        "documented": 400,
        "observed": 422,
    }
    fields |= changes
    suffix = f":{fields['location']}" if fields.get("location") else ""
    key = f"{fields['label']}/{fields['aspect']}{suffix}"
    return Finding(**{"assertion": key, **fields})


def make_exchange(label: str = "answer", **changes: Any) -> Exchange:
    defaults: dict[str, Any] = {
        "label": label,
        "request": Request(
            "POST",
            "https://api.pa.example/v1/messages",
            {"x-api-key": "${PA_API_KEY}", "pa-version": "2023-06-01", "content-type": "application/json"},
            {"model": "small-1", "max_tokens": 1, "messages": [{"role": "user", "content": "it's"}]},
        ),
        "response": make_answer(400, "invalid_request_error", "max_tokens: Field required"),
        "started_ms": 0.4,
        "elapsed_ms": 38.2,
    }
    return Exchange(**{**defaults, **changes})


def make_answer(status: int, kind: str, message: str, **headers: str) -> Response:
    """An error in an envelope, with the headers that go with it."""
    sent = {
        "content-type": "application/json",
        "request-id": "req_011CSHoEeqs5C35K2UUqR7Fy",
        "x-should-retry": "false",
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    return Response(status, sent, {"type": "error", "error": {"type": kind, "message": message}}, "json")


def make_record_data(address: str, **fields: Any) -> dict[str, Any]:
    """What the catalog says at an address."""
    provider, kind, family, slug = address.split("/")
    shared = {"provider": provider.upper(), "status": ["DOCUMENTED", "LIVE_VERIFIED"]}
    make = {"endpoints": _make_endpoint_fields, "errors": _make_error_fields, "rate_limits": _make_rate_limit_fields}[
        kind
    ]
    return {**shared, **make(provider, family, slug), **fields}


def _make_endpoint_fields(provider: str, family: str, slug: str) -> dict[str, Any]:
    return {
        "method": "POST",
        "path": f"/v1/{family}",
        "name": slug.replace("_", " "),
        "auth": {"header": "x-api-key", "roles": ["inference"], "missing": None, "wrong": None},
        "verification": {"result": "conforms", "verified_at": "2026-11-16", "target": "live"},
        "sources": [f"1:4.1#{family}"],
    }


def _make_error_fields(provider: str, family: str, slug: str) -> dict[str, Any]:
    status, kind, meaning, retryable = MEANINGS.get(slug, PLAIN)
    return {
        "name": slug.replace("_", " "),
        "http_status": status,
        "type": kind,
        "category": "rate_limit" if status == 429 else "invalid_request",
        "message_semantics": meaning,
        "retryable": retryable,
        "recommended_action": "Wait, then send it again." if retryable else "Mend the request before sending it again.",
        "backoff": "retry-after, else 0.5 s doubling to 8 s" if retryable else None,
        "endpoints": [f"{provider}/endpoints/messages/invalid_request"],
        "response_headers": {"x-should-retry": {"rule": "equals", "value": "false", "source": "2:7.1"}},
        "observed": {"verified_at": "2026-11-16", "endpoint": "/v1/messages", "param": None, "note": None},
        "source": f"2:7.3#{slug}",
    }


def _make_rate_limit_fields(provider: str, family: str, slug: str) -> dict[str, Any]:
    return {
        "record_type": "rate_limits",
        "documented": {"rpm": 50},
        "retrieved_at": "2026-11-12",
        "sources": ["2:8.1"],
    }
