"""Interactions that were stored: continued, fetched, cancelled, deleted, by their own project alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core.shelves import Shelf
from catalog_probe.mockserver.pb.errors import NOT_FOUND, PERMISSION, PbError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from catalog_probe.mockserver.pb.auth.keys import Project
    from catalog_probe.mockserver.pb.generation.interaction_input import Step

BACKGROUND_S = 2.0
"""How long work in the background takes, on the virtual clock."""


@dataclass
class Interaction:
    """One interaction: its resource as it will be when done, and the conversation so far."""

    resource: dict[str, Any]
    steps: Sequence[Step]
    project: Project
    done_at: float
    cancelled: bool = False

    def at(self, now: float) -> dict[str, Any]:
        """The resource at a moment: in progress until the work is done."""
        if self.cancelled:
            return {**self.resource, "status": "cancelled", "steps": []}
        if now < self.done_at:
            return {**self.resource, "status": "in_progress", "steps": []}
        return self.resource


@dataclass
class Interactions:
    """Those of one session."""

    stored: Shelf[str, Interaction] = field(default_factory=Shelf)

    def find(self, name: str, project: Project) -> Interaction:
        """The interaction called `name`: 404 if there is none, 403 if it is not the project's."""
        found = self.stored.get(name)
        if found is None:
            raise PbError(NOT_FOUND, f"interaction {name!r} is not found.")
        if found.project is not project:
            raise PbError(PERMISSION, f"You do not have permission to access interaction {name!r}.")
        return found
