"""How much the mock lets pass that no provider would: any key, any model, more than the limits. Nothing, unless asked.

What holds is set for the request that is being served: mocks of different leniency live side by side in a process.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

OFF = "off"
OURS = "mock-"
"""How the keys of the mock begin. Those that begin so and are unknown are bad keys whatever is allowed."""

DEFAULTS: Mapping[str, Any] = {"any_key": False, "any_model": False, "models": {}, "limits": 1}
"""What a table of a `--prefixes` file may say beside the provider's names."""


@dataclass(frozen=True)
class Leniency:
    """What one provider lets pass.

    Args:
        any_key: a key that the mock does not know is as good as the ordinary one.
        any_model: a model that it does not know is a stand-in for one that it has.
        models: names of models, and of which of its own each is a stand-in.
        limits: how many times the limits what is allowed is; None where nothing is limited.
    """

    any_key: bool = False
    any_model: bool = False
    models: Mapping[str, str] = field(default_factory=dict)
    limits: float | None = 1

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Leniency:
        """What the settings of a provider say."""
        limits = settings["limits"]
        return cls(settings["any_key"], settings["any_model"], settings["models"], None if limits == OFF else limits)

    def good_key(self, secret: str) -> bool:
        """Whether a key that nobody knows is good."""
        return self.any_key and bool(secret) and not secret.startswith(OURS)

    def stand_in(self, name: str, usual: str) -> str | None:
        """Of which model of the mock an unknown one is a stand-in: of the one that was said, or of the usual one."""
        return self.models.get(name) or (usual if self.any_model else None)


_CURRENT: ContextVar[Leniency] = ContextVar("leniency", default=Leniency())  # noqa: B039 - it is frozen


def current() -> Leniency:
    """What holds for the request that is being served."""
    return _CURRENT.get()


@contextmanager
def holding(leniency: Leniency) -> Iterator[None]:
    """Let it hold while a request is served."""
    token = _CURRENT.set(leniency)
    try:
        yield
    finally:
        _CURRENT.reset(token)
