"""PB's errors: one kind a condition, spelled as 2:7.4 spells it on each surface, in the envelopes of 2:7.1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Details = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Kind:
    """A condition: its HTTP status, its RPC status name, and its snake_case code on the interactions endpoints."""

    http: int
    status: str
    code: str


INVALID = Kind(400, "INVALID_ARGUMENT", "invalid_request")
UNKNOWN_FIELD = Kind(400, "INVALID_ARGUMENT", "parameter_unknown")
PRECONDITION = Kind(400, "FAILED_PRECONDITION", "failed_precondition")
UNAUTHENTICATED = Kind(401, "UNAUTHENTICATED", "authentication")
PERMISSION = Kind(403, "PERMISSION_DENIED", "permission_denied")
NOT_FOUND = Kind(404, "NOT_FOUND", "not_found")
MODEL_NOT_FOUND = Kind(404, "NOT_FOUND", "model_not_found")
METHOD_NOT_ALLOWED = Kind(405, "UNIMPLEMENTED", "method_not_allowed")  # 2:7.4 "or a snake_case HTTP status"
ALREADY_EXISTS = Kind(409, "ALREADY_EXISTS", "already_exists")
ABORTED = Kind(409, "ABORTED", "aborted")
TOO_LARGE = Kind(413, "INVALID_ARGUMENT", "payload_too_large")
OUT_OF_RANGE = Kind(416, "OUT_OF_RANGE", "out_of_range")
RATE_LIMIT = Kind(429, "RESOURCE_EXHAUSTED", "rate_limit_exceeded")
QUOTA = Kind(429, "RESOURCE_EXHAUSTED", "quota_exceeded")
TOO_MANY = Kind(429, "RESOURCE_EXHAUSTED", "too_many_requests")
CANCELLED = Kind(499, "CANCELLED", "cancelled")
INTERNAL = Kind(500, "INTERNAL", "api_error")
UNIMPLEMENTED = Kind(501, "UNIMPLEMENTED", "unimplemented")
UNAVAILABLE = Kind(503, "UNAVAILABLE", "service_unavailable")
DEADLINE = Kind(504, "DEADLINE_EXCEEDED", "deadline_exceeded")


class PbError(Exception):
    """A refusal; the surface that was asked decides the envelope."""

    def __init__(self, kind: Kind, message: str, details: Details = ()) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.details = details

    def rpc(self) -> dict[str, Any]:
        """`{error: {code, message, status, details}}` (2:7.1)."""
        details = [dict(detail) for detail in self.details]
        return {
            "error": {
                "code": self.kind.http,
                "message": self.message,
                "status": self.kind.status,
                "details": details,
            }
        }

    def wrapped(self) -> list[dict[str, Any]]:
        """The compatibility layer wraps the body in a JSON array (2:7.1)."""
        return [self.rpc()]

    def interactions(self) -> dict[str, Any]:
        """`{error: {code, message}}` with a snake_case code (2:7.1)."""
        return {"error": {"code": self.kind.code, "message": self.message}}


def invalid(message: str) -> PbError:
    """A 400 INVALID_ARGUMENT."""
    return PbError(INVALID, message)
