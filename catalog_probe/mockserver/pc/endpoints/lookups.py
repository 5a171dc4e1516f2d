"""What PC answers without generating: models, agents, storage, limits, and resources that are not there (1:4.3)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, NoReturn

from starlette.responses import JSONResponse, Response

from catalog_probe.mockserver.pc.bodies import read_object
from catalog_probe.mockserver.pc.fields import SPEND_LIMIT
from catalog_probe.mockserver.pc.limits.spending import Spending
from catalog_probe.mockserver.pc.models import find, list_available
from catalog_probe.mockserver.pc.pages import list_page

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.errors import ErrorRow
    from catalog_probe.mockserver.pc.gateway import Call
    from catalog_probe.mockserver.pc.models import Model


async def list_models(call: Call) -> Response:
    """The models that the key may use."""
    return JSONResponse({"object": "list", "data": [_describe(model) for model in list_available(call)]})


async def get_model(call: Call) -> Response:
    """One model."""
    return JSONResponse(_describe(find(call, call.params["model"])))


async def list_agents(call: Call) -> Response:
    """No agent: the documents show no body of the path."""
    return list_page([])


async def external_storage(call: Call) -> Response:
    """No storage: the documents show no body of the path."""
    return list_page([])


async def set_spend_limit(call: Call) -> Response:
    """Set the organization's hard spend limit; the documents show no field of it."""
    body = await read_object(call, SPEND_LIMIT)
    call.session.state(Spending).limit_usd = body["limit_usd"]
    return JSONResponse({"object": "organization.spend_limit", "limit_usd": body["limit_usd"]})


async def model_limits(call: Call) -> Response:
    """The fine-tuning limits (2:8.4); the documents show no field of them."""
    tunable = [model for model in list_available(call) if model.kind == "text" and not model.reasoning]
    limits = [{"model": model.id, "max_active_jobs": 3, "max_jobs_per_day": 48} for model in tunable]
    return JSONResponse({"object": "list", "data": limits})


def find_nothing(absent: ErrorRow) -> Callable[[Call], Awaitable[NoReturn]]:
    """A handler of a resource of which the mock holds none: each has its own way of saying so (2:7.5 rows 404)."""

    async def refuse(call: Call) -> NoReturn:
        raise absent(id=next(iter(call.params.values())))

    return refuse


def _describe(model: Model) -> dict[str, Any]:
    return {"id": model.id, "object": "model", "created": model.created, "owned_by": "mock"}
