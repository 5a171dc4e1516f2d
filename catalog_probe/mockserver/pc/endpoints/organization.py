"""What concerns the organization: its spend limit, external storage, fine-tuning limits (1:4.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.responses import JSONResponse

from catalog_probe.mockserver.pc.call import read_object
from catalog_probe.mockserver.pc.fields import check, integer
from catalog_probe.mockserver.pc.models import available

if TYPE_CHECKING:
    from starlette.responses import Response

    from catalog_probe.mockserver.pc.call import Call


@dataclass
class Spending:
    """The organization's monthly hard spend limit in USD, where one is set. Nothing costs anything here."""

    limit_usd: int | None = None

    @property
    def exhausted(self) -> bool:
        """Whether there is nothing left to spend: the mock's only way there is a limit of nothing."""
        return self.limit_usd == 0


async def set_spend_limit(call: Call) -> Response:
    """POST /v1/organization/spend_limit; the documents show no field, `limit_usd` is assumed."""
    body = await read_object(call)
    check(body, {"limit_usd": integer(low=0)}, required=("limit_usd",))
    call.session.state(Spending).limit_usd = body["limit_usd"]
    return JSONResponse({"object": "organization.spend_limit", "limit_usd": body["limit_usd"]})


async def external_storage(call: Call) -> Response:
    """GET /v1/organization/external_storage."""
    return JSONResponse({"object": "list", "data": [], "has_more": False})


async def model_limits(call: Call) -> Response:
    """GET /v1/fine_tuning/model_limits."""
    tunable = [model for model in available(call.key, call.project) if model.kind == "text" and not model.reasoning]
    limits = [{"model": model.id, "max_active_jobs": 3, "max_jobs_per_day": 48} for model in tunable]
    return JSONResponse({"object": "list", "data": limits})
