"""What a run judges instead of probing, and where its providers are taken to be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.files.manifest import providers
from catalog_probe.catalog.model.answered_by import AnsweredBy
from catalog_probe.probes.targets import target_file as targets
from catalog_probe.probes.targets.target import Provider, Target

if TYPE_CHECKING:
    from collections.abc import Sequence

    from catalog_probe.catalog.files.store import Catalog
    from catalog_probe.probes.traffic.recording import Recording
    from catalog_probe.probes.traffic.traffic import Traffic

UNKNOWN_TARGET = "traffic"
"""The name of the target of traffic of which nobody says with whom it was exchanged. It is never live evidence."""

LIVE = "live"


def unknown_target() -> Target:
    """Every provider, wherever it is."""
    own = {name: Provider(name) for name in providers()}
    return Target(UNKNOWN_TARGET, live=False, allow=frozenset(), providers=own, answered_by=AnsweredBy.RECORDING)


def make_traffic(recordings: Sequence[Recording], catalog: Catalog, target: Target, *, of_target: bool) -> Traffic:
    """The traffic of a target; of anybody's, the public addresses of the shipped live target are known as well."""
    from catalog_probe.probes.traffic.traffic import Traffic  # which loads what reads and judges exchanges

    known = (target,) if of_target else (target, targets.load(LIVE, {}))
    return Traffic(recordings, catalog, known, of_target)
