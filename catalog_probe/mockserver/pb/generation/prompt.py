"""What a generation request comes to, whichever surface it was sent to: the model, the turns, the tools, the bounds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.schema.requested_output import RequestedOutput

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from catalog_probe.mockserver.pb.models import Model

USER = "user"
MODEL = "model"


@dataclass(frozen=True)
class FunctionCall:
    """A call that the model made, as the client sends it back; `signature` is the thought behind it, echoed."""

    name: str
    args: Mapping[str, Any]
    signature: str | None = None


@dataclass(frozen=True)
class Turn:
    """One turn of the conversation. `media` counts the parts that are no text."""

    role: str
    text: str = ""
    calls: tuple[FunctionCall, ...] = ()
    results: tuple[str, ...] = ()
    media: int = 0


@dataclass(frozen=True)
class Settings:
    """The bounds of a generation, checked. A thinking budget of None leaves it to the model."""

    max_output_tokens: int | None = None
    candidate_count: int = 1
    thinking_budget: int | None = None
    modalities: frozenset[str] = frozenset()
    schema: Any = None
    """The schema of the text that is wanted; any text will do where it is None."""
    plain: bool = False
    """Whether a value of the schema is wanted as it is, and not as JSON: a word out of an enum."""


@dataclass(frozen=True)
class Tools:
    """What the model may call: functions of the client by name with their parameter schema."""

    functions: Mapping[str, Any] = field(default_factory=dict)
    builtin: bool = False
    """Whether there are tools on the provider's side as well."""
    forced: tuple[str, ...] = ()
    """The functions one of which must be called; empty where the model may also speak."""


def choose_tools(
    functions: Mapping[str, Any], mode: str, allowed: Sequence[str] | None, *, builtin: bool = False
) -> Tools:
    """The tools among which the model may choose, or must where the mode is `any`."""
    demanded = tuple(name for name in allowed or functions if name in functions)
    return Tools({} if mode == "none" else functions, builtin, forced=demanded if mode == "any" else ())


@dataclass(frozen=True)
class Prompt:
    """A checked request to generate."""

    model: Model
    turns: tuple[Turn, ...]
    tokens: int
    settings: Settings = Settings()
    tools: Tools = Tools()
    service_tier: str = "standard"

    @property
    def wanted(self) -> RequestedOutput:
        """What it wants beside an answer: calls, and text that follows a schema."""
        called: set[str] = set()
        for turn in reversed(self.turns):
            if turn.role == USER and turn.text and not turn.results:
                break
            called.update(call.name for call in turn.calls)
        return RequestedOutput(
            self.tools.functions,
            self.tools.forced,
            text_schema=self.settings.schema,
            user_text=self.last_text,
            called=frozenset(called),
        )

    @property
    def last_text(self) -> str:
        """The text of the last turn of the user."""
        return next((turn.text for turn in reversed(self.turns) if turn.role == USER and turn.text), "")
