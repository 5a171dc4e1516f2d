"""The documented shape of a body on one surface, and where the aspects lie in it (2:7.1)."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from catalog_probe.catalog.files import provider_folders

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.catalog.model import Json

WIRE_ASPECTS = ("type", "code", "param")
"""Aspects compared as values, only where the envelope carries them (2:7.1)."""


@dataclass(frozen=True, slots=True)
class Envelope:
    """The documented shape of a body on one surface, and where the aspects lie in it (JSON pointers)."""

    name: str
    schema: Mapping[str, Json]
    wire: Mapping[str, str]
    body: str
    """`json`, `text`, `empty`, or `any` where the documents promise nothing of the body."""
    sources: tuple[str, ...] = ()
    """The rows that show it; none where the documents show no shape."""
    unwrap: bool = False
    """Whether the body may come in an array, of whose first item the pointers then speak (2:7.1)."""
    assumed: Mapping[str, str] = field(default_factory=dict)
    """Pointer -> why we have it that something stands there, the documents being silent; the empty one: all of it."""
    relations: tuple[Mapping[str, Json], ...] = ()
    """What holds in each answer of the surface beside its shape, as records write their relations."""


@provider_folders.cached_per_folders
def envelope(surface: str) -> Envelope:
    """The envelope of a surface.

    Raises:
        KeyError: there is no schema of that name.
    """
    path = provider_folders.find_file(lambda home: home.envelopes / f"{surface}.json")
    if path is None:
        raise KeyError(f"no envelope schema for surface {surface!r}; add schemas/envelopes/{surface}.json")
    schema = json.loads(path.read_text(encoding="utf-8"))
    return Envelope(
        surface,
        schema,
        schema.get("x-wire", {}),
        schema.get("x-body", "json"),
        tuple(schema.get("x-source", ())),
        schema.get("x-unwrap", False),
        schema.get("x-assumed", {}),
        tuple(schema.get("x-relations", ())),
    )
