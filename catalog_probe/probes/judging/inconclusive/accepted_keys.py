"""Successes where the refusal of a key without the right is documented: whose right it is, no answer tells. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Outcome
from catalog_probe.catalog.model.status import is_success
from catalog_probe.catalog.reading.grpc_statuses import status_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from catalog_probe.catalog.model import Exchange
    from catalog_probe.catalog.reading.expected import Expected
    from catalog_probe.catalog.recognition.known import Known
    from catalog_probe.probes.judging.verdicts.cells import Place
    from catalog_probe.probes.judging.verdicts.verdict import Verdict


def accepted_keys(
    verdict: Verdict, expected: Iterable[Expected], exchanges: Iterable[Exchange], known: Known, provider: str
) -> Iterator[Place]:
    """The cells that drift for a success in place of a documented permission refusal.

    Somebody may have given an administrator's key where an ordinary one was meant: what it may says nothing of others.
    """
    of_permission = {answer.address for answer in known.answers if answer.permission}
    stated = {each.label for each in expected if each.address in of_permission}
    asked = {(each.label, each.endpoint): each for each in exchanges}
    for place, cell in verdict.cells.items():
        if place[0] not in stated or cell.outcome is not Outcome.DRIFTED or place not in asked:
            continue
        if is_success(status_of(asked[place].response, provider)):
            yield place
