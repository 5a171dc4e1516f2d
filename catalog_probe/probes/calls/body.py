"""What a call carries: a JSON value, bytes as they stand, a length that is declared or only announced, or nothing."""

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
class Content:
    """Bytes as they stand; the call's headers say what they are."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Declared:
    """A body of `length` bytes that is declared and, if the other side wants it, generated while it is sent."""

    length: int


@dataclass(frozen=True, slots=True)
class Announced:
    """A body of `length` bytes that is announced and never sent: the server says whether it wants it.

    `Expect: 100-continue`; the answer is 100 where it does, else what it refuses it with (RFC 9110, 10.1.1).
    """

    length: int


@dataclass(frozen=True, slots=True)
class NoBody:
    """No body at all."""


Body = JsonBody | Content | Declared | Announced | NoBody
NO_BODY = NoBody()


def body_of(value: Json | Body) -> Body:
    """The body that a call is written with: a body as it stands, anything else as JSON.

    Raises:
        TypeError: bytes, which are no JSON value; `Content` carries them.
    """
    if isinstance(value, bytes):
        raise TypeError("bytes are no JSON value; say Content(…)")
    return value if isinstance(value, JsonBody | Content | Declared | Announced | NoBody) else JsonBody(value)
