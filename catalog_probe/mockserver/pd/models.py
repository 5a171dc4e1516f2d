"""PD's models, and which of its hosts serve them (1:4.4, 2:9)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from catalog_probe.mockserver.core import leniency
from catalog_probe.mockserver.pd.auth.keys import LABS
from catalog_probe.mockserver.pd.errors import no_such_model

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.mockserver.pd.auth.keys import Team


@dataclass(frozen=True)
class Model:
    """A model: what it can do, and who may know of it."""

    id: str
    created: int
    reasoning_effort: bool = False
    multi_agent: bool = False
    embedding: bool = False
    regional: bool = True
    only_for: frozenset[str] = frozenset()
    """Ids of the teams that may use it; empty for all. To others it does not exist (2:7.6 row 404)."""


_TABLE = (
    Model("mock-small", 1_759_000_000),
    Model("mock-reasoning", 1_762_000_000, reasoning_effort=True),
    Model("mock-multi-agent", 1_770_000_000, reasoning_effort=True, multi_agent=True),
    Model("mock-large", 1_768_000_000, regional=False),
    Model("mock-early-access", 1_775_000_000, only_for=frozenset({LABS.id})),
    Model("mock-embedding", 1_750_000_000, embedding=True),
)


@dataclass(frozen=True)
class Host:
    """One address of the inference API and the models it serves."""

    models: dict[str, Model]

    def seen_by(self, team: Team) -> list[Model]:
        """The models that this host serves to a team."""
        return [model for model in self.models.values() if not model.only_for or team.id in model.only_for]

    def find(self, name: str, team: Team, *, embedding: bool = False) -> Model:
        """The model called `name`, or the 404 that missing, restricted and unserved models share."""
        model = next((model for model in self.seen_by(team) if model.id == name), None)
        model = model or _stand_in(self.models, name, embedding=embedding)
        if model is None or model.embedding is not embedding:
            raise no_such_model()
        return model


def _stand_in(models: Mapping[str, Model], name: str, *, embedding: bool) -> Model | None:
    """A model under another name, where that is let pass."""
    known = leniency.current().stand_in(name, "mock-embedding" if embedding else "mock-small")
    return replace(models[known], id=name) if known is not None and known in models else None


EVERYWHERE = Host({model.id: model for model in _TABLE})
REGIONAL = Host({model.id: model for model in _TABLE if model.regional})
