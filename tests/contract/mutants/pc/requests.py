"""Replacements for how PC checks requests (1:4.3, 2:7.5)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core.errors import Refusal
from catalog_probe.mockserver.core.fields import Breach
from catalog_probe.mockserver.pc.errors import UNKNOWN_PARAMETER
from catalog_probe.mockserver.pc.generation import SERVED_AS
from catalog_probe.mockserver.pc.models import MODELS, Model
from catalog_probe.mockserver.pc.scenarios import MODERATION, USAGE_POLICY

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.fields import Violation
    from catalog_probe.mockserver.core.world import Context
    from catalog_probe.mockserver.pc.call import Call

CheckResponse = Callable[[Any], dict[str, Any]]
CheckTier = Callable[["Call", Mapping[str, Any]], str]
CheckWindow = Callable[[Model, str, int | None, str], int]
Violations = Callable[..., Iterator["Violation"]]


def defaults_the_model(check: CheckResponse) -> CheckResponse:
    return lambda asked: check({**asked, "model": asked.get("model") or "mock-small"})


def knows_no_model(check: CheckResponse) -> CheckResponse:
    def replacement(asked: Any) -> dict[str, Any]:
        if "model" in asked:
            raise UNKNOWN_PARAMETER(path="model", param="model")
        return check(asked)

    return replacement


def any_type_of_limit(check: CheckResponse) -> CheckResponse:
    def replacement(asked: Any) -> dict[str, Any]:
        limited = isinstance(asked.get("max_output_tokens"), int)
        return check({name: value for name, value in asked.items() if limited or name != "max_output_tokens"})

    return replacement


def both_together(check: CheckResponse) -> CheckResponse:
    both = ("previous_response_id", "conversation")

    def replacement(asked: Any) -> dict[str, Any]:
        together = all(asked.get(name) is not None for name in both)
        return check({name: value for name, value in asked.items() if not together or name not in both})

    return replacement


def _but(*breaches: Breach) -> Callable[[Violations], Violations]:
    """Takes no offence at some ways of breaking a table."""
    return lambda violations: (
        lambda body, table, **how: (
            violation for violation in violations(body, table, **how) if violation.breach not in breaches
        )
    )


but_unknown = _but(Breach.UNKNOWN)
but_out_of_range = _but(Breach.BELOW, Breach.ABOVE)
but_below = _but(Breach.BELOW)
but_above = _but(Breach.ABOVE)
but_options = _but(Breach.OPTION)
but_long_strings = _but(Breach.TOO_LONG)
but_long_arrays = _but(Breach.TOO_MANY)


def of_whatever(read: Callable[[Call], Awaitable[Any]]) -> Callable[[Call], Awaitable[Any]]:
    """Takes what cannot be parsed for the plainest request."""

    async def replacement(call: Call) -> Any:
        try:
            return await read(call)
        except Refusal as refusal:
            if refusal.row.code != "invalid_json":
                raise
            return {"model": "mock-small", "input": "Hello."}

    return replacement


def whatever_it_takes(check: object) -> CheckWindow:
    return lambda model, heard, limit, param: len(heard) // 4


def prompt_alone(check: CheckWindow) -> CheckWindow:
    return lambda model, heard, limit, param: check(model, heard, None, param)


def _passes(tier: str) -> Callable[[CheckTier], CheckTier]:
    def replacement(check: CheckTier) -> CheckTier:
        return lambda call, body: (
            SERVED_AS.get(tier, tier) if (body.get("service_tier") or "auto") == tier else check(call, body)
        )

    return replacement


lets_default_pass = _passes("default")
lets_flex_pass = _passes("flex")
lets_priority_pass = _passes("priority")
lets_auto_pass = _passes("auto")


def _blind_to(cause: str, **params: str) -> Callable[[Callable[[Context], None]], Callable[[Context], None]]:
    """Takes a cause, where it is of this kind, and lets it pass."""

    def replacement(moderate: Callable[[Context], None]) -> Callable[[Context], None]:
        def replacement(context: Context) -> None:
            scenario = context.scenario
            if scenario is None or scenario.name != cause or not params.items() <= scenario.params.items():
                moderate(context)
            else:
                context.take(cause)

        return replacement

    return replacement


passes_input = _blind_to(MODERATION, stage="input")
passes_output = _blind_to(MODERATION, stage="output")
passes_usage = _blind_to(USAGE_POLICY)


def some_model(find: Callable[..., Model]) -> Callable[..., Model]:
    return lambda call, name, *args: find(call, name if name in MODELS else "mock-small", *args)
