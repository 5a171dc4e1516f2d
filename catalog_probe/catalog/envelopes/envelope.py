"""Envelopes: the documented shape of a body on one surface, and where the aspects are in it (2:7.1)."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from catalog_probe.catalog.files import provider_folders

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.catalog.model import Json

WIRE_ASPECTS = ("type", "code", "param")
"""Aspects that are compared as values, on surfaces whose envelope has a place for them (2:7.1)."""


@dataclass(frozen=True, slots=True)
class Envelope:
    """The shape of a body on one surface."""

    name: str
    schema: Mapping[str, Json]
    wire: Mapping[str, str]
    """Aspect -> JSON pointer."""
    body: str
    """`json`, `text`, `empty`, or `any` if the documents promise nothing about the body."""
    sources: tuple[str, ...] = ()
    """The rows that show the shape; none if the documents show no shape."""
    unwrap: bool = False
    """Whether the body may come in an array; then the pointers are relative to its first item (2:7.1)."""
    assumed: Mapping[str, str] = field(default_factory=dict)
    """JSON pointer of an undocumented member -> why we assume it; the empty pointer is for the whole shape."""
    relations: tuple[Mapping[str, Json], ...] = ()
    """Relations that hold in each answer of the surface, written as in a record."""


@provider_folders.cached_per_folders
def envelope(surface: str) -> Envelope:
    """Read the envelope of a surface.

    Raises:
        KeyError: there is no schema of that name.
    """
    path = provider_folders.find_file(lambda folder: folder.envelopes / f"{surface}.json")
    if path is None:
        raise KeyError(f"no envelope schema for surface {surface!r}; add schemas/envelopes/{surface}.json")
    schema = json.loads(path.read_text(encoding="utf-8"))
    return Envelope(
        name=surface,
        schema=schema,
        wire=schema.get("x-wire", {}),
        body=schema.get("x-body", "json"),
        sources=tuple(schema.get("x-source", ())),
        unwrap=schema.get("x-unwrap", False),
        assumed=schema.get("x-assumed", {}),
        relations=tuple(schema.get("x-relations", ())),
    )
