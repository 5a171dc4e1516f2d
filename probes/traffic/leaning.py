"""What a client leans on, by its traffic: of each record that it met, all that is stated of such an answer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from catalog.model import RATE_LIMIT_FAMILY
from catalog.rely.declared import Leaning

if TYPE_CHECKING:
    from catalog.reading.store import Catalog
    from probes.traffic.traffic import Traffic


def leanings(traffic: Traffic, catalog: Catalog, *, limits: bool = False) -> list[Leaning]:
    """The leanings of who made these exchanges, those of the same labels and endpoints as one.

    An exchange leans on what is stated under its label, whether or not this one was answered so. It does not show
    which headers its client reads, so limits count only where they are asked for.
    """
    met: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for address, label, endpoint in traffic.met:
        met[address].add((label, endpoint))
    together: dict[tuple[tuple[str, ...], tuple[str, ...]], set[str]] = defaultdict(set)
    for record in catalog.records:
        if record.address.family == RATE_LIMIT_FAMILY and not limits:
            continue
        address = str(record.address)
        places = met[address] | {(look.label, look.endpoint) for look in traffic.result(address).looks}
        seen: dict[str, set[str]] = defaultdict(set)
        for label, endpoint in places:
            seen[endpoint].add(f"{label}/*")
        for keys, endpoints in _alike(seen).items():
            together[keys, () if endpoints <= {address, ""} else tuple(sorted(endpoints))].add(address)
    found = [Leaning(tuple(sorted(on)), keys, endpoints) for (keys, endpoints), on in together.items()]
    return sorted(found, key=lambda each: (each.on, each.assertions, each.endpoints))


def _alike(seen: Mapping[str, Iterable[str]]) -> dict[tuple[str, ...], set[str]]:
    """The endpoints by what is leaned on there."""
    found: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for endpoint, keys in seen.items():
        found[tuple(sorted(keys))].add(endpoint)
    return found
