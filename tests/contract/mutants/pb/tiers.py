"""What stands in the place of tiers, quotas and batches of the mock of PB."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any
from zoneinfo import ZoneInfo

TierOf = Callable[..., str]


def never_tier_1(original: TierOf) -> TierOf:
    return lambda **standing: "free" if original(**standing) == "tier1" else original(**standing)


def billed_anyway(original: Callable[..., Any]) -> Callable[..., Any]:
    from mockserver.pb.keys import Billing

    def standing(context: Any, project: Any) -> Any:
        found, history = original(context, project)
        given = context.scenario.params if context.scenario else {}
        return (replace(found, billing=Billing.LINKED, tier="tier1") if "billing" in given else found), history

    return standing


def billed_after_a_while(original: Callable[..., Any]) -> Callable[..., Any]:
    from mockserver.pb.keys import Billing

    def standing(context: Any, project: Any) -> Any:
        found, history = original(context, project)
        given = context.scenario.params if context.scenario else {}
        return (replace(found, billing=Billing.NONE, tier="free") if given.get("since") == 0 else found), history

    return standing


def tier_2_by_either(original: TierOf) -> TierOf:
    def tier_of(*, linked: bool, paid: float, days: float, effective: bool) -> str:
        tier = original(linked=linked, paid=paid, days=days, effective=effective)
        return "tier2" if tier == "tier1" and effective and (paid >= 100 or days >= 3) else tier

    return tier_of


def tier_3_by_either(original: TierOf) -> TierOf:
    def tier_of(*, linked: bool, paid: float, days: float, effective: bool) -> str:
        tier = original(linked=linked, paid=paid, days=days, effective=effective)
        return "tier3" if tier == "tier2" and effective and (paid >= 1000 or days >= 30) else tier

    return tier_of


def free_is_refused(original: Callable[..., None]) -> Callable[..., None]:
    from mockserver.pb.errors import PRECONDITION, PbError
    from mockserver.pb.keys import Billing

    def refuse_unpaid(project: Any, model: Any, service_tier: str) -> None:
        original(project, model, service_tier)
        if project.billing is Billing.NONE:
            raise PbError(PRECONDITION, "There is no free tier.")

    return refuse_unpaid


def without_its_own_cap(original: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def beyond_the_cap(call: Any) -> Any:
        return original(replace(call, history=replace(call.history, cap=0.0)))

    return beyond_the_cap


def by_the_clock(original: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The window begins anew at each full ten minutes, whatever was spent just before."""
    from mockserver.pb import quotas

    def overspent(call: Any) -> Any:
        return original(replace(call, context=replace(call.context, now=call.now + call.now % quotas.SPEND_WINDOW_S)))

    return overspent


def one_pool(original: Callable[..., Any]) -> Callable[..., Any]:
    return lambda call, model, pool, *args: original(call, model, "standard", *args)


def denied_when_shed(original: Callable[..., None]) -> Callable[..., None]:
    from mockserver.pb.errors import TOO_MANY

    return _denied(original, TOO_MANY)


def denied_when_unavailable(original: Callable[..., None]) -> Callable[..., None]:
    from mockserver.pb.errors import UNAVAILABLE

    return _denied(original, UNAVAILABLE)


def _denied(original: Callable[..., None], kind: Any) -> Callable[..., None]:
    from mockserver.pb.errors import PERMISSION, PbError

    def flex(call: Any, model: Any) -> None:
        try:
            original(call, model)
        except PbError as error:
            raise PbError(PERMISSION, error.message) if error.kind is kind else error from None

    return flex


Enqueued = Callable[[Any, Any, Sequence[Any]], int]


def over_all_models(original: Enqueued) -> Enqueued:
    return lambda call, model, active: sum(job.tokens for job in active) + call.history.enqueued


def of_the_last_job(original: Enqueued) -> Enqueued:
    return lambda call, model, active: original(call, model, active[-1:])


def a_project_each(original: Callable[[str], Any]) -> Callable[[str], Any]:
    return lambda secret: replace(original(secret), id=secret)


def in_new_york(original: ZoneInfo) -> ZoneInfo:
    return ZoneInfo("America/New_York")


def at_utc(original: ZoneInfo) -> ZoneInfo:
    return ZoneInfo("UTC")


def experimental_as_others(original: Callable[..., Any]) -> Callable[..., Any]:
    return lambda call, model, pool: original(call, replace(model, experimental=False), pool)


def preview_as_others(original: Callable[..., Any]) -> Callable[..., Any]:
    return lambda call, model, pool: original(call, replace(model, preview=False), pool)


def with_limit_headers(original: Callable[..., None]) -> Callable[..., None]:
    def tell(call: Any, service_tier: str) -> None:
        original(call, service_tier)
        call.headers.update({"x-ratelimit-limit": "1000", "x-ratelimit-remaining": "999"})

    return tell


def with_retry_after(original: Callable[..., None]) -> Callable[..., None]:
    def tell(call: Any, service_tier: str) -> None:
        original(call, service_tier)
        call.headers["retry-after"] = "5"

    return tell


def without_header(original: Callable[..., None]) -> Callable[..., None]:
    """Generations have it, their refusals have none."""
    from mockserver.pb.errors import PbError

    def admit(call: Any, *args: Any) -> Any:
        try:
            return original(call, *args)
        except PbError:
            call.headers.clear()
            raise

    return admit


def limit_of_one(original: Callable[..., Any]) -> Callable[..., Any]:
    return lambda model, excess: original(model, replace(excess, limit=excess.limit or 1))
