"""Projection of an answer's body through an envelope: the values at the envelope's locations."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from catalog_probe.catalog.answers.readings import iterate_texts
from catalog_probe.catalog.recognition.shapes import Fit
from catalog_probe.catalog.text.json_pointer import ABSENT, find_value

if TYPE_CHECKING:
    from catalog_probe.catalog.answers.readings import Reading
    from catalog_probe.catalog.model import Json
    from catalog_probe.catalog.recognition.shapes import Shape

_WRONG = Fit(wrong=True)


class Projection:
    """The values of a body at the locations of an envelope, or ABSENT. Texts and fit are computed when needed."""

    def __init__(self, shape: Shape, reading: Reading) -> None:
        body = reading.body
        if shape.unwrap and isinstance(body, list) and body:
            body = body[0]
        self.body: Json = body
        """Without the array that the surface may put around it; EMPTY if there is no body."""
        self.event, self.wrapped = reading.event, reading.wrapped
        self._shape = shape
        self._is_value = isinstance(body, dict | str) and shape.body in ("json", "text")
        self.places = shape.wire
        """Aspect -> its JSON pointer, for the aspects that the envelope carries."""
        code = self._find("code")
        self.code: Json = str(code) if type(code) is int else code
        self.type = self._find("type")
        message, status = self._find("message"), self._find("http_status")
        self.message: str | None = message if isinstance(message, str) else None
        self.status: int | None = status if type(status) is int else None
        """The HTTP status that the body repeats."""

    @cached_property
    def param(self) -> Json:
        return self._find("param")

    @cached_property
    def texts(self) -> str:
        """Every text of an error's body, one per line, its message first; empty without a message."""
        if self.message is None:
            return ""
        return "\n".join((self.message, *iterate_texts(self.body)))

    @cached_property
    def fit(self) -> Fit:
        """How the body fits the envelope."""
        return self._shape.fit(self.body) if self._is_value else _WRONG

    def _find(self, aspect: str) -> Json:
        pointer = self._shape.wire.get(aspect) if self._is_value else None
        return find_value(self.body, pointer) if pointer is not None else ABSENT
