"""What kind of error something is, in plain words: of records by their category, else by the HTTP status alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.files.manifest import manifest
from catalog_probe.catalog.reading.classification import classification

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from catalog_probe.catalog.model import Record

ACCOUNT = "credit or billing"

_OF_CATEGORY: Mapping[str, str] = {
    "invalid_request": "invalid request",
    "authentication": "authentication",
    "auth": "authentication",
    "permission": "permission",
    "not_found": "not found",
    "rate_limit": "rate limit",
    "capacity": "overload",
    "overload": "overload",
    "server": "server error",
    "server_error": "server error",
    "timeout": "timeout",
    "content_safety": "content policy",
    "policy": "content policy",
}
"""Categories of records (1:2.2); `client`, `async` and `reference` say nothing of the kind of error."""

_FAULT_OF_A_SERVER = 500
_OF_STATUS: Mapping[int, str] = {
    **dict.fromkeys((400, 405, 411, 413, 414, 415, 416, 422, 431), "invalid request"),
    401: "authentication",
    402: ACCOUNT,
    403: "permission",
    **dict.fromkeys((404, 410), "not found"),
    409: "conflict",
    429: "rate limit",
    **dict.fromkeys((500, 501, 502), "server error"),
    **dict.fromkeys((503, 529), "overload"),
    **dict.fromkeys((408, 504), "timeout"),
}


def find_group(records: Iterable[Record], status: int | None) -> str:
    """What all of these have in common; where they are of several kinds, what the status says; else empty."""
    groups = {_group(record) for record in records}
    return groups.pop() if len(groups) == 1 and "" not in groups else find_group_by_status(status)


def find_group_by_status(status: int | None) -> str:
    """The kind of error that a status stands for; empty where it stands for none."""
    return _OF_STATUS.get(status or 0, "server error" if (status or 0) >= _FAULT_OF_A_SERVER else "")


def _group(record: Record) -> str:
    if str(record.address) in manifest(record.provider).unpaid:
        return ACCOUNT
    return _OF_CATEGORY.get(classification(record).category, "")
