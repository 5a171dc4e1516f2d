"""Answers from an address that no control vouches for: they count once one of them was clearly the provider's. Pure.

A control shows that its own address is right. At any other an operator may have named somebody else's server, whose
every answer would be a drift, or conform where next to nothing is documented.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Outcome
from catalog_probe.probes.judging.comparison.basis import weighed
from catalog_probe.probes.judging.comparison.compare import compare

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from catalog_probe.catalog.model import Exchange
    from catalog_probe.catalog.reading.expected import Expected
    from catalog_probe.probes.judging.verdicts.cells import Place
    from catalog_probe.probes.judging.verdicts.verdict import Verdict

_SAYS_NOTHING = frozenset({Outcome.INCONCLUSIVE, Outcome.HARNESS_ERROR})


def at_services(
    verdict: Verdict, exchanges: Mapping[Place, Exchange], services: Collection[str], addresses: Mapping[str, str]
) -> dict[Place, str]:
    """The cells that say something and were asked at one of these services, each with its service."""
    found: dict[Place, str] = {}
    for place, cell in verdict.cells.items():
        exchange = exchanges.get(place)
        if exchange is None or exchange.response is None or cell.outcome in _SAYS_NOTHING:
            continue
        for service in services:
            if _without_scheme(exchange.request.url).startswith(_without_scheme(addresses[service])):
                found[place] = service
    return found


def is_clearly_theirs(expected: Expected, cell: Verdict, exchange: Exchange) -> bool:
    """Whether an answer is as documented, and an empty object under its status would not have been."""
    response = exchange.response
    if cell.outcome is not Outcome.CONFORMS or response is None:
        return False
    if response.events is not None or response.close is not None or response.grpc is not None:
        return True
    bare = replace(exchange, response=replace(response, body={}, body_type="json", cut=None))
    return any(each.drifts for each in weighed(expected, compare(expected, bare)))


def _without_scheme(url: str) -> str:
    """A WebSocket is asked for at the same address under another scheme."""
    return url.partition("://")[2] or url
