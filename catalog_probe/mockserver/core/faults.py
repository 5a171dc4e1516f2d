"""Faults: documented errors that a test arms by the row of the documents that states them.

`X-Mock-Scenario: 2:7.5#insufficient_quota;times=2` answers two requests with PC's `insufficient_quota`. A scenario
names a cause that the mock then acts out. A fault names the error itself: many have no scenario.
Each provider's `faults.py` maps citations to a fault, or to the scenario that causes the error.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core.errors import Refusal
from catalog_probe.mockserver.core.scenarios import Param, Scenario, choice, whole_number

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.errors import ErrorRow


ENDPOINT, STREAM = "endpoint", "stream"  # values of the parameter `at`

EXAMPLE_VALUES: Mapping[str, Any] = {
    "acl": "api-key:endpoint:chat",
    "bound": 1,
    "budget": "read",
    "constraint": "must be between 1 and 1000",
    "counted": "input tokens",
    "delay_s": 1.0,
    "fault": "invalid",
    "field": "",
    "found": "a string",
    "header": "x-api-key",
    "hint": "",
    "id": "unknown_123",
    "ids": "toolu_123",
    "index": 0,
    "input_tokens": 300_000,
    "kind": "local",
    "least": 1,
    "lifted": "2026-12-01T00:00:00Z",
    "limit": 1,
    "max_tokens": 1_000_000,
    "maximum": 64_000,
    "media_type": "text/plain",
    "method": "generateContent",
    "metric": "requests",
    "model": "mock-small",
    "most": 1_000,
    "most_bytes": 33_554_432,
    "name": "temperature",
    "organization": "org-mock",
    "output": 100,
    "owner": "organization",
    "path": "temperature",
    "per_minute": 50,
    "prefix": "session_",
    "project": "mock-project",
    "prompt": 300_000,
    "reason": "unexpected end of input",
    "retry_after": 1,
    "scope": "",
    "start": "sk-m",
    "tool": "web_search",
    "tools": "web_search",
    "unit": "requests per minute",
    "url": "https://images.example/a.png",
    "value": 1_000_000,
    "values": "`unknown-beta`",
    "version": "2020-01-01",
    "wanted": "an integer",
    "what": "audience",
    "window": 128_000,
}
"""What fills the messages of faults that no request has: an armed fault has no wrong value of a client to name."""

RETRY_AFTER = replace(whole_number("retry_after", "Seconds of the Retry-After header."), required=False)


@dataclass(frozen=True, kw_only=True)
class Fault(Scenario):
    """A documented error, armed by its citation.

    Args:
        refusal: the answer; each use gets a copy.
        within: a part of the path of each request that the fault may answer, e.g. `/interactions`; "" is any path.
    """

    refusal: Refusal
    within: str = ""

    def make_refusal(self, params: Mapping[str, Any]) -> Refusal:
        """Return the answer of one request."""
        wait_s = params.get(RETRY_AFTER.name)
        headers = self.refusal.headers | ({} if wait_s is None else {"retry-after": str(wait_s)})
        return Refusal(self.refusal.row, self.refusal.message, self.refusal.param, headers, self.refusal.extra)


def make_fault(
    row: ErrorRow,
    *,
    at: str = ENDPOINT,
    within: str = "",
    waits: bool = False,
    headers: Mapping[str, str] | None = None,
    extra: Mapping[str, Any] | None = None,
    **values: object,
) -> Fault:
    """Make the fault of an error row, which gets its name when a table is added to the registry.

    Args:
        at: where it is answered unless the test says it: instead of an answer, or in its stream after 200.
        waits: whether the provider documents Retry-After for it.
        values: what fills the message, beside EXAMPLE_VALUES.
    """
    return from_refusal(
        row(headers=headers, extra=extra, **{**EXAMPLE_VALUES, **values}), at=at, within=within, waits=waits
    )


def from_refusal(refusal: Refusal, *, at: str = ENDPOINT, within: str = "", waits: bool = False) -> Fault:
    """Make the fault that answers with a refusal."""
    place = choice("at", (ENDPOINT, STREAM), "Instead of an answer, or in its stream after 200.", default=at)
    params: tuple[Param, ...] = (place, RETRY_AFTER) if waits else (place,)
    return Fault("", "A documented error.", params, refusal.row, refusal=refusal, within=within)


FaultTable = Mapping[str, Fault | str]
"""Citation -> its fault, or the scenario that causes it, e.g. `2:7.3#529 temporary overload` -> `overloaded`."""
