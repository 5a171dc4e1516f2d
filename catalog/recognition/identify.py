"""Which record is this answer: one, the set that it cannot tell apart, or none; and may it be sent again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from catalog.reading.manifest import manifest
from catalog.recognition.advice import Advice, May, for_answer, of_all
from catalog.recognition.candidates import Candidates
from catalog.recognition.origin import Marks, Origin
from catalog.recognition.projecting import Projection
from catalog.recognition.scoring import ENOUGH, Provider, Score, score
from catalog.recognition.skeletons import skeletons

if TYPE_CHECKING:
    from catalog.model import Record
    from catalog.recognition.answers import Answer

APART = 0.5
"""Points by which two records must differ for an answer to tell them apart."""


@dataclass(frozen=True, slots=True)
class Identity:
    """What an answer was recognised as."""

    records: tuple[str, ...] = ()
    """The addresses of the records that it may be, best first; empty where none fits."""
    certain: bool = False
    """Whether it is as documented in all that was compared, and comes from the provider and no other host."""
    reasons: tuple[str, ...] = ()
    """What speaks for the first record, and what against it; or why there is none."""
    retry: Advice = field(default_factory=lambda: Advice(May.NO))

    def __bool__(self) -> bool:
        return bool(self.records)


@dataclass(frozen=True, slots=True)
class Recogniser:
    """The documented answers of one provider, ready to be compared with."""

    records: Mapping[str, Record]
    candidates: Candidates
    surfaces: frozenset[str]
    """The names of the envelopes that its answers come in."""
    about: Provider
    marks: Marks
    imitated: bool
    """Whether other hosts answer in its envelopes."""

    @classmethod
    def of(cls, provider: str, records: Iterable[Record]) -> Self:
        """Compile the error records of a provider, once.

        Raises:
            KeyError: a surface that a record names does not exist.
        """
        records = tuple(records)
        made = skeletons(records)
        return cls(
            records={str(record.address): record for record in records},
            candidates=Candidates.of(made),
            surfaces=frozenset(each.surface for each in made),
            about=Provider(
                codes=frozenset(str(code) for each in made for code in each.wire.get("code", ()) if code is not None),
                envelopes=tuple(
                    {each.shape.name: each.shape for each in made if "message" in each.shape.wire}.values()
                ),
            ),
            marks=Marks.of(provider, records),
            imitated=manifest(provider).imitated,
        )

    def identify(self, answer: Answer, surface: str | None = None) -> Identity:
        """Compare an answer with every record of the provider; `surface` narrows it to one way of travelling."""
        origin, whose = self.marks.origin(answer.headers)
        scores = self._scores(answer, surface)
        if not scores:
            return Identity(reasons=("no record documents such an answer",))
        best = max(each.points for each in scores)
        chosen = [each for each in scores if each.points > best - APART]
        chosen.sort(key=lambda each: (-each.points, -each.words, -each.skeleton.reach, each.skeleton.address))
        first = chosen[0]
        if self._merely_alike(origin, first):
            alike = f"it only looks like {first.skeleton.address}"
            return Identity(reasons=(alike, _whose(origin, whose), *first.reasons))
        addresses = tuple(dict.fromkeys(each.skeleton.address for each in chosen))
        advice = of_all(self.records[address] for address in addresses)
        return Identity(
            records=addresses,
            certain=first.exact and self._is_the_providers(origin),
            reasons=(*first.reasons, _whose(origin, whose)),
            retry=for_answer(advice, answer.headers, first.said),
        )

    def _scores(self, answer: Answer, surface: str | None) -> list[Score]:
        """How each record fits that the answer may be, by the first reading that fits it."""
        views: dict[tuple[str, int], Projection] = {}
        found = []
        for skeleton in self.candidates.among(answer):
            if surface not in (None, skeleton.protocol, skeleton.surface):
                continue
            for number, reading in enumerate(answer.readings):
                view = views.get((skeleton.surface, number))
                if view is None:
                    view = views[skeleton.surface, number] = Projection(skeleton.shape, reading)
                one = score(skeleton, answer, view, self.about)
                if one is not None and one.points >= ENOUGH:
                    found.append(one)
                    break
        return found

    def _is_the_providers(self, origin: Origin) -> bool:
        """Whether nobody else can have given the answer."""
        if origin in (Origin.UNTOLD, Origin.UNKNOWN):
            return not self.imitated
        return origin is Origin.PROVIDER

    def _merely_alike(self, origin: Origin, best: Score) -> bool:
        """Whether the answer shows by its headers, or by what its envelope lacks, that another host gave it."""
        if origin is Origin.UNTOLD:
            return self.imitated and not best.strict and not best.shown
        return origin is Origin.ANOTHER


def _whose(origin: Origin, whose: str) -> str:
    return {
        Origin.PROVIDER: f"the header {whose} is the provider's",
        Origin.ANOTHER: f"its headers are those of {whose}",
        Origin.THROUGH: f"it came through {whose}",
        Origin.UNTOLD: "no header tells who answered",
        Origin.UNKNOWN: "its headers are not known",
    }[origin]
