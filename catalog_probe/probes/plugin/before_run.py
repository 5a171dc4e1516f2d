"""Before the first live probe: look-ups, and the description of the run."""

from __future__ import annotations

import platform
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, NamedTuple

from catalog_probe.catalog.evidence.results import Run
from catalog_probe.catalog.model import Address, Json
from catalog_probe.catalog.model.clock import format_utc
from catalog_probe.probes.planning import look_ups
from catalog_probe.probes.planning.look_ups import list_look_ups
from catalog_probe.probes.planning.plan import controlled_lanes, make_plan
from catalog_probe.probes.running import looking_up
from catalog_probe.probes.running.looking_up import collect_values
from catalog_probe.probes.wire.redaction import Redactor

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from catalog_probe.probes.plugin.options import Options
    from catalog_probe.probes.targets.look_ups import LookUpResult


def look_up(options: Options) -> tuple[LookUpResult, ...]:
    """Look up the values that the records selected by the options need."""
    addresses = [str(record.address) for record in options.catalog.records if options.selects(record.address)]
    planned = make_plan(options.catalog, options.planned_target, options.allow, addresses, options.drawing)
    redactor = Redactor.for_target(options.target)
    return looking_up.look_up(list_look_ups(planned.recipes, options.target), options.target, redactor)


def find_expirations(
    options: Options, looked_up: Sequence[LookUpResult], selected: Iterable[str]
) -> tuple[dict[str, Json], ...]:
    """Return values that will expire, and how many records need each."""
    if not options.target.live:
        return ()
    target = options.target.with_values(looking_up.collect_values(looked_up))
    recipes = make_plan(options.catalog, target, options.allow, selected, options.drawing).recipes
    return tuple(expiration.to_json() for expiration in look_ups.find_expirations(target, looked_up, recipes))


# Libraries whose versions may change a result.
LIBRARIES = ("httpx", "httpcore", "h11", "h2", "pytest", "pytest-xdist", "jsonschema", "websockets", "grpcio")


class RunStart(NamedTuple):
    """A run that is about to probe."""

    run: str
    started_at: datetime
    selected: tuple[str, ...]
    """The addresses of its records."""
    previous: str | None
    """The run before it, against the same target."""
    history: tuple[dict[str, Json], ...]
    """The rows of earlier runs that its report shows."""
    stale: Mapping[str, str]
    """The accepted differences that fail it by themselves: address of the record -> line."""


def describe_run(options: Options, start: RunStart, looked_up: Sequence[LookUpResult]) -> Run:
    """Return the run's line, with everything that decides what its results mean."""
    selected_providers = {Address.parse(address).provider for address in start.selected}
    return Run(
        run=start.run,
        target=options.target_label,
        live=options.target.live,
        started_at=format_utc(start.started_at, "seconds"),
        today=options.today.isoformat(),
        providers=options.providers,
        expected=tuple(name for name in options.expected_providers if name in selected_providers),
        selected=start.selected,
        self_tests=_list_self_tests(options, start.selected, looked_up),
        policy=_describe_policy(options, start.stale),
        invocation=options.invocation,
        versions=list_versions(),
        catalog_digest=options.catalog.digest,
        previous_run=start.previous,
        history=start.history,
        preflight=tuple(answer.to_json() for answer in looked_up),
        expirations=find_expirations(options, looked_up, start.selected),
        answered_by=options.target.answered_by,
        revisions=options.revisions_in_use,
        traffic=options.traffic.to_json() if options.traffic is not None else None,
    )


def list_versions() -> dict[str, str]:
    """Return installed versions by name, without importing anything heavy."""
    versions = {"python": platform.python_version()}
    for name in LIBRARIES:
        with suppress(PackageNotFoundError):
            versions[name] = version(name)
    return versions


def _list_self_tests(options: Options, selected: Sequence[str], looked_up: Sequence[LookUpResult]) -> tuple[str, ...]:
    """Return the live lanes with a control: each must detect a false drift."""
    if not options.target.live or options.traffic is not None:
        return ()
    target = options.target.with_values(collect_values(looked_up))
    return controlled_lanes(make_plan(options.catalog, target, options.allow, selected))


def _describe_policy(options: Options, stale: Mapping[str, str]) -> dict[str, Json]:
    policy: dict[str, Json] = {
        "allow": sorted(options.allow),
        "kinds": list(options.kinds),
        "update": options.update,
        "depth": str(options.depth),
    }
    if options.shard is not None:
        policy["shard"] = str(options.shard)
    if options.target.leave_out:
        policy["leave_out"] = sorted(options.target.leave_out)
    if options.target.upstream:
        policy["upstream"] = options.target.upstream
    if options.target.live and not options.target.is_compatible:
        policy["pending_days"] = options.target.pending_days
    if options.strict:
        policy["strict"] = True
    if options.expect_all:
        policy["expect_all"] = True
    if options.traffic is not None:
        policy["traffic"] = list(options.traffic.names)
    if stale:
        policy["stale_accepted_differences"] = list(stale.values())
        policy["stale_accepted_addresses"] = dict(stale)
    return policy
