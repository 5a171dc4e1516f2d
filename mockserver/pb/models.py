"""GET models and one model, in v1 and v1beta (1:4.2, 2:9)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mockserver.pb.call import JsonAnswer
from mockserver.pb.catalogue import Model, find_model, listed
from mockserver.pb.errors import OUT_OF_RANGE, PbError, invalid

if TYPE_CHECKING:
    from starlette.responses import Response

    from mockserver.pb.call import Call

MAX_PAGE = 1_000
DEFAULT_PAGE = 50


async def list_models(call: Call) -> Response:
    """One page of the models of this API version."""
    found = listed(call.version)
    size = _whole_number(call, "pageSize", DEFAULT_PAGE)
    start = _whole_number(call, "pageToken", 0)
    if start > len(found):
        raise PbError(OUT_OF_RANGE, "pageToken: lies behind the last model.")
    page: dict[str, Any] = {"models": [described(model) for model in found[start : start + min(size, MAX_PAGE)]]}
    if start + size < len(found):
        page["nextPageToken"] = str(start + size)
    return JsonAnswer(page)


async def get_model(call: Call) -> Response:
    """One model; 404 for an id that this API version does not list."""
    return JsonAnswer(described(find_model(call.params["model"], call.version)))


def _whole_number(call: Call, name: str, default: int) -> int:
    text = call.request.query_params.get(name)
    if not text:
        return default
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise invalid(f"{name}: {text!r} is not a page of this listing")
    return int(text) or default


def described(model: Model) -> dict[str, Any]:
    """A model as it is listed."""
    return {
        "name": f"models/{model.id}",
        "version": "001",
        "displayName": model.display_name,
        "description": f"{model.display_name}, a model of the mock",
        "inputTokenLimit": model.input_token_limit,
        "outputTokenLimit": model.output_token_limit,
        "supportedGenerationMethods": list(model.methods),
        "temperature": 1,
        "topP": 0.95,
        "topK": 64,
        "maxTemperature": model.max_temperature,
        "thinking": model.reasons,
    }
