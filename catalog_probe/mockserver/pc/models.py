"""PC's models: their kinds, sizes, limits and endpoints (1:4.3, 2:7.5, 2:8.4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse

from catalog_probe.mockserver.core import leniency
from catalog_probe.mockserver.pc.errors import MODEL_NOT_FOUND, NO_MODEL_OF_THIS_KIND

if TYPE_CHECKING:
    from starlette.responses import Response

    from catalog_probe.mockserver.pc.call import Call


@dataclass(frozen=True)
class Model:
    """A model. `limits` names its rows of 2:8.4; `dimensions` is a parameter."""

    id: str
    created: int
    kind: str = "text"
    limits: str = "mid"
    reasoning: bool = False
    context_window: int = 400_000
    max_output_tokens: int = 128_000
    dimensions: bool = True
    early_access: bool = False


_TABLE = (
    Model("mock-small", 1_760_000_000),
    Model("mock-large", 1_770_000_000, limits="large"),
    Model("mock-reasoning", 1_765_000_000, reasoning=True),
    Model("mock-verbose", 1_766_000_000, context_window=1_050_000, max_output_tokens=600_000),
    Model("mock-old", 1_690_000_000, limits="old", context_window=4_096, max_output_tokens=2_048),
    Model("mock-early-access", 1_780_000_000, early_access=True),
    Model("mock-embedding", 1_720_000_000, kind="embedding"),
    Model("mock-embedding-old", 1_670_000_000, kind="embedding", dimensions=False),
    Model("mock-long", 1_755_000_000, limits="long", context_window=128_000),
    Model("mock-image", 1_750_000_000, kind="image", limits="image"),
    Model("mock-image-only", 1_680_000_000, kind="image", limits="image_only"),
    Model("mock-realtime", 1_758_000_000, kind="realtime", limits="realtime"),
    Model("mock-speech", 1_740_000_000, kind="speech", limits="speech"),
    Model("mock-transcription", 1_745_000_000, kind="speech", limits="transcription"),
)

MODELS = {model.id: model for model in _TABLE}


def list_available(call: Call) -> list[Model]:
    """Return the models that the caller may use."""
    return [model for model in MODELS.values() if _is_usable(model, call)]


def find_model(call: Call, name: str, kind: str | None = None) -> Model:
    """Return the model; absent and denied ones share a 404 (2:7.5)."""
    stand_in = next(model.id for model in _TABLE if kind in (None, model.kind))
    model = leniency.find_model(MODELS, name, stand_in)
    if model is None or not _is_usable(model, call):
        raise MODEL_NOT_FOUND(model=name)
    if kind is not None and model.kind != kind:
        raise NO_MODEL_OF_THIS_KIND(model=name, kind=kind)
    return model


def _is_usable(model: Model, call: Call) -> bool:
    # No organization of the mock has early access to models.
    return not model.early_access and model.id not in call.project.denied_models


async def list_models(call: Call) -> Response:
    """List the models that the key may use."""
    return JSONResponse({"object": "list", "data": [_describe(model) for model in list_available(call)]})


async def get_model(call: Call) -> Response:
    """Describe a model."""
    return JSONResponse(_describe(find_model(call, call.params["model"])))


async def list_model_limits(call: Call) -> Response:
    """List the fine-tuning limits (2:8.4); the documents show no fields."""
    tunable = [model for model in list_available(call) if model.kind == "text" and not model.reasoning]
    limits = [{"model": model.id, "max_active_jobs": 3, "max_jobs_per_day": 48} for model in tunable]
    return JSONResponse({"object": "list", "data": limits})


def _describe(model: Model) -> dict[str, Any]:
    return {"id": model.id, "object": "model", "created": model.created, "owned_by": "mock"}
