"""What stands in the place of PB's counts, units and names, each a little beside what is documented."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.pb.call import JsonAnswer
from catalog_probe.mockserver.pb.errors import PbError

if TYPE_CHECKING:
    from starlette.responses import Response

    from catalog_probe.mockserver.pb.call import Call
    from catalog_probe.mockserver.pb.models import Model

Refusal = Callable[..., PbError]


def in_milliseconds(quota_refusal: Refusal) -> Refusal:
    def refusal(model: Model, excess: Any) -> PbError:
        refused = quota_refusal(model, excess)
        message = refused.message.rpartition("Please retry in ")[0] + f"Please retry in {excess.delay_s * 1000:.0f} ms."
        return PbError(refused.kind, message, refused.details)

    return refusal


def of_another_model(quota_refusal: Refusal) -> Refusal:
    def refusal(model: Model, excess: Any) -> PbError:
        refused = quota_refusal(model, excess)
        details = json.loads(json.dumps([dict(each) for each in refused.details]))
        for each in details:
            for violation in each.get("violations", ()):
                violation["quotaDimensions"]["model"] = "mock-another"
        return PbError(refused.kind, refused.message, details)

    return refusal


def without_small_ones(listed: Callable[[str], list[Model]]) -> Callable[[str], list[Model]]:
    return lambda version: [model for model in listed(version) if model.reasons or model.draws]


def of_another_name(handler: Callable[[Call], Awaitable[Response]]) -> Callable[[Call], Awaitable[Response]]:
    async def handled(call: Call) -> Response:
        body = json.loads(bytes((await handler(call)).body))
        return JsonAnswer({**body, "name": f"{body['name']}-other"})

    return handled


def _of_violations(quota_refusal: Refusal, change: Callable[[dict[str, Any]], None]) -> Refusal:
    def refusal(model: Model, excess: Any) -> PbError:
        refused = quota_refusal(model, excess)
        details = json.loads(json.dumps([dict(each) for each in refused.details]))
        for each in details:
            for violation in each.get("violations", ()):
                change(violation)
        return PbError(refused.kind, refused.message, details)

    return refusal


def of_no_location(quota_refusal: Refusal) -> Refusal:
    return _of_violations(quota_refusal, lambda violation: violation["quotaDimensions"].update(location=""))


def of_no_quota(quota_refusal: Refusal) -> Refusal:
    return _of_violations(quota_refusal, lambda violation: violation.update(quotaId=""))


def _saying(quota_refusal: Refusal, delay: Callable[[float], str]) -> Refusal:
    def refusal(model: Model, excess: Any) -> PbError:
        refused = quota_refusal(model, excess)
        begun = refused.message.rpartition("Please retry in ")[0]
        return PbError(refused.kind, f"{begun}Please retry in {delay(excess.delay_s)}", refused.details)

    return refusal


def without_unit(quota_refusal: Refusal) -> Refusal:
    return _saying(quota_refusal, lambda seconds: f"{seconds:.3f}.")


def of_no_tier(tell: Callable[[Call, str], None]) -> Callable[[Call, str], None]:
    return lambda call, service_tier: tell(call, "")
