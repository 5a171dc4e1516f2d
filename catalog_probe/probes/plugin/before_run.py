"""What a live run asks before its first probe: what it needs of the accounts, and what there is about to end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.probes.planning import expirations
from catalog_probe.probes.planning.look_ups import look_ups
from catalog_probe.probes.planning.plan import plan
from catalog_probe.probes.running.looking_up import collect_values
from catalog_probe.probes.running.looking_up import look_up as follow
from catalog_probe.probes.targets.target import NOWHERE_KEY
from catalog_probe.probes.wire.redaction.redactor import Redactor

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from catalog_probe.catalog.model import Json
    from catalog_probe.probes.plugin.collection.options import Options
    from catalog_probe.probes.targets.look_ups import LookedUp


def look_up(options: Options) -> tuple[LookedUp, ...]:
    """Follow the rules of the target for what the records that this run selects rest on."""
    chosen = [str(record.address) for record in options.catalog.records if options.selects(record.address)]
    planned = plan(options.catalog, options.planned, options.allow, chosen, options.drawing)
    redactor = Redactor.of(options.target, public=[NOWHERE_KEY])
    return follow(look_ups(planned.recipes, options.target), options.target, redactor)


def find_expirations(
    options: Options, looked_up: Sequence[LookedUp], selected: Iterable[str]
) -> tuple[dict[str, Json], ...]:
    """What this run rests on that has an end, and how many of its records would go with it."""
    if not options.target.live:
        return ()
    target = options.target.with_values(collect_values(looked_up))
    recipes = plan(options.catalog, target, options.allow, selected, options.drawing).recipes
    return tuple(each.to_json() for each in expirations.find_expirations(target, looked_up, recipes))
