"""Replacements for PB's counts, units and names, each slightly wrong."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core.errors import Refusal
from catalog_probe.mockserver.pb.call import AsciiJsonResponse

if TYPE_CHECKING:
    from starlette.responses import Response

    from catalog_probe.mockserver.pb.call import Call
    from catalog_probe.mockserver.pb.models import Model

Refuse = Callable[[str, Any], Refusal]


def _saying(refuse: Refuse, delay: Callable[[float], str]) -> Refuse:
    def replacement(model: str, excess: Any) -> Refusal:
        refusal = refuse(model, excess)
        begun = refusal.message.rpartition("Please retry in ")[0]
        return Refusal(refusal.row, f"{begun}Please retry in {delay(excess.delay_s)}", extra=refusal.extra)

    return replacement


def in_milliseconds(refuse: Refuse) -> Refuse:
    return _saying(refuse, lambda seconds: f"{seconds * 1000:.0f} ms.")


def at_half_time(refuse: Refuse) -> Refuse:
    return _saying(refuse, lambda seconds: f"{seconds / 2:.3f}s.")


def without_unit(refuse: Refuse) -> Refuse:
    return _saying(refuse, lambda seconds: f"{seconds:.3f}.")


def _of_violations(refuse: Refuse, change: Callable[[dict[str, Any]], None]) -> Refuse:
    def replacement(model: str, excess: Any) -> Refusal:
        refusal = refuse(model, excess)
        for detail in refusal.extra["details"]:
            for violation in detail.get("violations", ()):
                change(violation)
        return refusal

    return replacement


def of_another_model(refuse: Refuse) -> Refuse:
    return _of_violations(refuse, lambda violation: violation["quotaDimensions"].update(model="mock-another"))


def of_no_location(refuse: Refuse) -> Refuse:
    return _of_violations(refuse, lambda violation: violation["quotaDimensions"].update(location=""))


def of_no_quota(refuse: Refuse) -> Refuse:
    return _of_violations(refuse, lambda violation: violation.update(quotaId=""))


def without_small_ones(listed: Callable[[str], list[Model]]) -> Callable[[str], list[Model]]:
    return lambda version: [model for model in listed(version) if model.reasons or model.draws]


def of_another_name(handler: Callable[[Call], Awaitable[Response]]) -> Callable[[Call], Awaitable[Response]]:
    async def replacement(call: Call) -> Response:
        body = json.loads(bytes((await handler(call)).body))
        return AsciiJsonResponse({**body, "name": f"{body['name']}-other"})

    return replacement


def of_no_tier(tell: Callable[[Call, str], None]) -> Callable[[Call, str], None]:
    return lambda call, service_tier: tell(call, "")
