"""PA's errors: the kinds of document 2 section 7.3 and the envelope of section 7.1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Kind:
    """A status and its type. `retry` is the value of `x-should-retry`; None where no such header is documented."""

    status: int
    type: str
    retry: bool | None


INVALID_REQUEST = Kind(400, "invalid_request_error", retry=False)
AUTHENTICATION = Kind(401, "authentication_error", retry=False)
BILLING = Kind(402, "billing_error", retry=False)
PERMISSION = Kind(403, "permission_error", retry=False)
NOT_FOUND = Kind(404, "not_found_error", retry=False)
METHOD_NOT_ALLOWED = Kind(405, "invalid_request_error", retry=False)  # 2:7.3 "other unlisted 4xx"
CONFLICT = Kind(409, "conflict_error", retry=True)
TOO_LARGE = Kind(413, "request_too_large", retry=False)
RATE_LIMIT = Kind(429, "rate_limit_error", retry=True)
SPEND_CAP = Kind(429, "rate_limit_error", retry=False)
API = Kind(500, "api_error", retry=None)
TIMEOUT = Kind(504, "timeout_error", retry=None)
OVERLOADED = Kind(529, "overloaded_error", retry=None)


class PaError(Exception):
    """An answer in PA's error envelope."""

    def __init__(
        self,
        kind: Kind,
        message: str,
        *,
        headers: Mapping[str, str] | None = None,
        details: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.headers = dict(headers or {})
        self.details = details

    def envelope(self) -> dict[str, Any]:
        """`{type: error, error: {type, message}}` (2:7.1); `details` only where 2:7.3 names them."""
        error: dict[str, Any] = {"type": self.kind.type, "message": self.message}
        if self.details is not None:
            error["details"] = dict(self.details)
        return {"type": "error", "error": error}


def invalid(message: str) -> PaError:
    """A 400 invalid_request_error."""
    return PaError(INVALID_REQUEST, message)


def not_found(message: str = "Not found") -> PaError:
    """A 404 not_found_error; without a message it is the body of an unknown path."""
    return PaError(NOT_FOUND, message)
