"""Small catalogs, runs and results for tests: valid unless a test spoils them."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.evidence.drift_identity import observed_class
from catalog_probe.catalog.evidence.results import Result, Run
from catalog_probe.catalog.evidence.results_file import ResultsWriter
from catalog_probe.catalog.model import (
    Address,
    Aspect,
    Attempt,
    Exchange,
    Finding,
    Outcome,
    Reason,
    Record,
    Request,
    Response,
    Severity,
)
from catalog_probe.catalog.model.answered_by import AnsweredBy
from catalog_probe.catalog.model.observation import Observation
from catalog_probe.catalog.reading.assertions import assertions
from catalog_probe.catalog.writeback.canonical_json import format_record_file
from catalog_probe.catalog.writeback.sightings import Sighting

if TYPE_CHECKING:
    from pathlib import Path

ENDPOINT_ADDRESS = "pa/endpoints/messages/create_message"
ERROR_ADDRESS = "pa/errors/general/rate_limit_error"
TWIN_ADDRESS = "pa/errors/general/acceleration_limit"
LIMITS_ADDRESS = "pa/rate_limits/limits/messages"

_HEADERS = {
    "request-id": {"rule": "present", "source": "1:5.1#request-id"},
    "x-should-retry": {"rule": "equals", "value": "false", "source": "2:7.1#retry"},
}

ENDPOINT: dict[str, Any] = {
    "provider": "PA",
    "method": "POST",
    "path": "/v1/messages",
    "surface": "pa_message",
    "status": ["DOCUMENTED"],
    "response": {
        "status": 200,
        "headers": {"request-id": {"rule": "present", "source": "1:5.1#request-id"}},
        "fields": {},
    },
    "sources": ["1:4.1#POST /v1/messages"],
}
ERROR: dict[str, Any] = {
    "provider": "PA",
    "name": "Rate limited",
    "surface": "pa",
    "endpoints": [ENDPOINT_ADDRESS],
    "http_status": 429,
    "type": "rate_limit_error",
    "code": None,
    "category": "rate_limit",
    "message_semantics": "Too many requests.",
    "retryable": True,
    "recommended_action": "Wait, then send it again.",
    "backoff": None,
    "example": None,
    "status": ["DOCUMENTED"],
    "response_headers": _HEADERS,
    "source": "2:7.3#429",
}
LIMITS: dict[str, Any] = {
    "record_type": "rate_limits",
    "provider": "PA",
    "status": ["DOCUMENTED"],
    "sources": ["2:8.1#limits"],
    "documented": {"not_shown": ["Start"]},
}

Content = dict[str, dict[str, dict[str, Any]]]
"""Path below the root -> slug -> record."""


def small_catalog() -> Content:
    """One endpoint, two errors, one record of limits; a fresh copy to spoil."""
    return deepcopy(
        {
            "pa/endpoints/messages.json": {"create_message": ENDPOINT},
            "pa/errors/general.json": {
                "rate_limit_error": {**ERROR},
                "acceleration_limit": {**ERROR},
            },
            "pa/rate_limits.json": {"messages": LIMITS},
        }
    )


def write_catalog(root: Path, content: Content | None = None) -> Path:
    """Write record files in canonical form."""
    for name, records in (content or small_catalog()).items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        parts = name.removesuffix(".json").split("/")
        path.write_text(format_record_file(records, parts[1]), encoding="utf-8")
    return root


def record(address: str = ERROR_ADDRESS, **fields: Any) -> Record:
    """A valid record of the kind that the address names, with some fields changed."""
    data = {"endpoints": ENDPOINT, "errors": ERROR, "rate_limits": LIMITS}[address.split("/")[1]]
    return Record(Address.parse(address), {**deepcopy(data), **fields})


def run(name: str = "r1", today: str = "2026-11-20", *, live: bool = True, target: str = "live") -> Run:
    answered_by = AnsweredBy.PROVIDER if live else AnsweredBy.MOCK
    return Run(
        run=name, target=target, live=live, started_at=f"{today}T00:00:00Z", today=today, answered_by=answered_by
    )


def drift(code: str = "status-differs", aspect: Aspect = Aspect.STATUS, **fields: Any) -> Finding:
    key = f"answer/{aspect}:{fields['location']}" if fields.get("location") else f"answer/{aspect}"
    values = {"message": "differs", "label": "answer", "documented": 429, "observed": 403, "assertion": key}
    return Finding(code, aspect, Severity.MUST, **{**values, **fields})


def exchange(
    status: int = 429, message: str = "Slow down.", label: str = "answer", headers: dict[str, str] | None = None
) -> Exchange:
    body = {"type": "error", "error": {"type": "rate_limit_error", "message": message}}
    names = {"request-id": "req_1", "x-should-retry": "false"} if headers is None else headers
    request = Request("POST", "https://pa.example/v1/messages?beta=true")
    return Exchange(label, request, Response(status, names, body, "json"))


def result(
    outcome: Outcome = Outcome.CONFORMS,
    at: str = "2026-11-20T06:00:00.000Z",
    address: str = ERROR_ADDRESS,
    *,
    findings: tuple[Finding, ...] = (),
    seen: Exchange | None = None,
    probed: Record | None = None,
) -> Result:
    if outcome is Outcome.DRIFTED and not findings:
        findings = (drift(),)
    reason = None if outcome.is_conclusive else Reason("read-timeout", "no answer in 30 s")
    attempts = (Attempt(at, 1.0, (seen,)),) if seen else ()
    observations = observations_of(probed or record(address), findings) if outcome.is_conclusive else ()
    return Result(
        address, dict(probed.data) if probed else {}, outcome, reason, findings, attempts, at, observations=observations
    )


def observations_of(own: Record, findings: tuple[Finding, ...] = ()) -> tuple[Observation, ...]:
    """All that a record states, seen as stated but for the findings that drift."""
    differs = {each.assertion: observed_class(each) for each in findings if each.is_drift}
    keys = [str(each.key) for each in assertions(own, lambda address: record(str(address)))]
    labels = dict.fromkeys(key.partition("/")[0] for key in (*keys, *differs))
    return tuple(
        Observation(
            "",
            label,
            tuple(key.partition("/")[2] for key in keys if key.startswith(f"{label}/") and key not in differs),
            {key.partition("/")[2]: seen for key, seen in differs.items() if key.startswith(f"{label}/")},
        )
        for label in labels
    )


def sighting(
    outcome: Outcome = Outcome.CONFORMS, day: str = "2026-11-20", name: str = "r1", hour: int = 6, **options: Any
) -> Sighting:
    live = options.pop("live", True)
    target = options.pop("target", "live")
    return Sighting(run(name, day, live=live, target=target), result(outcome, f"{day}T{hour:02}:00:00.000Z", **options))


def write_run(folder: Path, described: Run, results: list[Result]) -> Path:
    with ResultsWriter(folder / "results.jsonl", described) as writer:
        for each in results:
            writer.append(each.to_json())
    return folder
