"""Factories of small catalogs, runs and results, all valid unless a test changes them."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.evidence.causes import observed_class
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
from catalog_probe.catalog.model.assertion import Observation
from catalog_probe.catalog.model.exchange import AnsweredBy
from catalog_probe.catalog.reading.assertions import assertions
from catalog_probe.catalog.writeback.record_evidence import Sighting
from catalog_probe.catalog.writeback.writing import format_record_file

if TYPE_CHECKING:
    from pathlib import Path

ENDPOINT_ADDRESS = "pa/endpoints/messages/create_message"
ERROR_ADDRESS = "pa/errors/general/rate_limit_error"
SECOND_ERROR_ADDRESS = "pa/errors/general/acceleration_limit"
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
    "status": ["DOCUMENTED", "UNVERIFIED"],
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
    "status": ["DOCUMENTED", "UNVERIFIED"],
    "response_headers": _HEADERS,
    "source": "2:7.3#429",
}
LIMITS: dict[str, Any] = {
    "record_type": "rate_limits",
    "provider": "PA",
    "status": ["DOCUMENTED", "UNVERIFIED"],
    "sources": ["2:8.1#limits"],
    "documented": {"not_shown": ["Start"]},
}

Content = dict[str, dict[str, dict[str, Any]]]  # path below the root -> slug -> record


def make_small_catalog() -> Content:
    """Make one endpoint, two errors and one record of rate limits; a fresh copy to change."""
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
    """Write record files in canonical form, of the small catalog by default."""
    for name, records in (content or make_small_catalog()).items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        parts = name.removesuffix(".json").split("/")
        path.write_text(format_record_file(records, parts[1]), encoding="utf-8")
    return root


def make_record(address: str = ERROR_ADDRESS, **fields: Any) -> Record:
    """Make a valid record of the kind that the address names, with some fields changed."""
    data = {"endpoints": ENDPOINT, "errors": ERROR, "rate_limits": LIMITS}[address.split("/")[1]]
    return Record(Address.parse(address), {**deepcopy(data), **fields})


def make_run(name: str = "r1", today: str = "2026-11-20", *, live: bool = True, target: str = "live") -> Run:
    answered_by = AnsweredBy.PROVIDER if live else AnsweredBy.MOCK
    return Run(
        run=name, target=target, live=live, started_at=f"{today}T00:00:00Z", today=today, answered_by=answered_by
    )


def make_drift(code: str = "status-differs", aspect: Aspect = Aspect.STATUS, **fields: Any) -> Finding:
    """Make a finding that says that a documented assertion mismatched."""
    key = f"answer/{aspect}:{fields['location']}" if fields.get("location") else f"answer/{aspect}"
    values = {"label": "answer", "documented": 429, "observed": 403, "assertion": key}
    return Finding(code, aspect, Severity.MUST, **{**values, **fields})


def make_exchange(
    status: int = 429, message: str = "Slow down.", label: str = "answer", headers: dict[str, str] | None = None
) -> Exchange:
    body = {"type": "error", "error": {"type": "rate_limit_error", "message": message}}
    names = {"request-id": "req_1", "x-should-retry": "false"} if headers is None else headers
    request = Request("POST", "https://pa.example/v1/messages?beta=true")
    return Exchange(label, request, Response(status, names, body, "json"))


def make_result(
    outcome: Outcome = Outcome.CONFORMS,
    at: str = "2026-11-20T06:00:00.000Z",
    address: str = ERROR_ADDRESS,
    *,
    findings: tuple[Finding, ...] = (),
    exchange: Exchange | None = None,
    probed_record: Record | None = None,
) -> Result:
    if outcome is Outcome.DRIFTED and not findings:
        findings = (make_drift(),)
    reason = None if outcome.is_conclusive else Reason("read-timeout", "no answer in 30 s")
    attempts = (Attempt(at, 1.0, (exchange,)),) if exchange else ()
    observations = observe_everything(probed_record or make_record(address), findings) if outcome.is_conclusive else ()
    return Result(
        address,
        dict(probed_record.data) if probed_record else {},
        outcome,
        reason,
        findings,
        attempts,
        at,
        observations=observations,
    )


def observe_everything(record: Record, findings: tuple[Finding, ...] = ()) -> tuple[Observation, ...]:
    """Observe every assertion of a record as matched, but for those of the findings that drift."""
    mismatched = {finding.assertion: observed_class(finding) for finding in findings if finding.is_drift}
    keys = [str(assertion.key) for assertion in assertions(record, lambda address: make_record(str(address)))]
    matched_by_label: dict[str, list[str]] = {}
    mismatched_by_label: dict[str, dict[str, str]] = {}
    for key in (*keys, *mismatched):
        label, _, local_key = key.partition("/")
        matched_keys = matched_by_label.setdefault(label, [])
        if key in mismatched:
            mismatched_by_label.setdefault(label, {})[local_key] = mismatched[key]
        else:
            matched_keys.append(local_key)
    return tuple(
        Observation("", label, tuple(matched_keys), mismatched_by_label.get(label, {}))
        for label, matched_keys in matched_by_label.items()
    )


def make_sighting(
    outcome: Outcome = Outcome.CONFORMS, day: str = "2026-11-20", name: str = "r1", hour: int = 6, **options: Any
) -> Sighting:
    """Make a result with its run; the options are those of `make_run` and `make_result`."""
    live = options.pop("live", True)
    target = options.pop("target", "live")
    return Sighting(
        make_run(name, day, live=live, target=target), make_result(outcome, f"{day}T{hour:02}:00:00.000Z", **options)
    )


def write_run(folder: Path, run: Run, results: list[Result]) -> Path:
    """Write the results file of a run into its folder, without views."""
    with ResultsWriter(folder / "results.jsonl", run) as writer:
        for result in results:
            writer.append(result.to_json())
    return folder
