"""Make the traffic that a run judges instead of probing, and the target that it is judged by."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.files.manifest import providers
from catalog_probe.catalog.model.exchange import AnsweredBy
from catalog_probe.probes.targets import target_file
from catalog_probe.probes.targets.target import Provider, Target

if TYPE_CHECKING:
    from collections.abc import Sequence

    from catalog_probe.catalog.files.store import Catalog
    from catalog_probe.probes.traffic.recordings import Recording
    from catalog_probe.probes.traffic.traffic import Traffic

UNKNOWN_TARGET = "traffic"
"""The name of the target if the user names none. Its results are never live evidence."""

LIVE = "live"


def unknown_target() -> Target:
    """Return a target that has every provider and no address."""
    every_provider = {name: Provider(name) for name in providers()}
    return Target(
        UNKNOWN_TARGET, live=False, allow=frozenset(), providers=every_provider, answered_by=AnsweredBy.RECORDING
    )


def make_traffic(recordings: Sequence[Recording], catalog: Catalog, target: Target, *, of_target: bool) -> Traffic:
    """Make the traffic of a target; without `of_target`, the addresses of the shipped live target count too."""
    from catalog_probe.probes.traffic.traffic import Traffic  # loads the judge, which only a run with traffic needs

    known_targets = (target,) if of_target else (target, target_file.load(LIVE, {}))
    return Traffic(recordings, catalog, known_targets, of_target)
