"""What a generation is refused for beside its fields: the model, the project, another endpoint's parameters (2:7.5)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core.echo import count_tokens
from catalog_probe.mockserver.pc.errors import (
    CONTEXT_LENGTH_EXCEEDED,
    MAX_TOKENS_TOO_LARGE,
    NOT_OF_THE_ENDPOINT,
    NOT_OF_THE_MODEL,
    NOT_OFFERED,
    SERVICE_TIER_NOT_ALLOWED,
)
from catalog_probe.mockserver.pc.models import find
from catalog_probe.mockserver.schema.requested_output import FunctionNotOffered, RequestedOutput

if TYPE_CHECKING:
    from catalog_probe.mockserver.pc.call import Call
    from catalog_probe.mockserver.pc.models import Model

Body = Mapping[str, Any]

SERVED_AS: Mapping[str, str] = {"auto": "default", "fast": "priority"}
"""What a service tier resolves to, where that is another: "fast counts as priority" (1:4.3)."""

OF_NO_REASONING_MODEL = ("temperature", "top_p")
"""1:4.3 names temperature; the other is what clients know."""


def refuse_fields_of_others(body: Any, names: Collection[str]) -> None:
    """Refuse the first parameter that is valid on another endpoint alone."""
    for name in body if isinstance(body, dict) else ():
        if name in names:
            raise NOT_OF_THE_ENDPOINT(name=name, param=name)


def find_generator(call: Call, body: Body, *limits: str) -> Model:
    """The model that a body asks, unless it or the project refuses; `limits` are the fields that bound the output."""
    model = find(call, body["model"], "text")
    refuse_sampling(model, body)
    find_service_tier(call, body)
    for name in limits:
        if body.get(name, 0) > model.max_output_tokens:
            raise MAX_TOKENS_TOO_LARGE(param=name, value=body[name], most=model.max_output_tokens)
    return model


def refuse_sampling(model: Model, body: Body) -> None:
    """A reasoning model takes no temperature (1:4.3)."""
    for name in OF_NO_REASONING_MODEL:
        if model.reasoning and name in body:
            raise NOT_OF_THE_MODEL(name=name, param=name)


def find_service_tier(call: Call, body: Body) -> str:
    """The tier that serves the request, or 400 where the project does not allow it."""
    wanted = body.get("service_tier", "auto")
    tier = SERVED_AS.get(wanted, wanted)
    if tier not in call.project.service_tiers:
        raise SERVICE_TIER_NOT_ALLOWED(tier=tier)
    return tier


def read_wanted(
    read: Callable[[Body, str, Collection[str]], RequestedOutput], body: Body, user_text: str, called: Collection[str]
) -> RequestedOutput:
    """What a body wants of the functions that it offers, and of the text."""
    try:
        return read(body, user_text, called)
    except FunctionNotOffered as error:
        raise NOT_OFFERED(name=str(error)) from None


def check_window(model: Model, prompt_text: str, limit: int | None, param: str) -> int:
    """The tokens of the prompt, or 400 where they and the output would not fit into the window."""
    prompt, output = count_tokens(prompt_text), limit or 0
    if prompt + output > model.context_window:
        raise CONTEXT_LENGTH_EXCEEDED(window=model.context_window, prompt=prompt, output=output, param=param)
    return prompt
