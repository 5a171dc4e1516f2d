"""A run as real ones are: every outcome, streams, sockets, gRPC, attempts, hostile text, forty runs before it."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from catalog.evidence import (
    Aspect,
    Attempt,
    Close,
    Event,
    Exchange,
    Finding,
    GrpcStatus,
    Outcome,
    Reason,
    Request,
    Response,
    Result,
    ResultsWriter,
    Run,
    Severity,
)
from reports import history

TODAY = date(2026, 11, 21)
HOSTILE = (
    "</script><script>window.ran=1</script><img src=x onerror=window.ran=1><style>body{display:none}</style>"
    "<base href=//evil.example><svg onload=window.ran=1> [click](javascript:window.ran=1) "
    "![x](http://evil.example/x.png) @everyone #1 `tick` ``two`` | a | b | \x1b[31mred\x1b[0m paid\u202egnp.exe\u2066 \u200bhid\u200dden "
    "]]> {{ 7*7 }} ${HOME} $(id)"
)
FAMILIES = {
    "pa": {
        "endpoints": {"messages": 9, "models": 4, "compliance": 16},
        "errors": {"general": 52, "compliance": 38, "admin": 9},
    },
    "pb": {
        "endpoints": {"generate": 8, "interactions": 4, "live": 2},
        "errors": {"http": 34, "interactions": 16, "live": 12},
    },
    "pc": {
        "endpoints": {"responses": 9, "platform": 12},
        "errors": {"general": 61, "stream": 14, "websocket": 14, "oauth": 5},
    },
    "pd": {"endpoints": {"inference": 11, "management": 9}, "errors": {"inference": 41, "management": 18, "grpc": 12}},
}
WORDS = (
    "invalid_request missing_max_tokens unknown_field model_not_found overloaded rate_limit_error permission_denied "
    "authentication_error not_found request_too_large timeout_error api_error bad_version_header empty_messages "
    "context_length_exceeded insufficient_quota unsupported_value conflict invalid_cursor scope_missing"
).split()


def addresses() -> Iterator[str]:
    """The addresses of a catalog of some four hundred records."""
    for provider, kinds in FAMILIES.items():
        for kind, families in kinds.items():
            for family, number in families.items():
                for index in range(number):
                    word = WORDS[index % len(WORDS)]
                    yield f"{provider}/{kind}/{family}/{word}" + (
                        f"_{index // len(WORDS) + 1}" if index >= len(WORDS) else ""
                    )
        yield f"{provider}/rate_limits/limits/requests_per_minute"
        yield f"{provider}/rate_limits/limits/tokens_per_minute"


def run(**changes: Any) -> Run:
    """A live run with forty runs before it."""
    described: dict[str, Any] = {
        "run": "20261121T040212Z-live-3f9a",
        "target": "live",
        "live": True,
        "started_at": "2026-11-21T04:02:12Z",
        "today": TODAY.isoformat(),
        "providers": ("pa", "pb", "pc", "pd"),
        "expected": ("pa", "pb", "pc"),
        "policy": {"allow": ["free"], "kinds": [], "update": True},
        "versions": {"python": "3.11.2", "httpx": "0.28.1", "pytest": "9.0.1"},
        "catalog_digest": "5f2b9c0d1e3a",
    }
    return Run(**{**described, **changes})


def full() -> tuple[Run, list[Result]]:
    """The run and its results; the same every time."""
    results = list(_results())
    lines: list[dict[str, Any]] = []
    for back in range(40, 0, -1):
        day = TODAY - timedelta(days=back)
        earlier = run(
            run=f"{day:%Y%m%d}T040100Z-live-{back:04x}",
            started_at=f"{day.isoformat()}T04:01:00Z",
            today=day.isoformat(),
            history=tuple(lines[-history.SHOWN :]),
        )
        lines.append(
            history.row(earlier, [_earlier(result, back) for result in results if not _is_added(result, back)])
        )
    shown = tuple(lines[-history.SHOWN :])
    return run(history=shown, previous_run=history.previous(shown)), results


def write(folder: Path, described: Run, results: list[Result]) -> Path:
    """Write a run's folder as the suite leaves it, without its views."""
    with ResultsWriter(folder / "results.jsonl", described) as writer:
        for result in results:
            writer.append(result.to_json())
    return folder


def many(number: int) -> tuple[Run, list[Result]]:
    """A catalog far larger than ours will be, a twentieth of it drifted."""
    dice = random.Random(number)
    results = []
    for index in range(number):
        provider = "abcd"[index % 4]
        address = f"p{provider}/errors/family_{index % 29}/{WORDS[index % len(WORDS)]}_{index}"
        if dice.random() < 0.05:
            results.append(_drifted(address, dice))
        else:
            results.append(_conforming(address, dice))
    lines: list[dict[str, Any]] = []
    for back in range(29, 0, -1):
        day = TODAY - timedelta(days=back)
        earlier = run(run=f"r{back}", started_at=f"{day.isoformat()}T04:01:00Z", today=day.isoformat())
        lines.append(history.row(earlier, [Result(each.record, {}, Outcome.CONFORMS) for each in results]))
    shown = [
        {key: value for key, value in line.items() if key != "addresses" or not at} for at, line in enumerate(lines)
    ]
    return run(history=tuple(shown), previous_run="r1"), results


def result(address: str, outcome: Outcome = Outcome.CONFORMS, **changes: Any) -> Result:
    """One small result, for tests that need no more."""
    described = {"probed": record(address), "outcome": outcome, "observed_at": f"{TODAY.isoformat()}T04:05:00Z"}
    return Result(record=address, **{**described, **changes})


def finding(code: str = "status-differs", **changes: Any) -> Finding:
    described: dict[str, Any] = {
        "code": code,
        "aspect": Aspect.STATUS,
        "severity": Severity.MUST,
        "message": "status: documented 400, observed 422",
        "label": "answer",
        "documented": 400,
        "observed": 422,
    }
    return Finding(**{**described, **changes})


def record(address: str, **fields: Any) -> dict[str, Any]:
    """What the catalog says at an address."""
    provider, kind, family, slug = address.split("/")
    shared = {"provider": provider.upper(), "status": ["DOCUMENTED", "LIVE_VERIFIED"]}
    if kind == "endpoints":
        described = {
            **shared,
            "method": "POST",
            "path": f"/v1/{family}",
            "name": slug.replace("_", " "),
            "auth": {"header": "x-api-key", "roles": ["inference"], "missing": None, "wrong": None},
            "verification": {"result": "conforms", "verified_at": "2026-11-16", "target": "live"},
            "sources": [f"1:4.1#{family}"],
        }
    elif kind == "rate_limits":
        described = {
            **shared,
            "record_type": "rate_limits",
            "documented": {"rpm": 50},
            "retrieved_at": "2026-11-12",
            "sources": ["2:8.1"],
        }
    else:
        described = {
            **shared,
            "name": slug.replace("_", " "),
            "http_status": 400,
            "type": "invalid_request_error",
            "category": "invalid_request",
            "message_semantics": "The request body is missing a required field, or a field has the wrong type.",
            "retryable": False,
            "recommended_action": "Mend the request; sending it again cannot help.",
            "backoff": None,
            "endpoints": [f"{provider}/endpoints/messages/invalid_request"],
            "response_headers": {"x-should-retry": {"rule": "equals", "value": "false", "source": "2:7.1"}},
            "observed": {"verified_at": "2026-11-16", "endpoint": "/v1/messages", "param": None, "note": None},
            "source": f"2:7.3#{slug}",
        }
    return {**described, **fields}


def exchange(label: str = "answer", **changes: Any) -> Exchange:
    described: dict[str, Any] = {
        "label": label,
        "request": Request(
            "POST",
            "https://api.pa.example/v1/messages",
            {"x-api-key": "${PA_API_KEY}", "pa-version": "2023-06-01", "content-type": "application/json"},
            {"model": "small-1", "max_tokens": 1, "messages": [{"role": "user", "content": "it's"}]},
        ),
        "response": Response(
            400,
            {
                "content-type": "application/json",
                "request-id": "req_011CSHoEeqs5C35K2UUqR7Fy",
                "x-should-retry": "false",
            },
            {"type": "error", "error": {"type": "invalid_request_error", "message": "max_tokens: Field required"}},
            "json",
        ),
        "started_ms": 0.4,
        "elapsed_ms": 38.2,
    }
    return Exchange(**{**described, **changes})


def _results() -> Iterator[Result]:
    dice = random.Random(7)
    special = dict(_special(dice))
    for address in addresses():
        if address in special:
            yield special[address]
        elif address.startswith("pd/") and ("management" in address or "grpc" in address):
            reason = Reason("credential-missing", "set PD_MANAGEMENT_KEY")
            yield result(
                address,
                Outcome.NOT_PROBED,
                reason=reason,
                observed_at="",
                probed=record(address, status=["DOCUMENTED"]),
            )
        elif address.startswith("pa/errors/admin"):
            yield result(
                address,
                Outcome.RESTRICTED,
                reason=Reason("permission-refused", "the control GET /v1/organizations/me was answered 403"),
            )
        else:
            yield _conforming(address, dice)


def _special(dice: random.Random) -> Iterator[tuple[str, Result]]:
    for address in (
        "pa/errors/general/overloaded",
        "pa/errors/general/rate_limit_error",
        "pa/errors/compliance/rate_limit_error",
    ):
        wrong = finding(
            "header-differs",
            aspect=Aspect.HEADER,
            at="x-should-retry",
            documented="false",
            observed="true",
            message="header x-should-retry: documented false, observed true",
        )
        yield address, _drifted(address, dice, wrong)
    address = "pc/errors/general/missing_max_tokens"
    documented = {
        "error": {
            "message": "Missing required parameter: 'model'.",
            "type": "invalid_request_error",
            "param": "model",
            "code": None,
        }
    }
    observed = {
        "error": {
            "message": "you must provide a model parameter",
            "type": "invalid_request_error",
            "param": None,
            "code": "missing",
        }
    }
    body = finding(
        "body-shape",
        aspect=Aspect.BODY,
        at="$.error",
        documented=documented,
        observed=observed,
        message="body $.error: documented {...}, observed {...}",
    )
    status = finding()
    other = finding(
        "matches-another-record",
        aspect=Aspect.STATE,
        severity=Severity.INFO,
        message="this is pc/errors/general/invalid_request",
        documented=address,
        observed="pc/errors/general/invalid_request",
    )
    yield address, _drifted(address, dice, status, body, other)
    address = "pb/errors/http/unknown_field"
    hostile = finding(
        "message-differs",
        aspect=Aspect.MESSAGE,
        at=HOSTILE[:80],
        documented="Unknown name",
        observed=HOSTILE,
        message=f"message: {HOSTILE}",
    )
    response = Response(
        400,
        {"x-<b>evil</b>": HOSTILE.replace("\x1b", "")},
        {"error": {"message": HOSTILE, HOSTILE[:30]: [HOSTILE]}},
        "json",
    )
    yield address, _drifted(address, dice, hostile, exchanges=(exchange(response=response),))
    yield from _streams(dice)
    address = "pc/errors/oauth/invalid_request"
    yield (
        address,
        _drifted(
            address,
            dice,
            finding(
                "param-differs",
                aspect=Aspect.PARAM,
                at="param",
                documented="grant_type",
                observed=None,
                message="param: documented grant_type, observed null",
            ),
            ledger={
                "state": "accounted",
                "reason": "Confirmed by the provider; their fix is due in December.",
                "review_by": "2026-12-15",
            },
        ),
    )
    address = "pc/errors/general/timeout_error"
    attempts = tuple(
        Attempt(
            f"2026-11-21T04:0{number}:00Z",
            50.0,
            (exchange(response=Response(status, {}, {"error": {"message": "hm"}}, "json")),),
        )
        for number, status in enumerate((400, 500, 400), start=1)
    )
    yield (
        address,
        result(
            address,
            Outcome.FLAKY,
            reason=Reason("attempts-differ", "conforms, then drifted (status-differs), then conforms"),
            findings=(finding(documented=400, observed=500, message="status: documented 400, observed 500"),),
            attempts=attempts,
            lane="pc:inference",
        ),
    )
    address = "pd/errors/inference/scope_missing"
    yield (
        address,
        result(
            address,
            Outcome.HARNESS_ERROR,
            reason=Reason("recipe-error", "KeyError: 'id' in probes/recipes/pd/inference.py:88"),
        ),
    )
    for address in ("pb/errors/live/overloaded", "pb/errors/live/timeout_error", "pb/errors/live/api_error"):
        failed = exchange(response=None, failure=Reason("read-timeout", "no answer within 30 s"), elapsed_ms=30000.0)
        yield (
            address,
            result(
                address,
                Outcome.INCONCLUSIVE,
                reason=Reason("read-timeout", "GET https://api.pb.example/v1beta/models: no answer within 30 s"),
                attempts=(Attempt("2026-11-21T04:09:00Z", 30010.0, (failed,)),),
                lane="pb:inference",
            ),
        )
    address = "pa/errors/general/unknown_field"
    info = finding(
        "undocumented-header",
        aspect=Aspect.HEADER,
        severity=Severity.INFO,
        at="x-envoy-upstream-service-time",
        documented=None,
        observed="31",
        message="x-envoy-upstream-service-time: not named by the documents",
    )
    yield address, _conforming(address, dice, info)


def _streams(dice: random.Random) -> Iterator[tuple[str, Result]]:
    events = tuple(
        Event(name, {"type": name, "delta": {"text": "é"}}, at)
        for name, at in (
            ("message_start", 180.0),
            ("ping", 190.0),
            ("content_block_delta", 240.0),
            ("content_block_delta", 262.0),
        )
    )
    cut = exchange(
        response=Response(200, {"content-type": "text/event-stream"}, events=events, ended="cut"), elapsed_ms=300.0
    )
    address = "pc/errors/stream/api_error"
    yield (
        address,
        _drifted(
            address,
            dice,
            finding(
                "event-missing",
                aspect=Aspect.EVENT,
                at="error",
                documented="error",
                observed=["message_start", "ping"],
                message="event error: documented error, observed [...]",
            ),
            exchanges=(exchange("setup", elapsed_ms=22.0), cut),
        ),
    )
    frames = (
        Event("response.create", {"type": "response.create", "model": "none"}, 12.0, sent=True),
        Event("error", {"type": "error", "status": 400}, 80.0),
    )
    socket = exchange(
        request=Request("GET", "wss://api.pc.example/v1/responses", {"authorization": "Bearer ${PC_API_KEY}"}),
        response=Response(101, {}, events=frames, close=Close(1011, "internal", clean=False)),
    )
    address = "pc/errors/websocket/api_error"
    yield (
        address,
        _drifted(
            address,
            dice,
            finding(
                "close-code-differs",
                aspect=Aspect.CLOSE,
                at="code",
                documented=1008,
                observed=1011,
                message="close code: documented 1008, observed 1011",
            ),
            exchanges=(socket,),
        ),
    )
    call = exchange(
        request=Request(
            "GRPC",
            "https://grpc.pd.example:443/xai_api.Chat/GetCompletion",
            {"authorization": "Bearer ${PD_API_KEY}"},
            {"model": "nope"},
        ),
        response=Response(None, {}, grpc=GrpcStatus(5, "Model not found", {"x-request-id": "1f"})),
    )
    address = "pd/errors/grpc/model_not_found"
    yield (
        address,
        _drifted(
            address,
            dice,
            finding(
                "grpc-status-differs",
                at="grpc",
                documented=3,
                observed=5,
                message="status grpc: documented 3, observed 5",
            ),
            exchanges=(call,),
        ),
    )


def _conforming(address: str, dice: random.Random, *findings: Finding) -> Result:
    took = dice.lognormvariate(3.9, 0.5)
    lane = f"{address[:2]}:inference"
    attempt = Attempt("2026-11-21T04:05:00Z", took + 1, (exchange(elapsed_ms=round(took, 3)),))
    return result(address, findings=findings, attempts=(attempt,), lane=lane, cost="free", elicited="request")


def _drifted(
    address: str, dice: random.Random, *findings: Finding, exchanges: tuple[Exchange, ...] = (), **changes: Any
) -> Result:
    attempts = tuple(
        Attempt(
            f"2026-11-21T04:0{number}:00Z",
            dice.uniform(60, 340),
            exchanges or (exchange("setup", elapsed_ms=20.0), exchange(started_ms=22.0)),
        )
        for number in (5, 7)
    )
    described = {
        "findings": findings or (finding(),),
        "attempts": attempts,
        "lane": f"{address[:2]}:inference",
        "cost": "free",
        "elicited": "request",
    }
    return result(address, Outcome.DRIFTED, **{**described, **changes})


_BACK = {
    "pa/errors/general/rate_limit_error": 4,
    "pc/errors/oauth/invalid_request": 20,
    "pc/errors/websocket/api_error": 12,
    "pd/errors/grpc/model_not_found": 60,
}
_FIXED = {"pb/errors/interactions/not_found": 3, "pa/endpoints/models/invalid_request": 9}


def _earlier(now: Result, back: int) -> Result:
    """What the same record's result was, so many days before."""
    if now.record in _FIXED and back <= _FIXED[now.record]:
        return result(now.record, Outcome.DRIFTED, findings=(finding(),))
    if now.outcome is Outcome.DRIFTED and back > _BACK.get(now.record, 0):
        return result(now.record)
    if back % 11 == 0 and now.record.startswith("pb/"):
        return result(now.record, Outcome.INCONCLUSIVE, reason=Reason("unasked-overload"))
    if now.outcome in (Outcome.INCONCLUSIVE, Outcome.FLAKY, Outcome.HARNESS_ERROR):
        return result(now.record)
    return now if not now.record.startswith("pa/errors/general/unknown_field") else result(now.record)


def _is_added(now: Result, back: int) -> bool:
    return now.record.startswith("pd/errors/inference/") and now.record.endswith("_3") and back < 60


def spread() -> list[str]:
    """The addresses, for tests that want a few of every kind."""
    return list(itertools.islice(addresses(), 0, None, 7))
