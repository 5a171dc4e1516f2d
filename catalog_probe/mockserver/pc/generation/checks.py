"""Checks of a generation request beyond its fields (2:7.5)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core.echo import count_tokens
from catalog_probe.mockserver.pc.errors import (
    CONTEXT_LENGTH_EXCEEDED,
    MAX_TOKENS_TOO_LARGE,
    NOT_OF_THE_ENDPOINT,
    NOT_OF_THE_MODEL,
    SERVICE_TIER_NOT_ALLOWED,
)
from catalog_probe.mockserver.pc.models import find_model

if TYPE_CHECKING:
    from catalog_probe.mockserver.pc.call import Call
    from catalog_probe.mockserver.pc.models import Model

Body = Mapping[str, Any]

SERVED_AS: Mapping[str, str] = {"auto": "default", "fast": "priority"}
"""The service tier that serves a requested one, if it is another: "fast counts as priority" (1:4.3)."""

SAMPLING_PARAMETERS = ("temperature", "top_p")
"""Parameters that no reasoning model takes: 1:4.3 names temperature, clients also know top_p."""


def refuse_other_fields(body: Any, names: Collection[str]) -> None:
    """Refuse the first parameter that only the other endpoint takes."""
    for name in body if isinstance(body, dict) else ():
        if name in names:
            raise NOT_OF_THE_ENDPOINT(name=name, param=name)


def find_text_model(call: Call, body: Body, *limits: str) -> Model:
    """Return the model, after checking the parameters; `limits` bound the output."""
    model = find_model(call, body["model"], "text")
    refuse_sampling(model, body)
    find_service_tier(call, body)
    for name in limits:
        if body.get(name, 0) > model.max_output_tokens:
            raise MAX_TOKENS_TOO_LARGE(param=name, value=body[name], most=model.max_output_tokens)
    return model


def refuse_sampling(model: Model, body: Body) -> None:
    """Refuse sampling parameters for a reasoning model (1:4.3)."""
    for name in SAMPLING_PARAMETERS:
        if model.reasoning and name in body:
            raise NOT_OF_THE_MODEL(name=name, param=name)


def find_service_tier(call: Call, body: Body) -> str:
    """Return the tier that serves the request, if the project allows it."""
    requested_tier = body.get("service_tier", "auto")
    tier = SERVED_AS.get(requested_tier, requested_tier)
    if tier not in call.project.service_tiers:
        raise SERVICE_TIER_NOT_ALLOWED(tier=tier)
    return tier


def check_window(model: Model, prompt_text: str, limit: int | None, param: str) -> int:
    """Return the tokens of the prompt, if the context window holds the output."""
    prompt, output = count_tokens(prompt_text), limit or 0
    if prompt + output > model.context_window:
        raise CONTEXT_LENGTH_EXCEEDED(window=model.context_window, prompt=prompt, output=output, param=param)
    return prompt
