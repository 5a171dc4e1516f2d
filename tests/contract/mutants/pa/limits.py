"""Replacements for usage and charges of PA, and for their headers and refusals (2:8.2)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from email.utils import formatdate
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.pa import limits
from catalog_probe.mockserver.pa.errors import NO_FAST_MODE
from catalog_probe.mockserver.pa.keys import Role

if TYPE_CHECKING:
    from starlette.responses import Response

    from catalog_probe.mockserver.core.limits import Limit, Meter, TokenBucket
    from catalog_probe.mockserver.pa.call import Call
    from catalog_probe.mockserver.pa.conversation import InputTokens
    from catalog_probe.mockserver.pa.limits import Admission
    from catalog_probe.mockserver.pa.models import Model

AdmitMessage = Callable[["Call", "Model", "InputTokens", Mapping[str, Any]], "Admission"]
CountInput = Callable[["Model", "InputTokens"], int]
Handler = Callable[["Call"], Awaitable["Response"]]
MetersOf = Callable[..., "list[Meter[Limit]]"]
Describe = Callable[[str, "TokenBucket", float], dict[str, str]]
Settle = Callable[["Admission", "Call", int], None]


def of_each_key(meters_of: MetersOf) -> MetersOf:
    return lambda call, group, limits, numbers, kind="": meters_of(
        call, f"{call.key.secret}/{group}", limits, numbers, kind
    )


def of_all_classes(meters_of: MetersOf) -> MetersOf:
    return lambda call, group, limits, numbers, kind="": meters_of(call, group.partition("/")[0], limits, numbers, kind)


def without_fresh(count: object) -> CountInput:
    return lambda model, measured: measured.created


def without_created(count: object) -> CountInput:
    return lambda model, measured: measured.fresh


def without_read(count: object) -> CountInput:
    return lambda model, measured: measured.fresh + measured.created


def with_read(count: object) -> CountInput:
    return lambda model, measured: measured.fresh + measured.created + measured.read


def leaves_the_estimate(settle: Settle) -> Settle:
    return lambda admission, call, output_tokens: settle(replace(admission, input_amount=0), call, output_tokens)


def charges_a_thousand(settle: Settle) -> Settle:
    return lambda admission, call, output_tokens: settle(admission, call, output_tokens + 1_000)


def no_output(settle: Settle) -> Settle:
    return lambda admission, call, output_tokens: settle(admission, call, 0)


def a_year_later(next_month: Callable[[float], float]) -> Callable[[float], float]:
    return lambda seconds: next_month(seconds) + 365 * 86_400


def a_minute_early(next_month: Callable[[float], float]) -> Callable[[float], float]:
    return lambda seconds: next_month(seconds) - 60


def a_minute_late(next_month: Callable[[float], float]) -> Callable[[float], float]:
    return lambda seconds: next_month(seconds) + 60


def auto_alone(admit: AdmitMessage) -> AdmitMessage:
    return lambda call, model, measured, body: admit(call, model, measured, {**body, "service_tier": "auto"})


def as_date(retry_after: object) -> Callable[[float], dict[str, str]]:
    return lambda wait_s: {"retry-after": formatdate(1_790_000_000 + wait_s, usegmt=True)}


def _in_seconds(family: str) -> Callable[[Describe], Describe]:
    def replacement(describe: Describe) -> Describe:
        def replacement(of: str, bucket: TokenBucket, now: float) -> dict[str, str]:
            usual = describe(of, bucket, now)
            return {**usual, "reset": str(round(bucket.full_at(now) - now))} if of == family else usual

        return replacement

    return replacement


requests_reset_in_seconds = _in_seconds("ratelimit-requests")
tokens_reset_in_seconds = _in_seconds("ratelimit-tokens")
input_tokens_reset_in_seconds = _in_seconds("ratelimit-input-tokens")
output_tokens_reset_in_seconds = _in_seconds("ratelimit-output-tokens")


def exact_tokens(describe: Describe) -> Describe:
    def replacement(family: str, bucket: TokenBucket, now: float) -> dict[str, str]:
        usual = describe(family, bucket, now)
        return {**usual, "remaining": str(bucket.remaining(now) - 7)} if family == "ratelimit-tokens" else usual

    return replacement


def acceleration_passes(raise_failure: Callable[[Call], None]) -> Callable[[Call], None]:
    def replacement(call: Call) -> None:
        if call.context.take("acceleration_limit") is None:
            raise_failure(call)

    return replacement


def standard_by_default(admit: AdmitMessage) -> AdmitMessage:
    return lambda call, model, measured, body: admit(call, model, measured, {"service_tier": "standard_only", **body})


def _apart(call: Call, of: str) -> Call:
    """The call of an organization that differs from the caller's in its meters alone."""
    organization = replace(call.key.organization, id=f"{call.key.organization.id}/{of}")
    return replace(call, key=replace(call.key, organization=organization))


def of_each_geo(admit: AdmitMessage) -> AdmitMessage:
    return lambda call, model, measured, body: admit(
        _apart(call, body.get("inference_geo") or "global"), model, measured, body
    )


def last_of_a_minute_is_a_400(admit: AdmitMessage) -> AdmitMessage:
    def replacement(call: Call, model: Model, measured: InputTokens, body: Mapping[str, Any]) -> Admission:
        admission = admit(call, model, measured, body)
        if not admission.shown[0].bucket.remaining(call.now):
            raise NO_FAST_MODE()
        return admission

    return replacement


def of_each_workspace(admit: AdmitMessage) -> AdmitMessage:
    return lambda call, model, measured, body: admit(_apart(call, call.key.workspace or ""), model, measured, body)


LONG_TOKENS = 200_000


def long_ones_apart(admit: AdmitMessage) -> AdmitMessage:
    def replacement(call: Call, model: Model, measured: InputTokens, body: Mapping[str, Any]) -> Admission:
        long = measured.fresh > LONG_TOKENS
        return admit(call, replace(model, limit_class=limits.RETIRED) if long else model, measured, body)

    return replacement


def counted_by_model(admit: Callable[[Call, str], None]) -> Callable[[Call, str], None]:
    """Batches that name models are counted apart from requests that name none."""

    def replacement(call: Call, group: str) -> None:
        names_models = call.request.method == "POST" and call.request.url.path.endswith("/batches")
        admit(_apart(call, "a model") if names_models else call, group)

    return replacement


def as_for_all(create: Handler) -> Handler:
    async def replacement(call: Call) -> Response:
        return await create(replace(call, key=replace(call.key, role=Role.INFERENCE)))

    return replacement
