"""Replacements for tiers, quotas and batches of the mock of PB."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from catalog_probe.mockserver.core.errors import Refusal
from catalog_probe.mockserver.pb.errors import PERMISSION, PRECONDITION, TOO_MANY, UNAVAILABLE
from catalog_probe.mockserver.pb.keys import Billing

if TYPE_CHECKING:
    from collections.abc import Callable


def free_is_refused(original: Callable[..., None]) -> Callable[..., None]:
    def replacement(project: Any, model: Any, service_tier: str) -> None:
        original(project, model, service_tier)
        if project.billing is Billing.NONE:
            raise PRECONDITION.with_message("There is no free tier.")()

    return replacement


def one_pool(original: Callable[..., Any]) -> Callable[..., Any]:
    return lambda call, model, service_tier, *args: original(call, model, "standard", *args)


def denied_when_shed(original: Callable[..., None]) -> Callable[..., None]:
    return _deny_with(original, TOO_MANY.status)


def denied_when_unavailable(original: Callable[..., None]) -> Callable[..., None]:
    return _deny_with(original, UNAVAILABLE.status)


def _deny_with(original: Callable[..., None], status: int) -> Callable[..., None]:
    def replacement(call: Any, model: Any) -> None:
        try:
            original(call, model)
        except Refusal as refusal:
            if refusal.row.status != status:
                raise
            raise PERMISSION.with_message("Flex inference is denied.")() from None

    return replacement


def a_project_each(original: Callable[[str], Any]) -> Callable[[str], Any]:
    return lambda secret: replace(original(secret), id=secret)


def in_new_york(original: ZoneInfo) -> ZoneInfo:
    return ZoneInfo("America/New_York")


def at_utc(original: ZoneInfo) -> ZoneInfo:
    return ZoneInfo("UTC")


def experimental_as_others(original: Callable[..., Any]) -> Callable[..., Any]:
    return lambda call, model, service_tier: original(call, replace(model, experimental=False), service_tier)


def preview_as_others(original: Callable[..., Any]) -> Callable[..., Any]:
    return lambda call, model, service_tier: original(call, replace(model, preview=False), service_tier)


def with_limit_headers(original: Callable[..., None]) -> Callable[..., None]:
    def replacement(call: Any, service_tier: str) -> None:
        original(call, service_tier)
        call.headers.update({"x-ratelimit-limit": "1000", "x-ratelimit-remaining": "999"})

    return replacement


def with_retry_after(original: Callable[..., None]) -> Callable[..., None]:
    def replacement(call: Any, service_tier: str) -> None:
        original(call, service_tier)
        call.headers["retry-after"] = "5"

    return replacement


def without_header(original: Callable[..., None]) -> Callable[..., None]:
    """Generations have it, their refusals have none."""

    def replacement(call: Any, *args: Any) -> Any:
        try:
            return original(call, *args)
        except Refusal:
            call.headers.clear()
            raise

    return replacement


def limit_of_one(original: Callable[..., Any]) -> Callable[..., Any]:
    return lambda model, excess: original(model, replace(excess, limit=excess.limit or 1))
