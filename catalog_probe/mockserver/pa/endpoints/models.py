"""GET /v1/models and /v1/models/{id} (1:4.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse

from catalog_probe.mockserver.pa.models import MODELS, Model, find_model
from catalog_probe.mockserver.pa.paging import make_page

if TYPE_CHECKING:
    from starlette.responses import Response

    from catalog_probe.mockserver.pa.call import Call

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
