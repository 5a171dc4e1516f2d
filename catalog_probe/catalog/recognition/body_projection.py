"""One reading of an answer through one envelope: the values where it has a place for them, read once."""

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

_NOT_IT = Fit(wrong=True)


class Projection:
    """What an envelope shows of a body, each value as it is, or ABSENT; how it fits is found out where that matters."""

    def __init__(self, shape: Shape, reading: Reading) -> None:
        body = reading.body
        if shape.unwrap and isinstance(body, list) and body:
            body = body[0]
        self.body: Json = body
        """Out of the array that the surface may put around it; EMPTY where there is none."""
        self.event, self.wrapped = reading.event, reading.wrapped
        self._shape = shape
        self._is_value = isinstance(body, dict | str) and shape.body in ("json", "text")
        self.code, self.type = self._at("code"), self._at("type")
        told, repeated = self._at("message"), self._at("http_status")
        self.message: str | None = told if isinstance(told, str) else None
        self.status: int | None = repeated if type(repeated) is int else None
        """The HTTP status that the body repeats."""

    @cached_property
    def param(self) -> Json:
        return self._at("param")

    @cached_property
    def texts(self) -> str:
        """Every text of an error's body, a line each, its message first; empty of what carries no message."""
        if self.message is None:
            return ""
        return "\n".join((self.message, *iterate_texts(self.body)))

    @cached_property
    def fit(self) -> Fit:
        """How the body keeps to the envelope."""
        return self._shape.fit(self.body) if self._is_value else _NOT_IT

    def _at(self, aspect: str) -> Json:
        pointer = self._shape.wire.get(aspect) if self._is_value else None
        return find_value(self.body, pointer) if pointer is not None else ABSENT
