"""Leniency, off by default: any key, any model, or higher limits.

It is set for the request that is being served: mocks of different leniency can live in one process.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

Model = TypeVar("Model")  # a dataclass with an `id`

OFF = "off"
MOCK_KEY_PREFIX = "mock-"  # an unknown key that begins so is a bad key, whatever is allowed

DEFAULTS: Mapping[str, Any] = {"any_key": False, "any_model": False, "models": {}, "limits": 1}
"""The keys of a `--prefixes` table beside the provider's names."""


@dataclass(frozen=True)
class Leniency:
    """What one provider accepts.

    Args:
        any_key: an unknown key is as good as the ordinary one.
        any_model: an unknown model stands in for one of the mock's.
        models: the mock's model for each other name.
        limits: the factor of all limits; None if nothing is limited.
    """

    any_key: bool = False
    any_model: bool = False
    models: Mapping[str, str] = field(default_factory=dict)
    limits: float | None = 1

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Leniency:
        """Read it from the settings of a provider."""
        limits = settings["limits"]
        return cls(settings["any_key"], settings["any_model"], settings["models"], None if limits == OFF else limits)

    def accepts_key(self, secret: str) -> bool:
        """Whether an unknown key is good."""
        return self.any_key and bool(secret) and not secret.startswith(MOCK_KEY_PREFIX)


_CURRENT: ContextVar[Leniency] = ContextVar("leniency", default=Leniency())  # noqa: B039 - it is frozen


def get_current() -> Leniency:
    """Return the leniency of the request that is being served."""
    return _CURRENT.get()


@contextmanager
def apply_leniency(leniency: Leniency) -> Iterator[None]:
    """Set the leniency while a request is served."""
    token = _CURRENT.set(leniency)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def find_model(models: Mapping[str, Model], name: str, usual: str) -> Model | None:
    """Return the model with this name, or the one that it stands in for."""
    if name in models:
        return models[name]
    leniency = get_current()
    stand_in: Any = models.get(leniency.models.get(name) or (usual if leniency.any_model else ""))
    return None if stand_in is None else replace(stand_in, id=name)
