"""What the refusals of one lane have in common, and the requests without a fault that tell what they are worth."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import anyio

from catalog_probe.probes.judging.inconclusive.proof import expected_of
from catalog_probe.probes.judging.inconclusive.settlement import (
    TWINS,
    Refusal,
    Ruled,
    Ruling,
    Said,
    Shared,
    alike,
    ruled,
)
from catalog_probe.probes.recipes.probe import Stopped

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Exchange
    from catalog_probe.catalog.recognition.known import Known

Ask = Callable[[str], Awaitable["Exchange"]]
"""Sends the request without a fault to an endpoint; raises `Stopped` where it may not or cannot."""


class Settling:
    """The refusals of one lane, and what was ruled of those that are alike. All methods run in the loop thread."""

    def __init__(self, provider: str) -> None:
        self._expected = expected_of(provider)
        self._shared = Shared()
        self.pages: set[str] = set()
        """Where pages of HTML came from."""
        self.restricting: set[tuple[str, int, str]] = set()
        """The refusals, on whichever endpoint, of what the key may not do."""
        self.kept_out: set[tuple[str, int, str]] = set()
        """The refusals of the key itself where it was to be let through."""
        self.texts: dict[str, set[str]] = defaultdict(set)
        """Texts under a success where the documents promise neither, and where each came from."""
        self.reached: set[str] = set()
        """The endpoints at whose path somebody answered."""
        self.vouched: set[str] = set()
        """The services, of those without a control, that were shown to be the provider's."""
        self._rulings: dict[Said, Ruled] = {}
        self._lock = anyio.Lock()

    def note(self, found: Iterable[Refusal], pages: Iterable[str], texts: Iterable[tuple[str, str]] = ()) -> None:
        """Remember what a probe was refused, and where it met pages of HTML, and texts in place of all else."""
        self._shared.add(found)
        self.pages.update(pages)
        for said, where in texts:
            self.texts[said].add(where)

    async def rulings(self, ask: Ask, known: Known) -> Mapping[Said, Ruled]:
        """What is to be thought of the answers that different faults share, so far as they are known."""
        async with self._lock:
            for said in self._shared.everything():
                self._rulings[said] = alike(said, f"{said.endpoint} without a fault")
            shown = {each.anywhere for each, its in self._rulings.items() if its.ruling is Ruling.EVERYTHING}
            for said in sorted(self._shared.suspicious - self._rulings.keys(), key=lambda each: each.endpoint):
                if said.anywhere not in shown:  # else it is known without another request
                    found = await self._ruled(said, ask, known)
                    self._rulings[said] = replace(found, instead=self._shared.is_instead(said))
        return self._rulings

    async def _ruled(self, said: Said, ask: Ask, known: Known) -> Ruled:
        for _ in range(TWINS):
            try:
                twin = await ask(said.endpoint)
            except Stopped as stopped:
                why = f"{stopped.reason.code}: {stopped.reason.detail}"
                return Ruled(
                    Ruling.UNKNOWN, f"{said.endpoint} without a fault: {why}; different faults got: {said.message}"
                )
            found = ruled(said, twin, self._expected, known)
            if found.ruling is not Ruling.UNKNOWN:
                break
        return found
