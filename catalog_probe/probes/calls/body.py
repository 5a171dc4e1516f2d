"""The bodies of a call: JSON, bytes, a body of declared size, or none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Json


@dataclass(frozen=True, slots=True)
class JsonBody:
    """A JSON value, in stand-ins; null is a value too."""

    value: Json


@dataclass(frozen=True, slots=True)
class BytesBody:
    """Bytes, sent unchanged; the call's headers name their type."""

    data: bytes


@dataclass(frozen=True, slots=True)
class DeclaredBody:
    """A body of `length` bytes, generated while it is sent, and only as far as the other side reads it."""

    length: int


@dataclass(frozen=True, slots=True)
class AnnouncedBody:
    """A body of `length` bytes that is announced with `Expect: 100-continue` and never sent.

    The answer is 100 if the server wants the body, else its refusal (RFC 9110, 10.1.1).
    """

    length: int


@dataclass(frozen=True, slots=True)
class NoBody:
    """No body at all."""


Body = JsonBody | BytesBody | DeclaredBody | AnnouncedBody | NoBody
NO_BODY = NoBody()


def to_body(value: Json | Body) -> Body:
    """Return a body unchanged, and any other value as JSON.

    Raises:
        TypeError: bytes, which are no JSON value; use `BytesBody`.
    """
    if isinstance(value, bytes):
        raise TypeError("bytes are no JSON value; use BytesBody(…)")
    return value if isinstance(value, Body) else JsonBody(value)
