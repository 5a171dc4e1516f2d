"""Published answers of PA that contradict the documents (2:7.1, 2:7.3)."""

from __future__ import annotations

import json

from catalog_probe.mockserver.as_published.answers import Contradiction, RequestHead, WholeAnswer

LOW_CREDIT = (
    "Your credit balance is too low to access the API. Please go to Plans & Billing to upgrade or purchase credits."
)


def _name_forbidden(request: RequestHead, answer: WholeAnswer) -> WholeAnswer | None:
    """403 has type permission_error (2:7.3); published: forbidden."""
    return answer.replace_error(type="forbidden") if answer.status == 403 and answer.error else None


def _report_low_credit(request: RequestHead, answer: WholeAnswer) -> WholeAnswer | None:
    """A payment problem is 402 (2:7.3); published: 400 invalid_request_error."""
    if answer.status != 402:
        return None
    return answer.replace_error(status=400, type="invalid_request_error", message=LOW_CREDIT)


def _strip_413(request: RequestHead, answer: WholeAnswer) -> WholeAnswer | None:
    """Bodies have a type and the request id (2:7.1); published: not in an edge's 413."""
    if answer.status != 413:
        return None
    error = {"type": "request_too_large", "message": "Request exceeds the maximum size"}
    return answer.replace(headers={"request-id": None, "x-should-retry": None}, json_body={"error": error})


def _advise_retry(request: RequestHead, answer: WholeAnswer) -> WholeAnswer | None:
    """No x-should-retry is documented of a 529 (2:7.1); published: true."""
    return answer.replace(headers={"x-should-retry": "true"}) if answer.status == 529 else None


def _drop_request_id(request: RequestHead, answer: WholeAnswer) -> WholeAnswer | None:
    """The request id is also in the body (2:7.1); published: not in a batch's 404."""
    if answer.status != 404 or not request.path.startswith("/v1/messages/batches") or not answer.error:
        return None
    return answer.replace(json_body={"type": "error", "error": answer.error}, headers={"via": "1.1 google"})


def _add_details(block: str) -> str:
    """A stream's error has type and message (1:6); published: also details, null."""
    event, _, data = block.partition("\ndata: ")
    if event != "event: error":
        return block
    body = json.loads(data)
    body["error"] = {"details": None, **body["error"]}
    return f"{event}\ndata: {json.dumps(body)}"


CONTRADICTIONS = (
    Contradiction("forbidden", _name_forbidden),
    Contradiction("low_credit", _report_low_credit),
    Contradiction("bare_413", _strip_413),
    Contradiction("retried_529", _advise_retry),
    Contradiction("no_request_id", _drop_request_id),
    Contradiction("details_null", change_block=_add_details),
)
