"""What of a run matters to a client: the records that its rely.toml names, as terms of the page's search. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from catalog.evidence.self_check import of_records
from catalog.reading.store import Catalog
from catalog.rely.selected import selected

if TYPE_CHECKING:
    from catalog.evidence.results import Result
    from catalog.rely.declared import Declared
    from catalog.rely.selected import Selected

NAMED, DIFFERS = "rely:yes", "rely:differs"

Terms = Mapping[str, frozenset[str]]
"""By address, the terms by which a record is found beside its own."""


def terms(leant_on: Declared, results: Iterable[Result]) -> Terms:
    """Each record that is leaned on, and whether this run saw otherwise what is leaned on.

    Records are taken as the run probed them.

    Raises:
        CatalogError: a pattern names nothing.
    """
    own = {result.record: result for result in of_records(results) if result.probed}
    shipped = Catalog.load()
    probed = {address: result.probed_record for address, result in own.items()}
    catalog = shipped.with_records({**{str(each.address): each for each in shipped.records}, **probed}.values())
    found: dict[str, set[str]] = defaultdict(set)
    for _, members in selected(leant_on, catalog):
        for each in members:
            address = str(each.record.address)
            found[address].add(NAMED)
            if address in own and _differs(each, own[address]):
                found[address].add(DIFFERS)
    return {address: frozenset(said) for address, said in found.items()}


def _differs(leaned_on: Selected, result: Result) -> bool:
    keys = {str(each.key) for each in leaned_on.meant}
    return any(
        f"{look.label}/{within}" in keys
        for look in result.looks
        if not leaned_on.endpoints or look.endpoint in leaned_on.endpoints
        for within in look.otherwise
    )
