"""Classes of HTTP statuses (RFC 9110, 15)."""

from __future__ import annotations

NO_SUCH_PATH = frozenset({404, 405})
"""The statuses of an unknown path, or of an unknown method on a path."""


def is_success(status: int | None) -> bool:
    """Whether a status is 2xx. A redirection is no success, nor is an answer without a status."""
    return status is not None and 200 <= status < 300
