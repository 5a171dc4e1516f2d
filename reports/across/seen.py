"""What one run saw of each thing that a record asserts, summed over its endpoints. Pure.

Only a verdict is evidence: of a record that has none, nothing was seen, whatever its exchanges hold.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from catalog.evidence.agreement import key_of
from catalog.model import Severity
from catalog.model.assertion import Basis
from catalog.reading.assertions import assertions

if TYPE_CHECKING:
    from catalog.evidence.results import Result
    from catalog.model import Json, Record


@dataclass(frozen=True, slots=True)
class Seen:
    """One assertion in one run: on how many endpoints it was as stated, as what otherwise, and why it was not seen."""

    as_stated: int = 0
    otherwise: tuple[tuple[str, int], ...] = ()
    """The classes that were observed instead, each with the number of endpoints; the most frequent first."""
    unseen: str = ""
    """Why nothing was seen of it on some endpoint, or on any; empty where all were looked at."""

    @property
    def looked_at(self) -> int:
        return self.as_stated + sum(number for _, number in self.otherwise)


@dataclass(frozen=True, slots=True)
class Share:
    """Of the documented cells (assertion and endpoint) that were looked at, how many were as documented."""

    as_documented: int = 0
    looked_at: int = 0

    def __add__(self, other: Share) -> Share:
        return Share(self.as_documented + other.as_documented, self.looked_at + other.looked_at)

    @property
    def percent(self) -> int | None:
        """Rounded down, so that nothing less than all is 100; None where nothing was looked at."""
        return 100 * self.as_documented // self.looked_at if self.looked_at else None


Probed = Mapping[str, "Json"]
"""A record as a run probed it."""


class Shared:
    """What runs have in common: records that were probed alike are held once, and taken apart once."""

    def __init__(self) -> None:
        self._probed: dict[str, list[Probed]] = defaultdict(list)
        self._bases: dict[str, list[tuple[Mapping[str, Probed | None], Mapping[str, Basis]]]] = defaultdict(list)

    def by_address(self, results: Iterable[Result]) -> dict[str, Result]:
        """The results of a run by address, each with the one copy there is of its record."""
        return {each.record: replace(each, probed=self._one(each.record, each.probed)) for each in results}

    def _one(self, address: str, probed: Probed) -> Probed:
        copies = self._probed[address]
        found = next((each for each in reversed(copies) if each == probed), None)
        if found is None:
            copies.append(probed)
        return probed if found is None else found

    def bases(self, result: Result, known: Mapping[str, Result]) -> Mapping[str, Basis]:
        """By key, whether a document states it, of what a record states within reach; `known` is all of its run.

        What one run's record states is what another's does where both probed the same of it and of whatever it names.
        """
        for read, bases in self._bases[result.record]:
            if all(_probed(known, address) is probed for address, probed in read.items()):
                return bases
        needed = {result.record: _probed(known, result.record)}

        def lookup(address: object) -> Record:
            needed[str(address)] = _probed(known, str(address))
            return known[str(address)].probed_record

        try:
            stated = assertions(result.probed_record, lookup)
            bases = {str(each.key): each.basis for each in stated if not each.out_of_reach}
        except (AttributeError, KeyError, TypeError, ValueError):
            bases = {}
        self._bases[result.record].append((needed, bases))
        return bases


def _probed(known: Mapping[str, Result], address: str) -> Probed | None:
    return known[address].probed if address in known else None


@dataclass(frozen=True)
class OfRecord:
    """What one run has of one record."""

    result: Result
    known: Mapping[str, Result] = field(repr=False)
    """All results of the run: an endpoint's assertions are told with the errors that it names."""
    shared: Shared = field(repr=False, compare=False)
    """What the runs that are compared have in common."""

    @cached_property
    def assertions(self) -> Mapping[str, Seen]:
        """By key, in the order of the looks; without a verdict, all of them unseen for the reason."""
        result = self.result
        if not result.outcome.conclusive:
            return dict.fromkeys(self._bases, self._unjudged)
        stated: Counter[str] = Counter()
        otherwise: dict[str, Counter[str]] = defaultdict(Counter)
        unseen: dict[str, str] = {}
        for look in result.looks:
            stated.update(f"{look.label}/{within}" for within in look.as_stated)
            for within, observed in look.otherwise.items():
                otherwise[f"{look.label}/{within}"][observed] += 1
            for within, why in look.unseen.items():
                unseen.setdefault(f"{look.label}/{within}", why)
        keys = dict.fromkeys([*self._bases, *stated, *otherwise, *unseen])
        return {
            key: Seen(stated[key], tuple(otherwise[key].most_common()) if key in otherwise else (), unseen.get(key, ""))
            for key in keys
        }

    def of(self, key: str) -> Seen | None:
        """What was seen of one assertion; None where the record as it was then did not state it."""
        return self.assertions.get(key) if self.result.outcome.conclusive else self._unjudged

    @property
    def _unjudged(self) -> Seen:
        reason = self.result.reason
        return Seen(unseen=reason.code if reason is not None else str(self.result.outcome))

    def assumed(self, key: str) -> bool:
        """Whether no document states it."""
        return self._bases.get(key) is Basis.ASSUMED or key in self._settled

    @cached_property
    def share(self) -> Share:
        """Of what is documented alone: what we assumed is no promise of anybody."""
        own = [each for key, each in self.assertions.items() if not self.assumed(key)]
        return Share(sum(each.as_stated for each in own), sum(each.looked_at for each in own))

    @cached_property
    def _settled(self) -> frozenset[str]:
        return frozenset(key_of(each) for each in self.result.findings if each.severity is Severity.SHOULD)

    @cached_property
    def _bases(self) -> Mapping[str, Basis]:
        """What the record states within reach; nothing of one that this version cannot read, as one of long ago."""
        return self.shared.bases(self.result, self.known) if self.result.probed else {}
