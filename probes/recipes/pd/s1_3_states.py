"""1:3 PD states: the deferred completion, pending, ready, fetched exactly once, and kept for 24 h (2:8.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio

from catalog_probe.catalog.model.exchange import ANSWER, MISSING_CREDENTIAL, SETUP, SUCCESS, WRONG_CREDENTIAL
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.probes.calls import GRPC_HOST, Call, get
from catalog_probe.probes.recipes.minimal_requests import BOTH_REFUSALS
from catalog_probe.probes.recipes.probe import Probe, SetupFailed, require_text
from catalog_probe.probes.recipes.recipe import Family, declare_steps
from catalog_probe.probes.targets.target import Cost

from .requests import UNKNOWN_RESULT, create_completion
from .s2_7_6_grpc import FETCH

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Exchange

CHAT = Family("pd/endpoints/chat")
OUTCOMES = Family("pd/errors/outcomes")
NOT_FOUND = Family("pd/errors/not_found")

COMPUTED = "+1m"
"""Mock clock at which a result is surely computed; a live probe polls instead."""

JUST_BEFORE, JUST_AFTER = "+23h59m59s", "+24h1s"
"""Mock clock just before and just after the 24 h for which a result is kept (2:8.1)."""

POLLS = 20
POLL_EVERY_S = 1.5

TOKENS = 500
"""Upper bound of the tokens of one deferred completion."""

NEEDS_A_DAY = (ReasonCode.NO_DOCUMENTED_SETUP, "a result would have to be left unfetched for 24 h")


async def start_deferred(probe: Probe) -> Call:
    """Start a deferred completion and return the call that fetches it. The mock's clock stands still."""
    body = (await probe.setup(create_completion(deferred=True).with_stopped_clock())).body
    request_id = require_text(body, "request_id", "the deferred completion")
    return get(f"/v1/chat/deferred-completion/{request_id}").with_stopped_clock()


async def fetch_at_once(probe: Probe, fetch: Call, label: str) -> None:
    """Fetch before the result is ready; a result that is ready at once shows nothing about waiting."""
    exchange = await probe.send(fetch, label)
    if _status(exchange) == 200:
        raise SetupFailed("the result was ready before it could be asked for")


async def fetch_when_ready(probe: Probe, fetch: Call, label: str) -> Exchange:
    """Fetch until the answer is no longer 202; the last poll is judged under the label."""
    for _ in range(POLLS):
        exchange = await probe.send(fetch.with_clock(COMPUTED).with_stopped_clock(), label)
        if _status(exchange) != 202:
            break
        await anyio.sleep(POLL_EVERY_S)
    return exchange


async def take_result(probe: Probe, fetch: Call) -> None:
    """Fetch the result as a step that the probe relies on."""
    exchange = await fetch_when_ready(probe, fetch, SETUP)
    if _status(exchange) != 200:
        raise SetupFailed(f"GET {fetch.path}: HTTP {_status(exchange)}")


def _status(exchange: Exchange) -> int | None:
    return exchange.response.status if exchange.response else None


# 1:3 "deferred completion, ready": "within 24 h", "a result can be fetched exactly once"
@declare_steps(
    SUCCESS,
    MISSING_CREDENTIAL,
    WRONG_CREDENTIAL,
    "pending",
    "fetched_twice",
    requests=POLLS + 5,
    needs={"small_model"},
)
async def fetch_once(probe: Probe) -> None:
    """The result is pending until it is ready, and can then be fetched exactly once."""
    for label, call in BOTH_REFUSALS.refused_calls(UNKNOWN_RESULT).items():
        await probe.send(call, label)
    fetch = await start_deferred(probe)
    await fetch_at_once(probe, fetch, "pending")
    await fetch_when_ready(probe, fetch, SUCCESS)
    await probe.send(fetch.with_clock(COMPUTED).with_stopped_clock(), "fetched_twice")


@declare_steps("within_a_day", requests=2, needs={"small_model"})
async def fetch_late(probe: Probe) -> None:
    await probe.send((await start_deferred(probe)).with_clock(JUST_BEFORE).with_stopped_clock(), "within_a_day")


# 1:3 "deferred completion, result not ready": "HTTP 202, empty body; client polls"
@declare_steps(requests=2, needs={"small_model"})
async def deferred_pending(probe: Probe) -> None:
    await fetch_at_once(probe, await start_deferred(probe), ANSWER)


# 2:8.1 "PD deferred completion | fetchable exactly once within 24 h"
@declare_steps(requests=POLLS + 2, needs={"small_model"})
async def deferred_already_fetched(probe: Probe) -> None:
    fetch = await start_deferred(probe)
    await take_result(probe, fetch)
    await probe.send(fetch.with_clock(COMPUTED).with_stopped_clock())


@declare_steps("by_another_key", requests=POLLS + 2, needs={"small_model"}, roles={"no_model_acl"})
async def fetch_by_another_key(probe: Probe) -> None:
    """The one fetch is the team's, not each key's."""
    fetch = await start_deferred(probe)
    await take_result(probe, fetch)
    again = fetch.replace(credential="no_model_acl")
    await probe.send(again.with_clock(COMPUTED).with_stopped_clock(), "by_another_key")


@declare_steps("by_grpc_first", requests=POLLS + 2, needs={"small_model"}, services={GRPC_HOST})
async def fetch_after_grpc(probe: Probe) -> None:
    """The one fetch is that of both transports: taken by gRPC, the result is gone."""
    fetch = await start_deferred(probe)
    by_grpc = FETCH.with_fields(request_id=fetch.path.rpartition("/")[2])
    for _ in range(POLLS):
        exchange = await probe.send(by_grpc.with_clock(COMPUTED).with_stopped_clock(), SETUP)
        body = exchange.response.body if exchange.response else None
        if not isinstance(body, dict) or body.get("status") != "PENDING":
            break
        await anyio.sleep(POLL_EVERY_S)
    if not isinstance(body, dict) or body.get("status") != "DONE":
        raise SetupFailed(f"{by_grpc.path} did not return the result")
    await probe.send(fetch.with_clock(COMPUTED).with_stopped_clock(), "by_grpc_first")


@declare_steps("third_fetch", requests=POLLS + 3, needs={"small_model"})
async def fetch_three_times(probe: Probe) -> None:
    fetch = await start_deferred(probe)
    await take_result(probe, fetch)
    for label in (SETUP, "third_fetch"):
        await probe.send(fetch.with_clock(COMPUTED).with_stopped_clock(), label)


@declare_steps(requests=2, needs={"small_model"})
async def deferred_expired(probe: Probe) -> None:
    fetch = await start_deferred(probe)
    await probe.send(fetch.with_clock(JUST_AFTER).with_stopped_clock())


RECIPES = (
    CHAT.recipe("get_deferred_completion", fetch_once, cost=Cost.BILLABLE, tokens=TOKENS).with_optional(
        fetch_late, not_live=NEEDS_A_DAY
    ),
    OUTCOMES.recipe("deferred_pending", deferred_pending, cost=Cost.BILLABLE, tokens=TOKENS),
    NOT_FOUND.recipe(
        "deferred_already_fetched", deferred_already_fetched, cost=Cost.BILLABLE, tokens=TOKENS
    ).with_optional(fetch_three_times, fetch_by_another_key, fetch_after_grpc),
    NOT_FOUND.recipe("deferred_expired", deferred_expired, cost=Cost.BILLABLE, tokens=TOKENS, not_live=NEEDS_A_DAY),
)
