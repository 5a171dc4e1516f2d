"""What an HTTP status says of its answer (RFC 9110, 15)."""

from __future__ import annotations

NO_SUCH_PATH = frozenset({404, 405})
"""What is answered where there is no such path, or no such method on it."""


def is_success(status: int | None) -> bool:
    """Whether the request was taken and done: 2xx. A redirection is no success, nor is an answer without a status."""
    return status is not None and 200 <= status < 300
