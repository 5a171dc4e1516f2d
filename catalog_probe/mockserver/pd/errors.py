"""PD's errors: the rows of 2:7.6 with their gRPC twins, and the shapes that a refusal takes on HTTP (2:7.1)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from starlette.responses import JSONResponse, PlainTextResponse, Response

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Kind:
    """A row of 2:7.6: its HTTP status, its code if it has one, and the gRPC status that maps to it."""

    status: int
    code: str | None
    grpc: int


INVALID_ARGUMENT = Kind(400, "invalid-argument", 3)
NO_CREDENTIALS = Kind(401, "unauthenticated:no-credentials", 16)
PERMISSION_DENIED = Kind(403, "permission-denied", 7)
NOT_FOUND = Kind(404, "not-found", 5)
METHOD_NOT_ALLOWED = Kind(405, None, 12)
UNSUPPORTED_MEDIA_TYPE = Kind(415, None, 3)
UNPROCESSABLE = Kind(422, None, 3)
EXHAUSTED = Kind(429, "resource-exhausted", 8)
INTERNAL = Kind(500, None, 13)
UNAVAILABLE = Kind(503, None, 14)
DEADLINE_EXCEEDED = Kind(504, None, 4)


class Shape(StrEnum):
    """What the body of a refusal looks like (2:7.1)."""

    ENVELOPE = "{code: string, error: string}"
    STRING = "a bare JSON string"
    TEXT = "plain text: the documents show no shape"
    EMPTY = "no body at all"


SHAPES: Mapping[Kind, Shape] = {
    METHOD_NOT_ALLOWED: Shape.EMPTY,
    UNSUPPORTED_MEDIA_TYPE: Shape.TEXT,
    UNPROCESSABLE: Shape.STRING,
    INTERNAL: Shape.TEXT,
    UNAVAILABLE: Shape.TEXT,
    DEADLINE_EXCEEDED: Shape.TEXT,
}


class PdError(Exception):
    """A refusal. It never carries a Retry-After header, not even a 429 (2:7.6)."""

    def __init__(self, kind: Kind, message: str, shape: Shape | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.shape = shape or SHAPES.get(kind, Shape.ENVELOPE)

    def response(self) -> Response:
        """The refusal on HTTP."""
        match self.shape:
            case Shape.ENVELOPE:
                return JSONResponse({"code": self.kind.code, "error": self.message}, self.kind.status)
            case Shape.STRING:
                return JSONResponse(self.message, self.kind.status)
            case Shape.TEXT:
                return PlainTextResponse(self.message, self.kind.status)
            case _:
                return Response(status_code=self.kind.status)


def invalid(message: str) -> PdError:
    """A 400 in the envelope."""
    return PdError(INVALID_ARGUMENT, message)


def unreadable(message: str) -> PdError:
    """A 400 whose body is a bare JSON string. 2:7.1 says only "some 400"; the mock answers so to what is no JSON."""
    return PdError(INVALID_ARGUMENT, message, Shape.STRING)


def denied(message: str) -> PdError:
    """A 403. Its code is the one that the documents assume."""
    return PdError(PERMISSION_DENIED, message)


def no_such_model() -> PdError:
    """A 404 for a model that is missing, restricted or not served by this host: the same message for all (2:7.6)."""
    return PdError(NOT_FOUND, "The model does not exist or your team does not have access to it.")
