"""What a client leans on, by its traffic: of each record that it met, all that is stated of such an answer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from catalog.reading.assertions import assertions
from catalog.rely.declared import Leaning
from catalog.rely.selected import is_promised

if TYPE_CHECKING:
    from catalog.reading.store import Catalog
    from probes.traffic.looking import Traffic


def leanings(traffic: Traffic, catalog: Catalog, *, limits: bool = False) -> list[Leaning]:
    """The leanings of who made these exchanges, those of the same labels and endpoints as one.

    An exchange leans on what is stated under its label, whether or not this one was answered so. It does not show
    which headers its client reads, so limits count only where they are asked for.
    """
    together: dict[tuple[tuple[str, ...], tuple[str, ...]], set[str]] = defaultdict(set)
    for record in catalog.records:
        looks = traffic.result(str(record.address)).looks if limits or record.kind != "rate_limits" else ()
        stated = assertions(record, catalog.__getitem__) if looks else ()
        promised = {each.key.label for each in stated if is_promised(each)}
        seen: dict[str, set[str]] = defaultdict(set)
        for look in looks:
            if look.label in promised:
                seen[look.endpoint].add(f"{look.label}/*")
        address = str(record.address)
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
