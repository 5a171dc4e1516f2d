"""The body of a messages or count_tokens request: its fields, and what each model refuses (1:4.1, 2:7.3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from catalog_probe.mockserver.core import leniency
from catalog_probe.mockserver.pa import fields
from catalog_probe.mockserver.pa.errors import INVALID_REQUEST, PaError, invalid, not_found
from catalog_probe.mockserver.pa.generation.conversation import check_messages, ends_with_assistant
from catalog_probe.mockserver.pa.generation.tokens import count_input
from catalog_probe.mockserver.pa.generation.tools import check_tools, refuse_server_tools
from catalog_probe.mockserver.pa.models import MODELS, Model

Body = dict[str, Any]

COUNT_FIELDS: Mapping[str, fields.Check] = {
    "model": fields.string,
    "messages": fields.array,
    "system": fields.either(fields.string, fields.array),
    "tools": fields.array,
    "tool_choice": fields.tagged("auto", "any", "tool", "none"),
    "thinking": fields.tagged("enabled", "disabled", "adaptive"),
    "speed": fields.either(fields.null, fields.one_of("standard", "fast")),
    "cache_control": fields.either(fields.null, fields.tagged("ephemeral")),
    "output_config": fields.dictionary,
}
"""Fields of count_tokens. Any other is rejected, `betas` and `output_format` among them (1:4.1)."""

MESSAGE_FIELDS: Mapping[str, fields.Check] = {
    **COUNT_FIELDS,
    "max_tokens": fields.integer(minimum=1),
    "temperature": fields.number(0, 1),
    "top_p": fields.number(0, 1),
    "top_k": fields.integer(minimum=0),
    "stop_sequences": fields.strings,
    "stream": fields.boolean,
    "metadata": fields.dictionary,
    "service_tier": fields.one_of("auto", "standard_only"),
    "inference_geo": fields.either(fields.null, fields.string),
    "container": fields.either(fields.null, fields.string, fields.dictionary),
}
"""Fields of messages."""

USUAL = "mock-small"
"""Of which model one of any name is a stand-in."""

WITHOUT_SAMPLING = "2026-10-21"
"""From this version on a request may not say how tokens are drawn. Assumed: the documents show no version (2:9), and
this is what official clients know of it."""
SAMPLING = ("temperature", "top_k", "top_p")

GEOS = ("global", "us")
MIN_THINKING_BUDGET = 1_024

Rule = Callable[[Body, Model], str | None]
"""What a model objects to in a body; None when it does not."""


def too_many_tokens(body: Body, model: Model) -> str | None:
    """`max_tokens` above the model's maximum."""
    if body.get("max_tokens", 1) <= model.max_output_tokens:
        return None
    return (
        f"max_tokens: {body['max_tokens']} > {model.max_output_tokens}, which is the maximum allowed number of output "
        f"tokens for {model.id}"
    )


def temperature_with_top_p(body: Body, model: Model) -> str | None:
    """Both given, on a model that forbids it."""
    if model.temperature_with_top_p or "temperature" not in body or "top_p" not in body:
        return None
    return "`temperature` and `top_p` cannot both be specified for this model. Please use only one."


def unsupported_thinking(body: Body, model: Model) -> str | None:
    """Adaptive thinking, on a model that has none."""
    if model.adaptive_thinking or body.get("thinking", {}).get("type") != "adaptive":
        return None
    return "adaptive thinking is not supported on this model"


def unsupported_geo(body: Body, model: Model) -> str | None:
    """`inference_geo`, on a model that has none, or of another value."""
    if not model.inference_geo and body.get("inference_geo") is not None:
        return f"'{model.id}' does not support the `inference_geo` parameter."
    if body.get("inference_geo") not in (None, *GEOS):
        return f"inference_geo: Input should be {' or '.join(map(repr, GEOS))}"
    return None


def unsupported_speed(body: Body, model: Model) -> str | None:
    """`speed`, on a model that has none."""
    if model.speed or body.get("speed") is None:
        return None
    return f"'{model.id}' does not support the `speed` parameter."


def unsupported_prefill(body: Body, model: Model) -> str | None:
    """A conversation that ends with the assistant, on a model that will not go on from there."""
    if model.prefill or not ends_with_assistant(body["messages"]):
        return None
    return "This model does not support assistant message prefill. The conversation must end with a user message."


def thinking_budget(body: Body, model: Model) -> str | None:
    """What is wrong with the budget of enabled thinking."""
    thinking = body.get("thinking", {})
    if thinking.get("type") != "enabled":
        return None
    budget = thinking.get("budget_tokens")
    failure = fields.integer(minimum=MIN_THINKING_BUDGET)(budget)
    if failure:
        return f"thinking.enabled.budget_tokens: {failure}"
    if "max_tokens" in body and body["max_tokens"] <= budget:
        return "`max_tokens` must be greater than `thinking.budget_tokens`."
    return None


RULES: tuple[Rule, ...] = (
    too_many_tokens,
    temperature_with_top_p,
    unsupported_thinking,
    unsupported_geo,
    unsupported_speed,
    unsupported_prefill,
    thinking_budget,
)


def check_message(body: Body, *, extra: bool = False) -> tuple[Model, int]:
    """Raise the first thing wrong with a messages body, its model and input tokens; `extra` fields may pass."""
    return _check(body, MESSAGE_FIELDS, ("model", "messages", "max_tokens"), extra=extra)


def refuse_sampling(body: Body, version: str) -> None:
    """Raise that a message says how tokens are drawn, under a version in which none may."""
    named = next((name for name in SAMPLING if name in body), None)
    if named is not None and version >= WITHOUT_SAMPLING:
        raise invalid(f"{named}: not supported from version {WITHOUT_SAMPLING} on")


def refuse_threads(body: Body) -> None:
    """Raise that no conversation is kept here, as official clients understand it: they send the whole again.

    Assumed: no document names threads (2:9); the codes are those that the clients know.
    """
    if "thread" in body:
        details = {"error_code": "thread_unsupported_request", "unsupported": ["thread"]}
        raise PaError(INVALID_REQUEST, "thread: not supported here", details=details)


def check_count(body: Body, *, extra: bool = False) -> tuple[Model, int]:
    """Raise the first thing wrong with a count_tokens body, its model and input tokens; `extra` fields may pass."""
    found = _check(body, COUNT_FIELDS, ("model", "messages"), extra=extra)
    refuse_server_tools(body.get("tools", ()))
    return found


def find_model(model_id: str) -> Model:
    """The model called so, or 404."""
    model = MODELS.get(model_id) or _stand_in(model_id)
    if model is None:
        raise not_found(f"model: {model_id}")
    return model


def _stand_in(model_id: str) -> Model | None:
    """A model under another name, where that is let pass."""
    known = leniency.current().stand_in(model_id, USUAL)
    return replace(MODELS[known], id=model_id) if known in MODELS else None


def _check(
    body: Body, checks: Mapping[str, fields.Check], required: tuple[str, ...], *, extra: bool
) -> tuple[Model, int]:
    fields.check_fields(body, checks, required, extra=extra)
    check_messages(body["messages"])
    check_tools(body.get("tools", ()), body.get("tool_choice"))
    model = find_model(body["model"])
    for rule in RULES:
        objection = rule(body, model)
        if objection:
            raise invalid(objection)
    input_tokens = count_input(body)
    if input_tokens > model.max_input_tokens:
        raise invalid(f"prompt is too long: {input_tokens} tokens > {model.max_input_tokens} maximum")
    return model, input_tokens
