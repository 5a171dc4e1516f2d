"""Whom PB's quotas are for, and what is served besides or instead (2:8.3): with a key that may do hardly any."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model.labels import SETUP
from catalog_probe.probes.recipes.limit_looks import SLUG, TIGHT
from catalog_probe.probes.targets.target import Cost

from .account_limits import LIMITS
from .requests import generate

if TYPE_CHECKING:
    from catalog_probe.probes.calls.call import Call
    from catalog_probe.probes.recipes.probe import Probe
    from catalog_probe.probes.recipes.recipe import Recipe, Steps

MOST = 40
MINUTE_MODEL = "{minute_quota_model}"


def looks(steps: Steps, *labels: str, needs: set[str], roles: set[str]) -> Recipe:
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
    )


async def _use_up(probe: Probe, call: Call, times: int) -> None:
    for _ in range(times):
        await probe.setup(call)


async def of_the_project(probe: Probe) -> None:
    """The minute of one key used up: another key of its project has none left, another project has its own."""
    call = generate(MINUTE_MODEL).but(credential=TIGHT)
    await _use_up(probe, call, int(probe.values["minute_quota"]))
    await probe.send(call.but(credential="tight_other"), "other_key_of_the_project")
    await probe.send(call.but(credential="inference"), "other_project")


async def stricter(probe: Probe) -> None:
    """As many requests as a stable model of the project allows, to one in preview and to an experimental one."""
    for name in ("preview", "experimental"):
        call = generate(f"{{{name}_quota_model}}").but(credential=TIGHT)
        await _use_up(probe, call, 1)
        for _ in range(int(probe.values["minute_quota"]) - 2):
            await probe.send(call, SETUP)
        await probe.send(call, f"{name}_is_stricter")


async def priority(probe: Probe) -> None:
    """The last request that priority inference has room for, and the first beyond it."""
    share = int(int(probe.values["priority_standard_quota"]) * 0.3)
    call = generate("{priority_quota_model}", serviceTier="priority").but(credential=TIGHT)
    await _use_up(probe, call, share - 1)
    await probe.send(call, "priority_within")
    await probe.send(call, "priority_overflow")


async def flex(probe: Probe) -> None:
    """The standard minute used up, flex inference has its own, and takes a minute at least."""
    call = generate(MINUTE_MODEL).but(credential=TIGHT)
    await _use_up(probe, call, int(probe.values["minute_quota"]))
    await probe.send(call, "standard_used_up")
    flexible = generate(MINUTE_MODEL, serviceTier="flex").but(credential=TIGHT)
    await probe.send(flexible, "flex_besides")
    await probe.send(flexible.befallen("short_deadline;deadline=59s"), "flex_not_within_a_minute")


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
}
