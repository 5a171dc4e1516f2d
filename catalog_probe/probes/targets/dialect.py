"""Translates between stand-ins and the real names of a target's provider, both ways, only on the wire."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from catalog_probe.catalog.files.manifest import manifest
from catalog_probe.catalog.text.json_values import map_strings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.catalog.model import Json
    from catalog_probe.probes.targets.target import Provider, Target


@dataclass(frozen=True, slots=True)
class Dialect:
    """Prefixes and key header, each as a pair: as the documents write it, and as the provider does.

    Example: with the header prefixes `pa-` and `acme-`, `pa-version` is sent as `acme-version`, and an answer's
    `acme-request-id` is read as `pa-request-id`.
    """

    header_stand_in: str
    header_real: str
    id_stand_in: str
    id_real: str
    key_stand_in: str = ""
    key_real: str = ""
    _words: tuple[tuple[re.Pattern[str], str], ...] = field(init=False, compare=False)
    """Patterns of real names in a text, each with its stand-in."""

    def __post_init__(self) -> None:
        pairs = (
            (self.key_real, self.key_stand_in),
            (self.header_real, self.header_stand_in),
            (self.id_real, self.id_stand_in),
        )
        words = tuple((_word_pattern(real), stand_in) for real, stand_in in pairs if real and real != stand_in)
        object.__setattr__(self, "_words", words)

    @classmethod
    def for_provider(cls, provider: Provider) -> Dialect:
        """Pair what the provider's manifest calls things with what the target calls them."""
        documented = manifest(provider.name).stand_ins
        header, identifier = documented.header_prefix, documented.id_prefix
        header_real = provider.header_prefix.lower() or header
        key, key_real = documented.key_header, _swap(provider.key_header.lower(), header, header_real)
        if "authorization" in (key, key_real):  # HTTP's own header is no stand-in
            key = key_real = ""
        identifier_real = provider.id_prefix or identifier
        return cls(header, header_real, identifier, identifier_real, key, key_real)

    @property
    def renamings(self) -> dict[str, dict[str, str]]:
        """What the target calls by another name than the documents: by the target's field, `stand_in` and `real`."""
        pairs = {
            "header_prefix": (self.header_stand_in, self.header_real),
            "id_prefix": (self.id_stand_in, self.id_real),
            "key_header": (self.key_stand_in, self.key_real),
        }
        differing = {name: pair for name, pair in pairs.items() if all(pair) and pair[0] != pair[1]}
        return {name: {"stand_in": stand_in, "real": real} for name, (stand_in, real) in differing.items()}

    def headers_out(self, headers: Mapping[str, str]) -> dict[str, str]:
        return {_swap(name.lower(), self.header_stand_in, self.header_real): value for name, value in headers.items()}

    def headers_in(self, headers: Mapping[str, str]) -> dict[str, str]:
        if not self._words:  # all names are the same
            return {name.lower(): value for name, value in headers.items()}
        return {self._name_in(name.lower()): self.text_in(value) for name, value in headers.items()}

    def text_out(self, text: str) -> str:
        return _swap(text, self.id_stand_in, self.id_real)

    def path_out(self, path: str) -> str:
        """Return a path with identifiers as the provider writes them: `/v1/pa_doc_1` -> `/v1/acme_doc_1`."""
        return "/".join(map(self.text_out, path.split("/")))

    def url_in(self, url: str) -> str:
        """Return a URL with the identifiers in its path and query as the documents write them."""
        if self.id_stand_in == self.id_real:
            return url
        parts = urlsplit(url)
        path = "/".join(_swap(segment, self.id_real, self.id_stand_in) for segment in parts.path.split("/"))
        pairs = (parameter.partition("=") for parameter in parts.query.split("&"))
        query = "&".join(name + equals + _swap(value, self.id_real, self.id_stand_in) for name, equals, value in pairs)
        return parts._replace(path=path, query=query).geturl()

    def text_in(self, text: str) -> str:
        """Return a text in stand-ins, also where it quotes the name of a header or an identifier.

        Example: "acme-version: header is required" -> "pa-version: header is required".
        """
        for real, stand_in in self._words:
            text = real.sub(stand_in, text)
        return text

    def json_out(self, value: Json) -> Json:
        return value if self.id_stand_in == self.id_real else map_strings(value, self.text_out)

    def json_in(self, value: Json) -> Json:
        return map_strings(value, self.text_in) if self._words else value

    def _name_in(self, name: str) -> str:
        if name == self.key_real:
            return self.key_stand_in
        return _swap(name, self.header_real, self.header_stand_in)


def collect_renamings(target: Target) -> dict[str, dict[str, dict[str, str]]]:
    """Return what a target calls by another name than the documents, by provider and field."""
    renamings = {name: Dialect.for_provider(provider).renamings for name, provider in target.providers.items()}
    return {name: fields for name, fields in renamings.items() if fields}


def _word_pattern(real: str) -> re.Pattern[str]:
    """Return a pattern of a name as a word, or of a prefix as the beginning of one."""
    end = "" if real.endswith(("-", "_")) else r"(?![\w-])"
    return re.compile(rf"(?<![\w-]){re.escape(real)}{end}", re.IGNORECASE)


def _swap(text: str, old: str, new: str) -> str:
    return new + text[len(old) :] if old and old != new and text.startswith(old) else text
