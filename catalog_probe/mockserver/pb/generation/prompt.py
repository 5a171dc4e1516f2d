"""A prompt in the form that all of PB's surfaces share."""

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
    """A call by the model. `signature` is its thought signature, if it has one."""

    name: str
    args: Mapping[str, Any]
    signature: str | None = None


@dataclass(frozen=True)
class Turn:
    """One turn of a conversation. `media` is the number of parts that are no text."""

    role: str
    text: str = ""
    calls: tuple[FunctionCall, ...] = ()
    results: tuple[str, ...] = ()
    media: int = 0


@dataclass(frozen=True)
class Settings:
    """The checked settings. Without thinking budget the model decides."""

    max_output_tokens: int | None = None
    candidate_count: int = 1
    thinking_budget: int | None = None
    modalities: frozenset[str] = frozenset()
    schema: Any = None  # the schema of the text; None if any text will do
    plain_value: bool = False  # whether the text is the value itself, not its JSON: an option of an enum


@dataclass(frozen=True)
class Tools:
    """The tools that the model may call: functions by name, with their schema."""

    functions: Mapping[str, Any] = field(default_factory=dict)
    builtin: bool = False  # whether there are server-side tools as well
    forced: tuple[str, ...] = ()  # the functions one of which must be called; empty if the model may answer with text


def choose_tools(
    functions: Mapping[str, Any], mode: str, allowed: Sequence[str] | None, *, builtin: bool = False
) -> Tools:
    """Return the tools for a mode: `any` forces a call, `none` forbids functions."""
    forced = tuple(name for name in allowed or functions if name in functions)
    return Tools({} if mode == "none" else functions, builtin, forced=forced if mode == "any" else ())


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
    def requested_output(self) -> RequestedOutput:
        """The functions and the text that the prompt asks for."""
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
