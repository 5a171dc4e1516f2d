"""Groups of errors in plain words, such as `rate limit`: by category of the records, or by HTTP status."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.files.manifest import manifest
from catalog_probe.catalog.reading.error_records import classification

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from catalog_probe.catalog.model import Record

ACCOUNT = "credit or billing"

_GROUP_BY_CATEGORY: Mapping[str, str] = {
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
"""Category of a record (1:2.2) -> group; `client`, `async` and `reference` have none."""

_SERVER_ERROR = 500
_GROUP_BY_STATUS: Mapping[int, str] = {
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
    """Return the common group of these records; if they differ, that of the status; empty if there is none."""
    groups = {_group(record) for record in records}
    return groups.pop() if len(groups) == 1 and "" not in groups else find_group_by_status(status)


def find_group_by_status(status: int | None) -> str:
    """Return the group of a status; empty if there is none."""
    status = status or 0
    return _GROUP_BY_STATUS.get(status, "server error" if status >= _SERVER_ERROR else "")


def _group(record: Record) -> str:
    if str(record.address) in manifest(record.provider).unpaid:
        return ACCOUNT
    return _GROUP_BY_CATEGORY.get(classification(record).category, "")
