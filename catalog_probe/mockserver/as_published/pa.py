"""PA in the field: what published answers of it show, and the documents do not say (2:7.1, 2:7.3)."""

from __future__ import annotations

import json

from catalog_probe.mockserver.as_published.answers import Answer, Asked, Contradiction

LOW_CREDIT = (
    "Your credit balance is too low to access the API. Please go to Plans & Billing to upgrade or purchase credits."
)


def _name_forbidden(asked: Asked, answer: Answer) -> Answer | None:
    return answer.but_error(type="forbidden") if answer.status == 403 and answer.error else None


def _report_low_credit(asked: Asked, answer: Answer) -> Answer | None:
    if answer.status != 402:
        return None
    return answer.but_error(status=400, type="invalid_request_error", message=LOW_CREDIT)


def _strip_413(asked: Asked, answer: Answer) -> Answer | None:
    if answer.status != 413:
        return None
    error = {"type": "request_too_large", "message": "Request exceeds the maximum size"}
    return answer.but(headers={"request-id": None, "x-should-retry": None}, json_body={"error": error})


def _advise_retry(asked: Asked, answer: Answer) -> Answer | None:
    return answer.but(headers={"x-should-retry": "true"}) if answer.status == 529 else None


def _drop_request_id(asked: Asked, answer: Answer) -> Answer | None:
    if answer.status != 404 or not asked.path.startswith("/v1/messages/batches") or not answer.error:
        return None
    return answer.but(json_body={"type": "error", "error": answer.error}, headers={"via": "1.1 google"})


def _add_details(block: str) -> str:
    event, _, data = block.partition("\ndata: ")
    if event != "event: error":
        return block
    body = json.loads(data)
    body["error"] = {"details": None, **body["error"]}
    return f"{event}\ndata: {json.dumps(body)}"


CONTRADICTIONS = (
    Contradiction("forbidden", "403 has type permission_error (2:7.3)", "403 has type forbidden", _name_forbidden),
    Contradiction(
        "low_credit", "402 billing_error, payment problem (2:7.3)", "400 invalid_request_error", _report_low_credit
    ),
    Contradiction(
        "bare_413",
        "{type: error, error: {…}} with the request id (2:7.1)",
        "a 413 that an edge made has neither outer type nor request id",
        _strip_413,
    ),
    Contradiction(
        "retried_529", "no x-should-retry is named of a 529 (2:7.1)", "529 has x-should-retry: true", _advise_retry
    ),
    Contradiction(
        "no_request_id",
        "the request id also appears in the body (2:7.1)",
        "a 404 of the batches has none in its body",
        _drop_request_id,
    ),
    Contradiction(
        "details_null", "{type, message} (1:6)", "the error of a stream has details: null", block=_add_details
    ),
)
