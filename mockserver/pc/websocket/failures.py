"""Errors on a WebSocket: nested, unlike those of a stream, with the status that HTTP would have (2:7.1)."""

from __future__ import annotations

from typing import Any

INVALID_REQUEST = "invalid_request_error"


class Failure(Exception):
    """Something the client asked for that it cannot have; the socket stays open."""

    def __init__(self, message: str, code: str | None, param: str | None = None, *, status: int = 400) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.param = param
        self.status = status

    @property
    def error(self) -> dict[str, Any]:
        """The error object, with its four keys."""
        return {"message": self.message, "type": INVALID_REQUEST, "param": self.param, "code": self.code}

    @property
    def frame(self) -> dict[str, Any]:
        """The error as a message."""
        return {"type": "error", "status": self.status, "error": self.error}


def response_not_found(response_id: Any) -> Failure:
    """The error of a `previous_response_id` that leads nowhere (2:7.5)."""
    return Failure(
        f"Previous response with id '{response_id}' not found.", "previous_response_not_found", "previous_response_id"
    )


def limit_reached() -> Failure:
    """The error of a socket that is too old (2:7.5)."""
    return Failure(
        "This WebSocket has reached its limit of 60 minutes. Open a new one.", "websocket_connection_limit_reached"
    )
