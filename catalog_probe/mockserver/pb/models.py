"""PB's models, who may use them where, and their endpoints (1:4.2, 2:7.4, 2:9)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core import leniency
from catalog_probe.mockserver.pb.call import AsciiJsonResponse, make_page
from catalog_probe.mockserver.pb.errors import MODEL_CLOSED, NO_MODEL

if TYPE_CHECKING:
    from starlette.responses import Response

    from catalog_probe.mockserver.pb.call import Call
    from catalog_probe.mockserver.pb.keys import Project


GENERATE = "generateContent"
LIVE = "bidiGenerateContent"
BATCH = "batchGenerateContent"

STAND_INS = {LIVE: "mock-live-lite"}
"""The model that stands for an unknown one, by method, if the mock accepts any; `mock-lite` for other methods."""


@dataclass(frozen=True)
class Model:
    """A model. `reasons`: it spends tokens on thoughts; `draws`: it makes images."""

    id: str
    input_token_limit: int = 1_048_576
    output_token_limit: int = 65_536
    reasons: bool = False
    draws: bool = False
    preview: bool = False
    paid_only: bool = False
    experimental: bool = False
    closed_to_new_users: bool = False
    methods: tuple[str, ...] = (GENERATE, BATCH)
    kind: str = "other"  # which ceiling its batches have: `speech`, `embedding` or `other` (2:8.3)

    @property
    def max_temperature(self) -> int:
        """2 for most models, 1 for image models (1:4.2)."""
        return 1 if self.draws else 2


_TABLE = (
    Model("mock-pro", reasons=True),
    Model("mock-lite"),
    Model("mock-flash"),
    Model("mock-image", input_token_limit=32_768, output_token_limit=32_768, draws=True),
    Model("mock-premium", reasons=True, paid_only=True),
    Model("mock-pro-preview", reasons=True, preview=True),
    Model(
        "mock-legacy",
        input_token_limit=2_048,
        output_token_limit=2_048,
        closed_to_new_users=True,
    ),
    Model("mock-lite-preview", preview=True),
    Model("mock-lite-experimental", experimental=True),
    Model("mock-speech-preview", preview=True, methods=(BATCH,), kind="speech"),
    Model("mock-embedding", methods=(BATCH,), kind="embedding"),
    Model("mock-live", input_token_limit=131_072, methods=(LIVE,), preview=True),
    Model("mock-live-lite", input_token_limit=131_072, methods=(LIVE,)),
)

MODELS = {model.id: model for model in _TABLE}


def list_models_of(version: str) -> list[Model]:
    """Return the models of an API version; closed models stay listable (2:9)."""
    return [model for model in MODELS.values() if exists_in(model, version)]


def exists_in(model: Model, version: str) -> bool:
    """Return whether a version has a model: v1 has no preview ids (2:9)."""
    return version == "v1beta" or not model.preview


def find_model(name: str, version: str, project: Project | None = None, method: str | None = None) -> Model:
    """Return the model `name` or `models/name`, or refuse with 404.

    Args:
        project: if given, the model must be open to it.
        method: if given, the model must have it.
    """
    model_id = name.removeprefix("models/")
    model = leniency.find_model(MODELS, model_id, STAND_INS.get(method or "", "mock-lite"))
    if model is None or not exists_in(model, version) or (method is not None and method not in model.methods):
        raise NO_MODEL(id=model_id, version=version, method=method or "a description")
    if model.closed_to_new_users and project is not None and project.new_user:
        raise MODEL_CLOSED(id=model.id)
    return model


async def list_models(call: Call) -> Response:
    """List the models of this API version, page by page."""
    return AsciiJsonResponse(
        make_page(call, "models", [describe_model(model) for model in list_models_of(call.version)])
    )


async def get_model(call: Call) -> Response:
    """Describe a model; one that this API version does not list is 404."""
    return AsciiJsonResponse(describe_model(find_model(call.params["model"], call.version)))


def describe_model(model: Model) -> dict[str, Any]:
    """Return the fields of a model."""
    return {
        "name": f"models/{model.id}",
        "inputTokenLimit": model.input_token_limit,
        "outputTokenLimit": model.output_token_limit,
        "supportedGenerationMethods": list(model.methods),
        "maxTemperature": model.max_temperature,
    }
