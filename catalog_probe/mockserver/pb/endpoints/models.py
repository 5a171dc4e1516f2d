"""PB's models, in v1 and v1beta (1:4.2, 2:9)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.pb.bodies import AsciiJsonResponse
from catalog_probe.mockserver.pb.models import Model, find_model, list_models_of
from catalog_probe.mockserver.pb.paging import make_page

if TYPE_CHECKING:
    from starlette.responses import Response

    from catalog_probe.mockserver.pb.call import Call


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
