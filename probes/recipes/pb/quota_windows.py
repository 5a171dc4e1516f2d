"""Whom PB's quotas are for, when they come back, and what is served besides or instead (2:8.3)."""

from __future__ import annotations

import math
import re
from datetime import datetime, time, timedelta
from typing import TYPE_CHECKING

from catalog.envelopes.pointer import find
from catalog.model import Reason
from catalog.model.codes import ReasonCode
from catalog.model.labels import SETUP
from probes.elicit.probe import Stopped
from probes.recipes.limit_looks import SLUG, TIGHT
from probes.recipes.moments import moment_of
from probes.recipes.pb.account_limits import LIMITS
from probes.recipes.pb.requests import generate, said
from probes.target.target import Cost

if TYPE_CHECKING:
    from catalog.model import Exchange
    from probes.calls.call import Call
    from probes.elicit.probe import Probe
    from probes.elicit.recipe import Recipe, Steps

MOST = 40
DELAY = re.compile(r"\b(\d{1,4}(?:\.\d+)?) ?s(?:ec(?:ond)?s?)?\b")
"""Seconds in the words of a message."""

ONLY_TIME = (ReasonCode.NO_DOCUMENTED_SETUP, "only minutes or days of waiting bring it about")
MINUTE_MODEL = "{minute_quota_model}"


def looks(steps: Steps, *labels: str, needs: set[str], roles: set[str], live: tuple[str, str] | None = None) -> Recipe:
    """Steps with the key of a project that may do hardly any, judged under these labels."""
    return LIMITS.recipe(
        SLUG,
        steps=steps,
        labels=labels,
        requests=MOST,
        tokens=MOST * 4,
        cost=Cost.DISRUPTIVE,
        needs=needs,
        roles=roles,
        live=live,
    )


async def of_the_project(probe: Probe) -> None:
    """The minute of one key used up: another key of its project has none left, another project has its own."""
    call = generate(MINUTE_MODEL).later("+1h")
    await _use_up(probe, call, int(probe.values["minute_quota"]))
    await probe.send(call.but(credential="tight_other"), "other_key_of_the_project")
    await probe.send(call.but(credential="inference"), "other_project")


async def stricter(probe: Probe) -> None:
    """As many requests as a stable model of the project allows, to one in preview and to an experimental one."""
    for name in ("preview", "experimental"):
        call = generate(f"{{{name}_quota_model}}").but(credential=TIGHT).later("+2h")
        await _use_up(probe, call, 1)
        for _ in range(int(probe.values["minute_quota"]) - 2):
            await probe.send(call, SETUP)
        await probe.send(call, f"{name}_is_stricter")


async def priority(probe: Probe) -> None:
    """The last request that priority inference has room for, and the first beyond it."""
    share = int(int(probe.values["priority_standard_quota"]) * 0.3)
    call = generate("{priority_quota_model}", serviceTier="priority").but(credential=TIGHT).later("+3h")
    await _use_up(probe, call, share - 1)
    await probe.send(call, "priority_within")
    await probe.send(call, "priority_overflow")


async def flex(probe: Probe) -> None:
    """The standard minute used up, flex inference has its own, and takes a minute at least."""
    call = generate(MINUTE_MODEL).later("+4h")
    await _use_up(probe, call, int(probe.values["minute_quota"]))
    await probe.send(call.but(credential=TIGHT), "standard_used_up")
    flexible = generate(MINUTE_MODEL, serviceTier="flex").but(credential=TIGHT)
    await probe.send(flexible.later("+4h"), "flex_besides")
    await probe.send(flexible.later("+4h1m").befallen("short_deadline;deadline=59s"), "flex_not_within_a_minute")


async def daily_reset(probe: Probe) -> None:
    """A day's quota used up at noon: a second before midnight Pacific time it is, at midnight it is not."""
    call = generate("{day_quota_model}").but(credential=TIGHT)
    noon, midnight = _noon_and_midnight(moment_of(await probe.send(call, SETUP)))
    await _use_up(probe, call.later(f"+{noon}s"), int(probe.values["day_quota"]))
    await probe.send(call.later(f"+{midnight - 1}s"), "before_midnight")
    await probe.send(call.later(f"+{midnight}s"), "after_midnight")


async def rolling_window(probe: Probe) -> None:
    """Half of what ten minutes allow is spent, then the rest; each half comes back ten minutes after its own time."""
    half = int(probe.values["spend_quota_tokens"]) * 55 // 100
    words = "word " * (half * 4 // 5)
    call = generate(contents=said(words)).but(credential="thrifty")
    for clock in ("+5h", "+5h6m"):
        await probe.setup(call.later(clock))
    await probe.send(call.later("+5h9m59s"), "spend_window_full")
    await probe.send(call.later("+5h10m"), "spend_window_frees_the_first_half")
    await probe.send(call.later("+5h10m1s"), "spend_window_rolls")


async def delay(probe: Probe) -> None:
    """The minute used up, the next request is served after the seconds that its refusal names (2:7.1)."""
    call = generate(MINUTE_MODEL).but(credential=TIGHT)
    await _use_up(probe, call.later("+6h").still(), int(probe.values["minute_quota"]))
    refused = await probe.send(call.later("+6h").still(), SETUP)
    await probe.send(call.later(f"+{6 * 3600 + _delay_s(refused)}s").still(), "delay_over")


def _delay_s(refused: Exchange) -> int:
    """The whole seconds after which a refusal says to come again.

    Raises:
        Stopped: with reason `setup-failed`: it names none.
    """
    body = refused.response.body if refused.response is not None else None
    named = DELAY.search(str(find(body, "/error/message")))
    if named is None:
        raise Stopped(Reason(ReasonCode.SETUP_FAILED, "the refusal names no delay in seconds"))
    return math.ceil(float(named[1]))


async def _use_up(probe: Probe, call: Call, times: int) -> None:
    for _ in range(times):
        await probe.setup(call.but(credential=TIGHT))


def _noon_and_midnight(now: datetime) -> tuple[int, int]:
    """Seconds from a moment to the next day's noon and the midnight after it, Pacific time."""
    from zoneinfo import ZoneInfo  # 20 ms, for one look of one record

    pacific = ZoneInfo("America/Los_Angeles")
    now = now.astimezone(pacific)
    tomorrow = now.date() + timedelta(days=1)
    noon = datetime.combine(tomorrow, time(12), pacific)
    midnight = datetime.combine(tomorrow + timedelta(days=1), time(), pacific)
    return int(noon.timestamp() - now.timestamp()), int(midnight.timestamp() - now.timestamp())


MINUTE = {"minute_quota_model", "minute_quota"}

LOOKS: dict[str, Recipe] = {
    "of_the_project": looks(
        of_the_project,
        "other_key_of_the_project",
        "other_project",
        needs=MINUTE,
        roles={TIGHT, "tight_other", "inference"},
    ),
    "stricter": looks(
        stricter,
        "preview_is_stricter",
        "experimental_is_stricter",
        needs={"preview_quota_model", "experimental_quota_model", "minute_quota"},
        roles={TIGHT},
    ),
    "priority": looks(
        priority,
        "priority_within",
        "priority_overflow",
        needs={"priority_quota_model", "priority_standard_quota"},
        roles={TIGHT},
    ),
    "flex": looks(flex, "standard_used_up", "flex_besides", "flex_not_within_a_minute", needs=MINUTE, roles={TIGHT}),
    "delay": looks(delay, "delay_over", needs=MINUTE, roles={TIGHT}, live=ONLY_TIME),
    "daily_reset": looks(
        daily_reset,
        "before_midnight",
        "after_midnight",
        needs={"day_quota_model", "day_quota"},
        roles={TIGHT},
        live=ONLY_TIME,
    ),
    "rolling_window": looks(
        rolling_window,
        "spend_window_full",
        "spend_window_frees_the_first_half",
        "spend_window_rolls",
        needs={"small_model", "spend_quota_tokens"},
        roles={"thrifty"},
        live=ONLY_TIME,
    ),
}
