"""What stands in the place of how PC checks what it is asked for (1:4.3, 2:7.5)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.pc.call import Call
from catalog_probe.mockserver.pc.causes import MODERATION, USAGE_POLICY
from catalog_probe.mockserver.pc.errors import PcError
from catalog_probe.mockserver.pc.generation.response_request import SERVED_AS
from catalog_probe.mockserver.pc.models import MODELS, Model

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.world import Context
    from catalog_probe.mockserver.pc.fields import Field

CheckResponse = Callable[[Call, dict[str, Any]], Model]
CheckTier = Callable[[Call, Mapping[str, Any]], str]
CheckValue = Callable[[str, Any, "Field"], None]


def defaults_the_model(check: CheckResponse) -> CheckResponse:
    def checked(call: Call, body: dict[str, Any]) -> Model:
        body.setdefault("model", "mock-small")
        return check(call, body)

    return checked


def any_type_of_limit(check: CheckResponse) -> CheckResponse:
    def checked(call: Call, body: dict[str, Any]) -> Model:
        if not isinstance(body.get("max_output_tokens"), int):
            body.pop("max_output_tokens", None)
        return check(call, body)

    return checked


def both_together(check: CheckResponse) -> CheckResponse:
    def checked(call: Call, body: dict[str, Any]) -> Model:
        if body.get("previous_response_id") is not None and body.pop("conversation", None) is not None:
            del body["previous_response_id"]
        return check(call, body)

    return checked


def lenient(check: Callable[..., None]) -> Callable[..., None]:
    def checked(body: Mapping[str, Any], fields: Mapping[str, Field], *of: Any, **named: Any) -> None:
        check({name: value for name, value in body.items() if name in fields}, fields, *of, **named)

    return checked


def not_below(check: CheckValue) -> CheckValue:
    return lambda name, value, field: check(name, value, replace(field, low=None))


def not_above(check: CheckValue) -> CheckValue:
    return lambda name, value, field: check(name, value, replace(field, high=None))


def any_option(check: CheckValue) -> CheckValue:
    return lambda name, value, field: check(name, value, replace(field, options=()))


def any_length(check: CheckValue) -> CheckValue:
    return lambda name, value, field: check(name, value, replace(field, max_length=None))


def of_whatever(read: Callable[[Call], Awaitable[dict[str, Any]]]) -> Callable[[Call], Awaitable[dict[str, Any]]]:
    """Takes what cannot be parsed for the plainest request."""

    async def taken(call: Call) -> dict[str, Any]:
        try:
            return await read(call)
        except PcError as error:
            if error.code != "invalid_json":
                raise
            return {"model": "mock-small", "input": "Hello."}

    return taken


def whatever_it_takes(check: object) -> Callable[[Model, str, int | None, str], int]:
    return lambda model, heard, limit, param: len(heard) // 4


def prompt_alone(check: Callable[[Model, str, int | None, str], int]) -> Callable[[Model, str, int | None, str], int]:
    return lambda model, heard, limit, param: check(model, heard, None, param)


def _passes(tier: str) -> Callable[[CheckTier], CheckTier]:
    def lets_pass(check: CheckTier) -> CheckTier:
        return lambda call, body: (
            SERVED_AS.get(tier, tier) if (body.get("service_tier") or "auto") == tier else check(call, body)
        )

    return lets_pass


lets_default_pass = _passes("default")
lets_flex_pass = _passes("flex")
lets_priority_pass = _passes("priority")
lets_auto_pass = _passes("auto")


def _blind_to(cause: str, **params: str) -> Callable[[Callable[[Context], None]], Callable[[Context], None]]:
    """Takes a cause, where it is of this kind, and lets it pass."""

    def blind(moderate: Callable[[Context], None]) -> Callable[[Context], None]:
        def moderated(context: Context) -> None:
            scenario = context.scenario
            if scenario is None or scenario.name != cause or not params.items() <= scenario.params.items():
                moderate(context)
            else:
                context.take(cause)

        return moderated

    return blind


passes_input = _blind_to(MODERATION, stage="input")
passes_output = _blind_to(MODERATION, stage="output")
passes_usage = _blind_to(USAGE_POLICY)


def some_model(find: Callable[..., Model]) -> Callable[..., Model]:
    return lambda name, *of, **named: find(name if name in MODELS else "mock-small", *of, **named)
