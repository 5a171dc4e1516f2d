"""PB in the field: what published answers of it show, and the documents do not say (2:7.1, 2:7.4)."""

from __future__ import annotations

import json
from zlib import crc32

from catalog_probe.mockserver.as_published.answers import Answer, Asked, Contradiction

UNREGISTERED = (
    "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other "
    "form of API consumer identity to call this API."
)
EXHAUSTED = "Resource exhausted. Please try again later."
HELP = "type.googleapis.com/google.rpc.Help"
KEY_HEADERS = ("x-pb-api-key", "x-goog-api-key", "authorization")
NEW_FORM = "AQ."
"""How newer keys begin."""


def _refuse_keyless(asked: Asked, answer: Answer) -> Answer | None:
    keyless = not any(name in asked.headers for name in KEY_HEADERS)
    if answer.status != 401 or not keyless or answer.error.get("status") != "UNAUTHENTICATED":
        return None
    error = {"code": 403, "message": UNREGISTERED, "status": "PERMISSION_DENIED"}
    return answer.but(status=403, json_body={"error": error})


def _refuse_new_form(asked: Asked, answer: Answer) -> Answer | None:
    sent = any(asked.headers.get(name, "").startswith(NEW_FORM) for name in KEY_HEADERS)
    if answer.status not in (400, 403) or not sent or "API key" not in str(answer.error.get("message")):
        return None
    return answer.but_error(status=401, code=401)


def _vary_details(asked: Asked, answer: Answer) -> Answer | None:
    """Absent, a help entry alone, or all of them with the delay: each was published, and each endpoint has its own."""
    details = answer.error.get("details")
    if answer.status != 429 or not isinstance(details, list):
        return None
    match crc32(asked.path.encode()) % 3:
        case 0:
            return answer.but_error(details=..., message=EXHAUSTED)
        case 1:
            return answer.but_error(details=[detail for detail in details if detail.get("@type") == HELP])
        case _:
            delay = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "1s"}
            return answer.but_error(details=[*details, delay])


def _drop_empty_answer(asked: Asked, answer: Answer) -> Answer | None:
    """A reasoning model whose thoughts took all that it might say."""
    if answer.status != 200 or not isinstance(answer.json, dict) or "candidates" not in answer.json:
        return None
    (first, *rest) = answer.json["candidates"]
    parts = first.get("content", {}).get("parts") or []
    if first.get("finishReason") != "MAX_TOKENS" or any(part.get("text") for part in parts):
        return None
    usage = {name: value for name, value in answer.json["usageMetadata"].items() if name != "candidatesTokenCount"}
    candidates = [{**first, "content": {"role": "model"}}, *rest]
    return answer.but(json_body={**answer.json, "candidates": candidates, "usageMetadata": usage})


def _bare_error(block: str) -> str:
    """An error in a stream stands there as it is, on several lines and after no `data: `."""
    if not block.startswith('data: {"error"'):
        return block
    return json.dumps(json.loads(block.removeprefix("data: ")), indent=2)


CONTRADICTIONS = (
    Contradiction(
        "unregistered", "401 UNAUTHENTICATED, missing token (2:7.4)", "403 PERMISSION_DENIED", _refuse_keyless
    ),
    Contradiction(
        "new_form", "an invalid key is 400 or 403 (1:5.2)", "401 for a wrong key of the newer form", _refuse_new_form
    ),
    Contradiction(
        "details_of_429",
        "429 details hold a help and a quota-failure entry, the delay is in the message (2:7.1)",
        "none, help alone, or all of them and the delay",
        _vary_details,
    ),
    Contradiction(
        "thought_only",
        "candidatesTokenCount is an integer of the usage (1:2.6)",
        "neither it nor any part is there where thoughts took all",
        _drop_empty_answer,
    ),
    Contradiction(
        "bare_error",
        "an error of a stream is an event (1:6)",
        "it stands there without `data: `",
        block=_bare_error,
    ),
)
