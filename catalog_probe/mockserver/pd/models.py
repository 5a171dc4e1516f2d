"""PD's models, and the hosts that serve them (1:4.4, 2:7.6 row 404, 2:9)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog_probe.mockserver.core.leniency import find_model
from catalog_probe.mockserver.pd.errors import NO_SUCH_MODEL
from catalog_probe.mockserver.pd.keys import LABS

if TYPE_CHECKING:
    from catalog_probe.mockserver.pd.keys import Team


@dataclass(frozen=True)
class Model:
    """A model: its abilities, and the teams that may use it."""

    id: str
    created: int
    reasoning_effort: bool = False
    multi_agent: bool = False
    embedding: bool = False
    regional: bool = True
    only_for: frozenset[str] = frozenset()
    """Ids of the teams that may use it; empty for all. To other teams it does not exist (2:7.6 row 404)."""


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

    def list_models(self, team: Team) -> list[Model]:
        """Return the models that this host serves to a team."""
        return [model for model in self.models.values() if not model.only_for or team.id in model.only_for]

    def find(self, name: str, team: Team, *, embedding: bool = False) -> Model:
        """Return the model; missing, restricted and unserved ones share a 404."""
        models = {model.id: model for model in self.list_models(team)}
        model = find_model(models, name, "mock-embedding" if embedding else "mock-small")
        if model is None or model.embedding is not embedding:
            raise NO_SUCH_MODEL()
        return model


EVERYWHERE = Host({model.id: model for model in _TABLE})
REGIONAL = Host({model.id: model for model in _TABLE if model.regional})
