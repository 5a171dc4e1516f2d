"""Replacements for limits of PC, and for their headers (2:8.4)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from email.utils import formatdate
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core.limits import TokenBucket
from catalog_probe.mockserver.pc.call import read_value
from catalog_probe.mockserver.pc.limits import DAY_S, LONG_CONTEXT_FROM, count_request
from catalog_probe.mockserver.pc.responses import check_response
from catalog_probe.mockserver.pc.scenarios import REGION

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.limits import Limit, Meter
    from catalog_probe.mockserver.core.world import Context
    from catalog_probe.mockserver.pc.call import Call
    from catalog_probe.mockserver.pc.models import Model

AdmitTokens = Callable[["Call", "Model", int, int], None]
TokenMeters = Callable[..., "list[Meter[Limit]]"]
AdmitToStore = Callable[["Call"], None]
Enqueue = Callable[["Call", "Model", int], None]
Headers = Callable[[str, TokenBucket, float], dict[str, str]]
Read = Callable[["Call"], Awaitable[Any]]


def region_passes(raise_failure: Callable[[Context], None]) -> Callable[[Context], None]:
    def replacement(context: Context) -> None:
        if context.take(REGION) is None:
            raise_failure(context)

    return replacement


def prompt_alone(admit: AdmitTokens) -> AdmitTokens:
    return lambda call, model, prompt, max_tokens: admit(call, model, prompt, 0)


def max_tokens_alone(admit: AdmitTokens) -> AdmitTokens:
    return lambda call, model, prompt, max_tokens: admit(
        call, model, prompt if prompt > LONG_CONTEXT_FROM else 0, max_tokens
    )


def of_a_day_alone(token_meters: TokenMeters) -> TokenMeters:
    """Charges no limit of a minute, neither the organization's nor the project's."""
    return lambda call, model, **options: [
        meter for meter in token_meters(call, model, **options) if meter.limit.window_s == DAY_S
    ]


def sum_of_both(admit: AdmitTokens) -> AdmitTokens:
    return lambda call, model, prompt, max_tokens: admit(call, model, prompt, prompt + max_tokens)


def counts_batches(enqueue: Enqueue) -> Enqueue:
    return lambda call, model, tokens: enqueue(call, model, 1)


def of_all_models(enqueue: Enqueue) -> Enqueue:
    return lambda call, model, tokens: enqueue(call, replace(model, id=""), tokens)


def every_store(admit: AdmitToStore) -> AdmitToStore:
    return lambda call: admit(replace(call, params={"vector_store_id": ""}))


def each_path(admit: AdmitToStore) -> AdmitToStore:
    return lambda call: admit(replace(call, params={"vector_store_id": call.request.url.path}))


def as_date(retry_after: object) -> Callable[[float], dict[str, str]]:
    return lambda seconds: {"retry-after": formatdate(1_790_000_000 + seconds, usegmt=True)}


def failed_ones_are_free(read_counted: Read) -> Read:
    """Counts a request for a response when its body has been found good."""

    async def replacement(call: Call) -> Any:
        if not call.request.url.path.endswith("/responses"):
            return await read_counted(call)
        body = check_response(await read_value(call))
        count_request(call, body)
        return body

    return replacement


def _without(name: str) -> Callable[[Headers], Headers]:
    def replacement(headers_of: Headers) -> Headers:
        def replacement(family: str, bucket: TokenBucket, now: float) -> dict[str, str]:
            return {header: value for header, value in headers_of(family, bucket, now).items() if header != name}

        return replacement

    return replacement


def _plain_reset(name: str) -> Callable[[Headers], Headers]:
    def replacement(headers_of: Headers) -> Headers:
        def replacement(family: str, bucket: TokenBucket, now: float) -> dict[str, str]:
            all_headers = headers_of(family, bucket, now)
            return {**all_headers, name: str(round(bucket.full_at(now) - now))} if name in all_headers else all_headers

        return replacement

    return replacement


without_limit_requests = _without("x-ratelimit-limit-requests")
without_remaining_requests = _without("x-ratelimit-remaining-requests")
without_reset_requests = _without("x-ratelimit-reset-requests")
without_limit_tokens = _without("x-ratelimit-limit-tokens")
without_remaining_tokens = _without("x-ratelimit-remaining-tokens")
without_reset_tokens = _without("x-ratelimit-reset-tokens")
without_limit_project_tokens = _without("x-ratelimit-limit-project-tokens")
without_remaining_project_tokens = _without("x-ratelimit-remaining-project-tokens")
without_reset_project_tokens = _without("x-ratelimit-reset-project-tokens")
requests_reset_plainly = _plain_reset("x-ratelimit-reset-requests")
tokens_reset_plainly = _plain_reset("x-ratelimit-reset-tokens")
