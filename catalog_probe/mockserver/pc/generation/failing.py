"""How the stream of a response fails after 200: an `error` event, then response.failed (1:6, 2:7.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core.completions import make_response_start
from catalog_probe.mockserver.pc.envelopes import error_event

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from catalog_probe.mockserver.core.errors import Refusal

ERROR_EVENT_ALONE = frozenset({"cyber_policy"})
"""1:6: it arrives as an error event, and is none of the stream error codes that a response can carry (2:7.5)."""

FAULT = "server_error"
"""The stream error code of a failure that has none over HTTP (2:7.5)."""


def failing_events(response: Mapping[str, Any], failure: Refusal) -> Iterator[dict[str, Any]]:
    """The events of a response that fails after it has begun."""
    yield from make_response_start(response)
    code = failure.row.code or FAULT
    yield {**error_event(failure), "code": code}
    if code not in ERROR_EVENT_ALONE:
        error = {"code": code, "message": failure.message}
        ended: dict[str, Any] = {
            "status": "failed",
            "output": [],
            "usage": None,
            "incomplete_details": None,
            "completed_at": None,
        }
        yield {"type": "response.failed", "response": {**response, **ended, "error": error}}
