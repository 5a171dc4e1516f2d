"""Before the first live probe: look-ups, and what is about to expire."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.probes.planning import expirations
from catalog_probe.probes.planning.look_ups import list_look_ups
from catalog_probe.probes.planning.plan import make_plan
from catalog_probe.probes.running import looking_up
from catalog_probe.probes.targets.target import NONEXISTENT_KEY
from catalog_probe.probes.wire.redaction.redactor import Redactor

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from catalog_probe.catalog.model import Json
    from catalog_probe.probes.plugin.collection.options import Options
    from catalog_probe.probes.targets.look_ups import LookUpResult


def look_up(options: Options) -> tuple[LookUpResult, ...]:
    """Look up the values that the records selected by the options need."""
    addresses = [str(record.address) for record in options.catalog.records if options.selects(record.address)]
    planned = make_plan(options.catalog, options.planned_target, options.allow, addresses, options.drawing)
    redactor = Redactor.for_target(options.target, public=[NONEXISTENT_KEY])
    return looking_up.look_up(list_look_ups(planned.recipes, options.target), options.target, redactor)


def find_expirations(
    options: Options, looked_up: Sequence[LookUpResult], selected: Iterable[str]
) -> tuple[dict[str, Json], ...]:
    """Return values that will expire, and how many records need each."""
    if not options.target.live:
        return ()
    target = options.target.with_values(looking_up.collect_values(looked_up))
    recipes = make_plan(options.catalog, target, options.allow, selected, options.drawing).recipes
    return tuple(expiration.to_json() for expiration in expirations.find_expirations(target, looked_up, recipes))
