"""What a run says of itself in the first line of its results, before anything is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from catalog_probe.catalog.evidence.results import Run
from catalog_probe.catalog.model import Address, Json
from catalog_probe.catalog.model.clock import format_utc
from catalog_probe.probes.planning.plan import controlled_lanes, plan
from catalog_probe.probes.plugin import before_run
from catalog_probe.probes.plugin.versions import versions
from catalog_probe.probes.running.looking_up import collect_values

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from catalog_probe.probes.plugin.collection.options import Options
    from catalog_probe.probes.targets.look_ups import LookedUp


class Begun(NamedTuple):
    """A run that is about to ask."""

    run: str
    started_at: datetime
    selected: tuple[str, ...]
    """The addresses of its records."""
    previous: str | None
    """The run before it, against the same target."""
    history: tuple[dict[str, Json], ...]
    """The rows of earlier runs that its report shows."""
    stale: tuple[str, ...]
    """The accepted differences that fail it by themselves."""


def described(options: Options, begun: Begun, looked_up: Sequence[LookedUp]) -> Run:
    """The run's line, with all that decides what its results mean."""
    asked = {Address.parse(address).provider for address in begun.selected}
    return Run(
        run=begun.run,
        target=options.told_as,
        live=options.target.live,
        started_at=format_utc(begun.started_at, "seconds"),
        today=options.today.isoformat(),
        providers=options.providers,
        expected=tuple(name for name in options.expected if name in asked),
        selected=begun.selected,
        self_tests=_self_tests(options, begun.selected, looked_up),
        policy=_policy(options, begun.stale),
        invocation=options.invocation,
        versions=versions(),
        catalog_digest=options.catalog.digest,
        previous_run=begun.previous,
        history=begun.history,
        preflight=tuple(each.to_json() for each in looked_up),
        expirations=before_run.find_expirations(options, looked_up, begun.selected),
        answered_by=options.target.answered_by,
        revisions=options.asked_under,
        traffic=options.traffic.to_json() if options.traffic is not None else None,
    )


def _self_tests(options: Options, selected: Sequence[str], looked_up: Sequence[LookedUp]) -> tuple[str, ...]:
    """The live lanes of what will be probed that have a control: each must show that it could see a drift."""
    if not options.target.live or options.traffic is not None:
        return ()
    target = options.target.with_values(collect_values(looked_up))
    return controlled_lanes(plan(options.catalog, target, options.allow, selected))


def _policy(options: Options, stale: Sequence[str]) -> dict[str, Json]:
    policy: dict[str, Json] = {
        "allow": sorted(options.allow),
        "kinds": list(options.kinds),
        "update": options.update,
        "depth": str(options.depth),
    }
    if options.shard is not None:
        policy["shard"] = str(options.shard)
    if options.target.live:
        policy["pending_days"] = options.target.pending_days
    if options.strict:
        policy["strict"] = True
    if options.expect_all:
        policy["expect_all"] = True
    if options.traffic is not None:
        policy["traffic"] = list(options.traffic.names)
    if stale:
        policy["stale_accepted_differences"] = list(stale)
    return policy
