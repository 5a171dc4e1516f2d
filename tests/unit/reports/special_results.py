"""Results of the sample run that are not ordinary: a drift of every aspect, and unobserved records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.model import (
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
    Severity,
)
from catalog_probe.catalog.model.assertion import Observation
from tests.unit.reports.factories import MEANINGS, make_answer, make_exchange, make_finding, make_result

if TYPE_CHECKING:
    from collections.abc import Iterator

    from catalog_probe.catalog.evidence.results import Result

HOSTILE = (
    "</script><script>window.ran=1</script><img src=x onerror=window.ran=1><style>body{display:none}</style>"
    "<base href=//evil.example><svg onload=window.ran=1> [click](javascript:window.ran=1) "
    "![x](http://evil.example/x.png) @everyone #1 `tick` ``two`` | a | b | \x1b[31mred\x1b[0m paid\u202egnp.exe"
    "\u2066 \u200bhid\u200dden ]]> {{ 7*7 }} ${HOME} $(id)"
)
"""One text that tries everything: markup, script, style, Markdown, terminal colours, reordering, templates, shells."""


def list_special_results() -> Iterator[Result]:
    """Each of them, once."""
    yield from _make_should_retry_drifts()
    yield _make_merged_drift()
    yield _make_hostile_drift()
    yield _make_stream_drift()
    yield _make_socket_drift()
    yield _make_grpc_drift()
    yield _make_accepted_drift()
    yield _make_flaky_result()
    yield _make_harness_error()
    yield from _make_inconclusive_results()
    yield _make_discovery()


def make_drift(address: str, *findings: Finding, exchanges: tuple[Exchange, ...] = (), **changes: Any) -> Result:
    """A drift that two attempts agreed on."""
    exchanges_sent = exchanges or (make_exchange("setup", elapsed_ms=20.0), make_exchange(started_ms=22.0))
    elapsed_ms = max(exchange.started_ms + exchange.elapsed_ms for exchange in exchanges_sent) + 1
    attempts = tuple(Attempt(f"2026-11-21T04:0{number}:00Z", elapsed_ms, exchanges_sent) for number in (5, 7))
    defaults = {
        "findings": findings or (make_finding(),),
        "attempts": attempts,
        "lane": f"{address[:2]}:inference",
        "cost": "free",
        "trigger": "request",
    }
    return make_result(address, Outcome.DRIFTED, **{**defaults, **changes})


def _make_should_retry_drifts() -> Iterator[Result]:
    for address in (
        "pa/errors/general/overloaded",
        "pa/errors/general/rate_limit_error",
        "pa/errors/compliance/rate_limit_error",
    ):
        status, kind, meaning, _ = MEANINGS[address.rpartition("/")[2]]
        wrong = make_finding(
            "header-differs",
            aspect=Aspect.HEADER,
            location="x-should-retry",
            documented="false",
            observed="true",
        )
        yield make_drift(
            address,
            wrong,
            exchanges=(make_exchange(response=make_answer(status, kind, meaning, x_should_retry="true")),),
        )


def _make_merged_drift() -> Result:
    """Two differences and the record whose answer it is; the body is structured."""
    address = "pc/errors/general/missing_max_tokens"
    error = {"type": "invalid_request_error", "param": "model", "code": None}
    documented = {"error": {"message": "Missing required parameter: 'model'.", **error}}
    observed = {"error": {**error, "message": "you must provide a model parameter", "param": None, "code": "missing"}}
    body = make_finding(
        "body-shape",
        aspect=Aspect.BODY,
        location="$.error",
        documented=documented,
        observed=observed,
    )
    match = make_finding(
        "matches-another-record",
        aspect=Aspect.STATE,
        severity=Severity.INFO,
        remark="this is pc/errors/general/invalid_request",
        documented=address,
        observed="pc/errors/general/invalid_request",
    )
    request = Request(
        "POST",
        "https://api.pc.example/v1/responses",
        {"authorization": "Bearer ${PC_API_KEY}", "content-type": "application/json"},
        {"input": "hi", "max_output_tokens": 16},
    )
    response = Response(422, {"content-type": "application/json", "x-request-id": "req_8f2"}, observed, "json")
    return make_drift(
        address, make_finding(), body, match, exchanges=(make_exchange(request=request, response=response),)
    )


def _make_hostile_drift() -> Result:
    wrong = make_finding(
        "message-differs",
        aspect=Aspect.MESSAGE,
        location=HOSTILE[:80],
        documented="Unknown name",
        observed=HOSTILE,
    )
    body = {"error": {"message": HOSTILE, HOSTILE[:30]: [HOSTILE]}}
    response = Response(400, {"x-<b>evil</b>": HOSTILE}, body, "json")
    return make_drift("pb/errors/http/unknown_field", wrong, exchanges=(make_exchange(response=response),))


def _make_stream_drift() -> Result:
    times = {"message_start": 180.0, "ping": 190.0, "content_block_start": 240.0, "content_block_delta": 262.0}
    events = tuple(Event(name, {"type": name, "delta": {"text": "é"}}, at) for name, at in times.items())
    response = Response(200, {"content-type": "text/event-stream"}, events=events, ended="cut")
    missing = make_finding(
        "event-missing",
        aspect=Aspect.EVENT,
        location="error",
        documented="error",
        observed=list(times),
    )
    return make_drift(
        "pc/errors/stream/api_error",
        missing,
        exchanges=(
            make_exchange("setup", elapsed_ms=22.0),
            make_exchange(response=response, started_ms=24.0, elapsed_ms=300.0),
        ),
    )


def _make_socket_drift() -> Result:
    frames = (
        Event("response.create", {"type": "response.create", "model": "none"}, 12.0, sent=True),
        Event("error", {"type": "error", "status": 400}, 80.0),
    )
    request = Request("GET", "wss://api.pc.example/v1/responses", {"authorization": "Bearer ${PC_API_KEY}"})
    response = Response(101, {}, events=frames, close=Close(1011, "internal", clean=False))
    wrong = make_finding(
        "close-code-differs",
        aspect=Aspect.CLOSE,
        location="code",
        documented=1008,
        observed=1011,
    )
    return make_drift(
        "pc/errors/websocket/api_error",
        wrong,
        exchanges=(make_exchange(request=request, response=response, elapsed_ms=96.0),),
    )


def _make_grpc_drift() -> Result:
    request = Request(
        "GRPC",
        "https://grpc.pd.example:443/xai_api.Chat/GetCompletion",
        {"authorization": "Bearer ${PD_API_KEY}"},
        {"model": "nope"},
    )
    response = Response(None, {}, grpc=GrpcStatus(5, "Model not found", {"x-request-id": "1f"}))
    wrong = make_finding(
        "grpc-status-differs",
        location="grpc",
        documented=3,
        observed=5,
    )
    return make_drift(
        "pd/errors/grpc/model_not_found", wrong, exchanges=(make_exchange(request=request, response=response),)
    )


def _make_accepted_drift() -> Result:
    wrong = make_finding(
        "param-differs",
        aspect=Aspect.PARAM,
        location="param",
        documented="grant_type",
        observed=None,
    )
    reason = "Confirmed by the provider; their fix is due in December."
    accepted_difference = {"state": "accounted", "reason": reason, "review_by": "2026-12-15"}
    return make_drift("pc/errors/oauth/invalid_request", wrong, accepted_difference=accepted_difference)


def _make_flaky_result() -> Result:
    attempts = tuple(
        Attempt(f"2026-11-21T04:0{number}:00Z", 50.0, (make_exchange(response=make_answer(status, "api_error", "hm")),))
        for number, status in enumerate((504, 500, 504), start=1)
    )
    return make_result(
        "pc/errors/general/timeout_error",
        Outcome.FLAKY,
        reason=Reason("attempts-differ", "conforms, then drifted (status-differs), then conforms"),
        findings=(make_finding(documented=504, observed=500),),
        attempts=attempts,
        lane="pc:inference",
    )


def _make_harness_error() -> Result:
    reason = Reason("recipe-error", "KeyError: 'id' in probes/recipes/pd/inference.py:88")
    return make_result("pd/errors/inference/scope_missing", Outcome.HARNESS_ERROR, reason=reason, observed_at="")


def _make_inconclusive_results() -> Iterator[Result]:
    reason = Reason("read-timeout", "GET https://api.pb.example/v1beta/models: no answer within 30 s")
    failed = make_exchange(response=None, failure=Reason("read-timeout", "no answer within 30 s"), elapsed_ms=30000.0)
    attempts = (Attempt("2026-11-21T04:09:00Z", 30010.0, (failed,)),)
    for slug in ("overloaded", "timeout_error", "api_error"):
        yield make_result(
            f"pb/errors/live/{slug}",
            Outcome.INCONCLUSIVE,
            reason=reason,
            attempts=attempts,
            lane="pb:inference",
            observed_at="",
        )


def _make_discovery() -> Result:
    """It conforms, shows something that the documents do not name, and is not in all as we assumed."""
    info = make_finding(
        "undocumented-header",
        aspect=Aspect.HEADER,
        severity=Severity.INFO,
        location="x-envoy-upstream-service-time",
        documented=None,
        observed="31",
        remark="x-envoy-upstream-service-time: not named by the documents",
    )
    attempts = (Attempt("2026-11-21T04:05:00Z", 40.0, (make_exchange(),)),)
    assumed = make_finding(
        "param-differs",
        aspect=Aspect.PARAM,
        severity=Severity.SHOULD,
        location="param",
        documented="max_tokens",
        observed="messages",
        assertion="answer/param",
    )
    matched = ("status", "type", "header:x-should-retry")
    mismatched = {"param": "messages"}
    observation = Observation(
        "pa/endpoints/messages/invalid_request", "answer", matched, mismatched, {"message": "no-body"}
    )
    return make_result(
        "pa/errors/general/unknown_field",
        findings=(info, assumed),
        attempts=attempts,
        lane="pa:inference",
        trigger="request",
        observations=(observation, Observation("", "again", ("status",), {}, {"header:retry-after": "not-shown"})),
    )
