"""Translates between stand-ins and what a target's provider really calls things, both ways, on the wire alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from catalog.model import Json
    from probes.target import Provider

HEADER_STAND_INS = {"pa": "pa-", "pb": "x-pb-", "pc": "pc-", "pd": ""}
"""The header prefixes of the documents (document 2, head)."""

ID_STAND_INS = {"pa": "pa_", "pb": "", "pc": "", "pd": ""}
"""Identifiers and activity types that carry the provider's name (1:2.4)."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """Pairs of prefixes: as the documents write them, and as this target's provider does."""

    header_stand_in: str
    header_real: str
    id_stand_in: str
    id_real: str

    @classmethod
    def of(cls, provider: Provider) -> Dialect:
        header, identifier = HEADER_STAND_INS[provider.name], ID_STAND_INS[provider.name]
        return cls(header, provider.header_prefix.lower() or header, identifier, provider.id_prefix or identifier)

    def headers_out(self, headers: Mapping[str, str]) -> dict[str, str]:
        return {_swap(name.lower(), self.header_stand_in, self.header_real): value for name, value in headers.items()}

    def headers_in(self, headers: Mapping[str, str]) -> dict[str, str]:
        return {
            _swap(name.lower(), self.header_real, self.header_stand_in): self.text_in(value)
            for name, value in headers.items()
        }

    def text_out(self, text: str) -> str:
        return _swap(text, self.id_stand_in, self.id_real)

    def path_out(self, path: str) -> str:
        """A path with each segment that is an identifier as the provider writes it."""
        return "/".join(map(self.text_out, path.split("/")))

    def text_in(self, text: str) -> str:
        return _swap(text, self.id_real, self.id_stand_in)

    def json_out(self, value: Json) -> Json:
        return self._walk(value, self.id_stand_in, self.id_real)

    def json_in(self, value: Json) -> Json:
        return self._walk(value, self.id_real, self.id_stand_in)

    def _walk(self, value: Json, old: str, new: str) -> Json:
        if old == new:
            return value
        if isinstance(value, str):
            return _swap(value, old, new)
        if isinstance(value, Mapping):
            return {key: self._walk(item, old, new) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self._walk(item, old, new) for item in value]
        return value


def _swap(text: str, old: str, new: str) -> str:
    return new + text[len(old) :] if old and old != new and text.startswith(old) else text
