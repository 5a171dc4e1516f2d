"""What a generation may ask for beyond its types: bounds and abilities; all are 400 in the envelope (2:7.6 row 400)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.pd.errors import invalid
from catalog_probe.mockserver.schema.wanted import NotOffered

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from catalog_probe.mockserver.pd.models import Model
    from catalog_probe.mockserver.schema.wanted import Wanted

EFFORTS = ("none", "low", "medium", "high")
ROLES = ("system", "developer", "user", "assistant", "tool", "function")


def require(body: Mapping[str, Any], *names: str) -> None:
    """Every field named is there. A missing one is a bad body: 422 is documented for wrong types alone."""
    for name in names:
        if name not in body:
            raise invalid(f"missing field `{name}`")


def within(body: Mapping[str, Any], name: str, low: float, high: float | None = None) -> None:
    """A number lies between bounds, both included."""
    value = body.get(name)
    if value is not None and (value < low or (high is not None and value > high)):
        wanted = f"at least {low:g}" if high is None else f"between {low:g} and {high:g}"
        raise invalid(f"{name} must be {wanted}, not {value}.")


def one_of(name: str, value: Any, options: Collection[str]) -> None:
    """A string is one of a few."""
    if value is not None and value not in options:
        raise invalid(f"{name} must be one of {', '.join(options)}, not {value!r}.")


def check_effort(model: Model, effort: Any) -> None:
    """`reasoning_effort` is a parameter of some models only (1:4.4)."""
    if effort is None:
        return
    if not model.reasoning_effort:
        raise invalid(f"Model {model.id} does not support parameter reasoningEffort.")
    one_of("reasoning_effort", effort, EFFORTS)


def check_conversation(messages: list[dict[str, Any]]) -> None:
    """A conversation has messages, each by somebody known."""
    if not messages:
        raise invalid("Messages cannot be empty.")
    for message in messages:
        require(message, "role")
        one_of("role", message["role"], ROLES)


def wanted(read: Callable[..., Wanted], body: Mapping[str, Any], said: str, already: Collection[str]) -> Wanted:
    """What a body wants of the functions that it offers, and of the text."""
    try:
        return read(body, said, already)
    except NotOffered as name:
        raise invalid(f"tool_choice: {str(name)!r} is none of the tools.") from None


def refuse_multi_agent(model: Model) -> None:
    """Multi-agent models are accepted by the responses endpoint alone (1:4.4)."""
    if model.multi_agent:
        raise invalid(f"Model {model.id} is a multi-agent model: use /v1/responses.")
