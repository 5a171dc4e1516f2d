"""The two budgets of a parent organization: all requests, and remote sessions (2:7.2)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from catalog_probe.mockserver.core.clock import rfc3339
from catalog_probe.mockserver.pa.compliance.errors import BUDGET_USED_UP
from catalog_probe.mockserver.pa.compliance.tenants import tenant_of

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.buckets import TokenBucket
    from catalog_probe.mockserver.pa.call import Call

REMOTE_RETRY_AFTER_S = 1  # always, in the 429 of the second budget


def admit_request(call: Call) -> None:
    """Count one request of the parent organization, or 429."""
    parent = tenant_of(call.key.organization).parent
    _admit(call, "compliance", parent.id, parent.requests_a_minute)


def admit_remote_request(call: Call) -> None:
    """Count one remote-session request; it counts as a compliance request as well."""
    parent = tenant_of(call.key.organization).parent
    _admit(call, "remote sessions", parent.id, parent.remote_requests_a_minute, retry_after=REMOTE_RETRY_AFTER_S)
    admit_request(call)


def _admit(call: Call, budget: str, parent: str, per_minute: int, retry_after: int | None = None) -> None:
    bucket = call.session.bucket(("pa", "compliance", *holder_of(call, parent), budget), per_minute)
    if bucket.take(1, call.now):
        return
    headers = {"retry-after": str(retry_after or math.ceil(bucket.seconds_until(1, call.now)))}
    for part, value in describe_bucket(bucket, call.now).items():
        headers[call.names.header(f"ratelimit-requests-{part}")] = value
    raise BUDGET_USED_UP(per_minute=per_minute, budget=budget, headers=headers)


def holder_of(call: Call, parent: str) -> tuple[str, ...]:
    """Return who shares a budget: the parent, with all its keys and endpoints."""
    return (parent,)


def describe_bucket(bucket: TokenBucket, now: float) -> dict[str, str]:
    """Return the values of the three headers of a 429."""
    return {
        "limit": str(bucket.per_minute),
        "remaining": str(bucket.remaining(now)),
        "reset": rfc3339(bucket.full_at(now)),
    }
