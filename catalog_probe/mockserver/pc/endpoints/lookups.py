"""PC's endpoints that generate nothing (1:4.3)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, NoReturn

from starlette.responses import JSONResponse, Response

from catalog_probe.mockserver.pc.bodies import read_object
from catalog_probe.mockserver.pc.fields import SPEND_LIMIT
from catalog_probe.mockserver.pc.limits.spending import Spending
from catalog_probe.mockserver.pc.models import find_model, list_available
from catalog_probe.mockserver.pc.pages import make_page

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.errors import ErrorRow
    from catalog_probe.mockserver.pc.call import Call
    from catalog_probe.mockserver.pc.models import Model


async def list_models(call: Call) -> Response:
    """List the models that the key may use."""
    return JSONResponse({"object": "list", "data": [_describe(model) for model in list_available(call)]})


async def get_model(call: Call) -> Response:
    """Describe a model."""
    return JSONResponse(_describe(find_model(call, call.params["model"])))


async def list_agents(call: Call) -> Response:
    """List no agent: the documents show no body for this path."""
    return make_page([])


async def list_external_storage(call: Call) -> Response:
    """List no storage: the documents show no body for this path."""
    return make_page([])


async def set_spend_limit(call: Call) -> Response:
    """Set the organization's hard spend limit; the documents show no fields."""
    body = await read_object(call, SPEND_LIMIT)
    call.session.state(Spending).limit_usd = body["limit_usd"]
    return JSONResponse({"object": "organization.spend_limit", "limit_usd": body["limit_usd"]})


async def list_model_limits(call: Call) -> Response:
    """List the fine-tuning limits (2:8.4); the documents show no fields."""
    tunable = [model for model in list_available(call) if model.kind == "text" and not model.reasoning]
    limits = [{"model": model.id, "max_active_jobs": 3, "max_jobs_per_day": 48} for model in tunable]
    return JSONResponse({"object": "list", "data": limits})


def make_absent_handler(absent: ErrorRow) -> Callable[[Call], Awaitable[NoReturn]]:
    """Make the handler of a resource that the mock never has (2:7.5)."""

    async def refuse(call: Call) -> NoReturn:
        raise absent(id=next(iter(call.params.values())))

    return refuse


def _describe(model: Model) -> dict[str, Any]:
    return {"id": model.id, "object": "model", "created": model.created, "owned_by": "mock"}
