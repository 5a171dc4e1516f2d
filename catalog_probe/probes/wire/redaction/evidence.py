"""Redacts what a run keeps: exchanges once they are judged, and verdicts with what they quote of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from catalog_probe.probes.wire.redaction.redactor import TOO_MUCH
from catalog_probe.probes.wire.redaction.work import TooMuchWorkError, Work

if TYPE_CHECKING:
    from catalog_probe.catalog.evidence.results import Result
    from catalog_probe.catalog.model import (
        Attempt,
        Event,
        Exchange,
        Finding,
        GrpcStatus,
        Json,
        Reason,
        Request,
        Response,
    )
    from catalog_probe.catalog.model.assertion import Observation
    from catalog_probe.catalog.model.exchange import Truncation
    from catalog_probe.probes.wire.redaction.redactor import Redactor

_T = TypeVar("_T")


def redact_attempt(attempt: Attempt, redactor: Redactor) -> Attempt:
    """Return an attempt as it may be kept."""
    return replace(attempt, exchanges=tuple(redact_exchange(exchange, redactor) for exchange in attempt.exchanges))


def redact_exchange(exchange: Exchange, redactor: Redactor) -> Exchange:
    """Return an exchange as it may be kept. What takes too much work to search is hidden whole, and says so."""
    return replace(
        exchange,
        request=_redact_request(exchange.request, redactor, Work()),
        response=exchange.response and _redact_response(exchange.response, redactor, Work()),
        failure=exchange.failure and redact_reason(exchange.failure, redactor),
    )


def redact_reason(reason: Reason, redactor: Redactor) -> Reason:
    """Return a reason as it may be shown."""
    return replace(reason, detail=redactor.redact_sentence(reason.detail))


def redact_result(result: Result, redactor: Redactor) -> Result:
    """Return a result whose attempts are redacted already, with all that its verdict quotes redacted too."""
    return replace(
        result,
        reason=result.reason and redact_reason(result.reason, redactor),
        findings=tuple(_redact_finding(finding, redactor) for finding in result.findings),
        observations=tuple(_redact_observation(observation, redactor) for observation in result.observations),
    )


def _redact_finding(finding: Finding, redactor: Redactor) -> Finding:
    work = Work()
    return replace(
        finding,
        message=redactor.redact_sentence(finding.message),
        location=redactor.redact_sentence(finding.location),
        documented=_or_hidden(lambda: redactor.redact_json(finding.documented, work), TOO_MUCH),
        observed=_or_hidden(lambda: redactor.redact_json(finding.observed, work), TOO_MUCH),
    )


def _redact_observation(observation: Observation, redactor: Redactor) -> Observation:
    return replace(
        observation,
        mismatched={key: redactor.redact_text(observed) for key, observed in observation.mismatched.items()},
    )


def _redact_request(request: Request, redactor: Redactor, work: Work) -> Request:
    return replace(
        request,
        url=_or_hidden(lambda: redactor.redact_url(request.url, work), TOO_MUCH),
        headers=_or_hidden(lambda: redactor.redact_headers(request.headers, work), {TOO_MUCH: ""}),
        body=_or_hidden(lambda: _redact_body(request.body, "text", redactor, work), TOO_MUCH),
    )


def _redact_response(response: Response, redactor: Redactor, work: Work) -> Response:
    return replace(
        response,
        headers=_or_hidden(lambda: redactor.redact_headers(response.headers, work), {TOO_MUCH: ""}),
        body=_or_hidden(lambda: _redact_body(response.body, response.body_type, redactor, work), TOO_MUCH),
        cut=response.cut and _redact_cut(response.cut, redactor, work),
        events=response.events and _redact_events(response.events, redactor, work),
        close=response.close and replace(response.close, reason=redactor.redact_text(response.close.reason)),
        grpc=response.grpc and _redact_grpc(response.grpc, redactor, work),
    )


def _redact_body(body: Json, body_type: str, redactor: Redactor, work: Work) -> Json:
    is_text = isinstance(body, str) and body_type != "json"
    return redactor.redact_lines(body, work) if is_text else redactor.redact_json(body, work)


def _redact_cut(cut: Truncation, redactor: Redactor, work: Work) -> Truncation:
    return replace(cut, values=_or_hidden(lambda: redactor.redact_json(cut.values, work), {}))


def _redact_events(events: tuple[Event, ...], redactor: Redactor, work: Work) -> tuple[Event, ...]:
    hidden = tuple(replace(event, event=TOO_MUCH, data=TOO_MUCH, cut=None) for event in events)
    redacted_events = _or_hidden(lambda: redactor.redact_events(events, work), hidden)
    return tuple(
        event if event.cut is None else replace(event, cut=_redact_cut(event.cut, redactor, work))
        for event in redacted_events
    )


def _redact_grpc(grpc: GrpcStatus, redactor: Redactor, work: Work) -> GrpcStatus:
    trailers = _or_hidden(lambda: redactor.redact_headers(grpc.trailers, work), {TOO_MUCH: ""})
    return replace(grpc, message=redactor.redact_text(grpc.message), trailers=trailers)


def _or_hidden(redact: Callable[[], _T], hidden: _T) -> _T:
    try:
        return redact()
    except TooMuchWorkError:
        return hidden
