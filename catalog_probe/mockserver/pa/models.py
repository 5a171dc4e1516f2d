"""PA's models: bounds, abilities, rate-limit class, endpoints (1:4.1, 2:8.2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from starlette.responses import JSONResponse

from catalog_probe.mockserver.core import leniency
from catalog_probe.mockserver.pa.call import make_page
from catalog_probe.mockserver.pa.errors import (
    NO_ADAPTIVE_THINKING,
    NO_INFERENCE_GEO,
    NO_MODEL,
    NO_PREFILL,
    NO_SPEED,
    TEMPERATURE_AND_TOP_P,
)

if TYPE_CHECKING:
    from starlette.responses import Response

    from catalog_probe.mockserver.core.errors import ErrorRow
    from catalog_probe.mockserver.pa.call import Call


Body = Mapping[str, Any]


@dataclass(frozen=True)
class Model:
    """A model; a request for what it cannot do gets 400 (2:7.3).

    Args:
        priority: whether a priority commitment covers it; not so for several of the newest classes (2:8.2).
    """

    id: str
    display_name: str
    limit_class: str
    created_at: str
    max_input_tokens: int = 200_000
    max_output_tokens: int = 64_000
    prefill: bool = True
    adaptive_thinking: bool = False
    temperature_with_top_p: bool = True
    inference_geo: bool = False
    speed: bool = False
    priority: bool = True
    deprecated_at: str | None = None


_TABLE = (
    Model(
        "mock-large",
        "Mock Large",
        limit_class="newest_large",
        created_at="2026-05-01T00:00:00Z",
        max_input_tokens=1_000_000,
        max_output_tokens=128_000,
        prefill=False,
        adaptive_thinking=True,
        temperature_with_top_p=False,
        inference_geo=True,
        speed=True,
        priority=False,
    ),
    Model(
        "mock-large-earlier",
        "Mock Large (the generation before it)",
        limit_class="newest_large",
        created_at="2026-03-01T00:00:00Z",
        priority=False,
    ),
    Model(
        "mock-vast", "Mock Vast", limit_class="second_newest_large", created_at="2026-05-15T00:00:00Z", priority=False
    ),
    Model("mock-grand", "Mock Grand", limit_class="own_large", created_at="2026-04-01T00:00:00Z"),
    Model(
        "mock-grand-previous", "Mock Grand (previous)", limit_class="previous_large", created_at="2025-08-01T00:00:00Z"
    ),
    Model(
        "mock-mid",
        "Mock Mid",
        limit_class="own_mid",
        created_at="2026-02-01T00:00:00Z",
        prefill=False,
        adaptive_thinking=True,
        temperature_with_top_p=False,
        inference_geo=True,
    ),
    Model("mock-mid-previous", "Mock Mid (previous)", limit_class="previous_mid", created_at="2025-05-01T00:00:00Z"),
    Model("mock-small", "Mock Small", limit_class="small", created_at="2025-10-01T00:00:00Z"),
    Model(
        "mock-small-retired",
        "Mock Small (retired class)",
        limit_class="retired_small",
        created_at="2024-03-07T00:00:00Z",
        max_output_tokens=4_096,
        deprecated_at="2026-01-01T00:00:00Z",
    ),
)

MODELS = {model.id: model for model in _TABLE}

USUAL = "mock-small"  # an unknown model stands in for it, if the mock accepts any


class Ability(NamedTuple):
    """What some models cannot do: its column, its condition, and its 400."""

    column: str
    is_requested: Callable[[Body], bool]
    row: ErrorRow


ABILITIES = (
    Ability("temperature_with_top_p", lambda body: {"temperature", "top_p"} <= body.keys(), TEMPERATURE_AND_TOP_P),
    Ability("prefill", lambda body: bool(body["messages"][-1]["role"] == "assistant"), NO_PREFILL),
    Ability(
        "adaptive_thinking",
        lambda body: bool(body.get("thinking", {}).get("type") == "adaptive"),
        NO_ADAPTIVE_THINKING,
    ),
    Ability("inference_geo", lambda body: body.get("inference_geo") is not None, NO_INFERENCE_GEO),
    Ability("speed", lambda body: body.get("speed") is not None, NO_SPEED),
)
"""2:7.3 "Live 400 message kinds"."""


def find_model(model_id: str) -> Model:
    """Return the model, or raise 404."""
    model = leniency.find_model(MODELS, model_id, USUAL)
    if model is None:
        raise NO_MODEL(id=model_id)
    return model


def refuse_unsupported(body: Body, model: Model) -> None:
    """Raise the 400 of what a body requests of a model that cannot do it."""
    for ability in ABILITIES:
        if ability.is_requested(body) and not getattr(model, ability.column):
            raise ability.row(model=model.id)


SUPPORTED = {"supported": True}
UNSUPPORTED = {"supported": False}


async def list_models(call: Call) -> Response:
    """Answer with one page of all models."""
    return JSONResponse(make_page(call, [_describe(model) for model in MODELS.values()]))


async def get_model(call: Call) -> Response:
    """Answer with one model; 404 for an unknown id."""
    return JSONResponse(_describe(find_model(call.params["model_id"])))


def _describe(model: Model) -> dict[str, Any]:
    """Return the full set of fields, because clients validate it."""
    return {
        "type": "model",
        "id": model.id,
        "display_name": model.display_name,
        "created_at": model.created_at,
        "deprecated_at": model.deprecated_at,
        "retires_at": None,
        "lifecycle": "deprecated" if model.deprecated_at else "active",
        "line": None,
        "max_input_tokens": model.max_input_tokens,
        "max_tokens": model.max_output_tokens,
        "capabilities": _capabilities(model),
    }


def _capabilities(model: Model) -> dict[str, Any]:
    adaptive = SUPPORTED if model.adaptive_thinking else UNSUPPORTED
    levels = dict.fromkeys(("low", "medium", "high", "max", "xhigh"), adaptive)
    thinking = {"adaptive": adaptive, "between_tools": SUPPORTED, "disabled": SUPPORTED, "enabled": SUPPORTED}
    plain = ("batch", "citations", "code_execution", "image_input", "pdf_input", "structured_outputs")
    return {
        **dict.fromkeys(plain, SUPPORTED),
        "context_management": {**UNSUPPORTED, "clear_thinking_20251015": UNSUPPORTED},
        "effort": {**adaptive, **levels},
        "server_tools": {**SUPPORTED, "code_execution": SUPPORTED, "web_search": SUPPORTED},
        "thinking": {**SUPPORTED, "types": thinking},
    }
