"""PC's errors: the rows of document 2 section 7.5 in the envelope of section 7.1."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

INVALID_REQUEST = "invalid_request_error"
"""The type of all rows of 2:7.5 that state no other."""


class PcError(Exception):
    """A refusal: a status, and an error object whose four keys are always there."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        code: str | None = None,
        type: str | None = INVALID_REQUEST,
        param: str | None = None,
        headers: Mapping[str, str] | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.code = code
        self.type = type
        self.param = param
        self.headers = dict(headers or {})
        self.extra = dict(extra or {})

    def envelope(self) -> dict[str, Any]:
        """`{error: {message, type, param, code}}`, and what moderation or misalignment add (2:7.1)."""
        error = {"message": self.message, "type": self.type, "param": self.param, "code": self.code}
        return {"error": {**error, **self.extra}}

    def event(self) -> dict[str, Any]:
        """The same as an `error` event of a stream: flat, without the type of the error (1:6)."""
        return {"type": "error", "code": self.code, "message": self.message, "param": self.param}


def invalid(code: str | None, message: str, param: str | None = None) -> PcError:
    """A 400."""
    return PcError(400, message, code=code, param=param)


def missing(param: str) -> PcError:
    """A field that must be there and is not."""
    return invalid("missing_required_parameter", f"Missing required parameter: '{param}'.", param)


def not_found(
    message: str, *, code: str | None = None, type: str = INVALID_REQUEST, param: str | None = None
) -> PcError:
    """A 404 in the envelope: something was looked up and is not there."""
    return PcError(404, message, code=code, type=type, param=param)


def unauthorized(code: str | None, message: str) -> PcError:
    """A 401; its type is not one of authentication (2:7.5)."""
    return PcError(401, message, code=code)


def forbidden(code: str, message: str, **options: Any) -> PcError:
    """A 403 with a code."""
    return PcError(403, message, code=code, **options)
