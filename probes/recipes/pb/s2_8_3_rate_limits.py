"""2:8.3 PB rate limits: whom each holds for, and what is served besides or instead, with keys of tight projects.

No header tells of a limit, only the message of a 429 does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model.exchange import LIMITED, SETUP
from catalog_probe.probes.recipes.rate_limits import SLUG, TIGHT, exhaust_limit
from catalog_probe.probes.recipes.recipe import Family, declare_steps
from catalog_probe.probes.targets.target import Cost

from .requests import MODELS, SEARCH, generate
from .s2_7_4_quotas import MAX_REQUESTS

if TYPE_CHECKING:
    from catalog_probe.probes.calls import Call
    from catalog_probe.probes.recipes.probe import Probe

LIMITS = Family("pb/rate_limits/limits")

MAX_PART_REQUESTS = 40
MINUTE_MODEL = "{minute_quota_model}"
MINUTE = {"minute_quota_model", "minute_quota"}
"""Values of the target: a model of the tight project, and how many requests a minute it takes."""


async def setup_repeatedly(probe: Probe, call: Call, times: int) -> None:
    for _ in range(times):
        await probe.setup(call)


@declare_steps(
    "other_key_of_the_project",
    "other_project",
    requests=MAX_PART_REQUESTS,
    needs=MINUTE,
    roles={TIGHT, "tight_other", "inference"},
)
async def exhaust_project(probe: Probe) -> None:
    """Use up the minute of one key, then send with another key of its project and with one of another project."""
    call = generate(MINUTE_MODEL).replace(credential=TIGHT)
    await setup_repeatedly(probe, call, int(probe.values["minute_quota"]))
    await probe.send(call.replace(credential="tight_other"), "other_key_of_the_project")
    await probe.send(call.replace(credential="inference"), "other_project")


@declare_steps(
    "preview_is_stricter",
    "experimental_is_stricter",
    requests=MAX_PART_REQUESTS,
    needs={"preview_quota_model", "experimental_quota_model", "minute_quota"},
    roles={TIGHT},
)
async def exhaust_stricter_models(probe: Probe) -> None:
    """Send a preview and an experimental model as many requests as a stable model of the project allows."""
    for name in ("preview", "experimental"):
        call = generate(f"{{{name}_quota_model}}").replace(credential=TIGHT)
        await setup_repeatedly(probe, call, 1)
        for _ in range(int(probe.values["minute_quota"]) - 2):
            await probe.send(call, SETUP)
        await probe.send(call, f"{name}_is_stricter")


@declare_steps(
    "priority_within",
    "priority_overflow",
    requests=MAX_PART_REQUESTS,
    needs={"priority_quota_model", "priority_standard_quota"},
    roles={TIGHT},
)
async def overflow_priority(probe: Probe) -> None:
    """Send the last request within the limit of priority inference, and the first beyond it."""
    share = int(int(probe.values["priority_standard_quota"]) * 0.3)
    call = generate("{priority_quota_model}", serviceTier="priority").replace(credential=TIGHT)
    await setup_repeatedly(probe, call, share - 1)
    await probe.send(call, "priority_within")
    await probe.send(call, "priority_overflow")


@declare_steps(
    "standard_used_up",
    "flex_besides",
    "flex_not_within_a_minute",
    requests=MAX_PART_REQUESTS,
    needs=MINUTE,
    roles={TIGHT},
)
async def use_flex_beside_standard(probe: Probe) -> None:
    """Use up the standard minute; flex inference has its own limit, and takes at least a minute."""
    call = generate(MINUTE_MODEL).replace(credential=TIGHT)
    await setup_repeatedly(probe, call, int(probe.values["minute_quota"]))
    await probe.send(call, "standard_used_up")
    flexible = generate(MINUTE_MODEL, serviceTier="flex").replace(credential=TIGHT)
    await probe.send(flexible, "flex_besides")
    await probe.send(flexible.with_scenario("short_deadline;deadline=59s"), "flex_not_within_a_minute")


@declare_steps(LIMITED, requests=MAX_REQUESTS + 1, needs=MINUTE, roles={TIGHT})
async def exceed_limit(probe: Probe) -> None:
    """Send one request more than the tight project's minute allows."""
    call = generate(MINUTE_MODEL).replace(credential=TIGHT)
    await exhaust_limit(probe, call, min(int(probe.values["minute_quota"]) + 1, MAX_REQUESTS), label=LIMITED)


RECIPES = (
    LIMITS.recipe(SLUG, MODELS)
    .with_optional({"generation": generate()}, cost=Cost.BILLABLE, tokens=16)
    .with_optional(exceed_limit, cost=Cost.DISRUPTIVE, tokens=MAX_REQUESTS * 4)
    # "Free (active project)"; "search on previous generation 1500 per day (free tier 500)"
    .with_optional(
        {
            "free_tier": generate().replace(credential="free"),
            "free_tier_paid_only_model": generate("{paid_only_model}").replace(credential="free"),
            "free_searches_within": generate("{previous_generation_model}", tools=SEARCH).replace(credential="free"),
        }
    )
    .with_optional(
        # "Limits apply per cloud project, not per key"
        exhaust_project,
        # "Experimental and preview models are stricter"
        exhaust_stricter_models,
        # "Priority inference: 0.3 times the standard limit, overflow downgrades to standard"
        overflow_priority,
        # "flex inference: own limits, best-effort, latency 1 to 15 minutes"
        use_flex_beside_standard,
        cost=Cost.DISRUPTIVE,
        tokens=MAX_PART_REQUESTS * 4,
    ),
)
