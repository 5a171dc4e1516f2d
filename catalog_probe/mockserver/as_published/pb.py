"""Published answers of PB that contradict the documents (1:2.6, 1:5.2, 1:6, 2:7)."""

from __future__ import annotations

import json
from zlib import crc32

from catalog_probe.mockserver.as_published.answers import Contradiction, RequestHead, WholeAnswer

UNREGISTERED = (
    "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other "
    "form of API consumer identity to call this API."
)
EXHAUSTED = "Resource exhausted. Please try again later."
HELP = "type.googleapis.com/google.rpc.Help"
KEY_HEADERS = ("x-pb-api-key", "x-goog-api-key", "authorization")
NEW_KEY_PREFIX = "AQ."  # of newer keys


def _refuse_keyless(request: RequestHead, answer: WholeAnswer) -> WholeAnswer | None:
    """A missing token is 401 (2:7.4); published: 403 PERMISSION_DENIED."""
    has_key = any(name in request.headers for name in KEY_HEADERS)
    if answer.status != 401 or has_key or answer.error.get("status") != "UNAUTHENTICATED":
        return None
    error = {"code": 403, "message": UNREGISTERED, "status": "PERMISSION_DENIED"}
    return answer.replace(status=403, json_body={"error": error})


def _refuse_new_key(request: RequestHead, answer: WholeAnswer) -> WholeAnswer | None:
    """An invalid key is 400 or 403 (1:5.2); published: 401 for a newer key."""
    is_new = any(request.headers.get(name, "").startswith(NEW_KEY_PREFIX) for name in KEY_HEADERS)
    if answer.status not in (400, 403) or not is_new or "API key" not in str(answer.error.get("message")):
        return None
    return answer.replace_error(status=401, code=401)


def _vary_details(request: RequestHead, answer: WholeAnswer) -> WholeAnswer | None:
    """429 has a help and a quota entry, and the delay in its message (2:7.1).

    Published: none, help alone, or all of them and the delay. Here each path has one of the three.
    """
    details = answer.error.get("details")
    if answer.status != 429 or not isinstance(details, list):
        return None
    match crc32(request.path.encode()) % 3:
        case 0:
            return answer.replace_error(details=..., message=EXHAUSTED)
        case 1:
            return answer.replace_error(details=[detail for detail in details if detail.get("@type") == HELP])
        case _:
            delay = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "1s"}
            return answer.replace_error(details=[*details, delay])


def _drop_empty_text(request: RequestHead, answer: WholeAnswer) -> WholeAnswer | None:
    """The candidates' tokens are counted (1:2.6); published: not if thoughts took all."""
    if answer.status != 200 or not isinstance(answer.json, dict) or "candidates" not in answer.json:
        return None
    (first, *others) = answer.json["candidates"]
    parts = first.get("content", {}).get("parts") or []
    if first.get("finishReason") != "MAX_TOKENS" or any(part.get("text") for part in parts):
        return None
    usage = {name: value for name, value in answer.json["usageMetadata"].items() if name != "candidatesTokenCount"}
    candidates = [{**first, "content": {"role": "model"}}, *others]
    return answer.replace(json_body={**answer.json, "candidates": candidates, "usageMetadata": usage})


def _write_bare_error(block: str) -> str:
    """A stream's error is an event (1:6); published: JSON lines without `data: `."""
    if not block.startswith('data: {"error"'):
        return block
    return json.dumps(json.loads(block.removeprefix("data: ")), indent=2)


CONTRADICTIONS = (
    Contradiction("unregistered", _refuse_keyless),
    Contradiction("new_form", _refuse_new_key),
    Contradiction("details_of_429", _vary_details),
    Contradiction("thought_only", _drop_empty_text),
    Contradiction("bare_error", change_block=_write_bare_error),
)
