"""Refusals of a live key where it is documented to be let through: the key's own trouble, for others use it. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Outcome
from catalog_probe.catalog.model.status import is_success

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator

    from catalog_probe.catalog.model import Exchange
    from catalog_probe.catalog.reading.expected import Expected
    from catalog_probe.catalog.recognition.known import Known
    from catalog_probe.probes.judging.verdicts.cells import Place
    from catalog_probe.probes.judging.verdicts.verdict import Verdict


def refused_keys(
    verdict: Verdict,
    expected: Iterable[Expected],
    exchanges: Iterable[Exchange],
    known: Known,
    with_another_key: Container[str] = (),
) -> Iterator[Place]:
    """The cells that drift for a documented refusal of the key itself, in place of a success.

    The lane's key is good elsewhere, as its control shows: so this account may not do it (no member, no scope), which
    services tell by this refusal as well. What was asked `with_another_key` says nothing of the lane's.
    """
    stated = {each.label for each in expected if is_success(each.status) and each.label not in with_another_key}
    asked = {(each.label, each.endpoint): each.response for each in exchanges}
    for place, cell in verdict.cells.items():
        response = asked.get(place)
        if place[0] in stated and cell.outcome is Outcome.DRIFTED and response is not None:
            found = known.matching(response.status, response.body)
            if found and all(answer.of_the_key for answer in found):
                yield place
