"""Which record is this answer: one, one of a few, only a group, or unknown; and may the request be sent again."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Self

from catalog_probe.catalog.files.manifest import manifest
from catalog_probe.catalog.recognition.advice import Advice, May, advise_for_status, apply_answer, combine_advice
from catalog_probe.catalog.recognition.answer_patterns import AnswerPattern, compile_patterns
from catalog_probe.catalog.recognition.areas import ApiAreas
from catalog_probe.catalog.recognition.body_projection import Projection
from catalog_probe.catalog.recognition.groups import find_group, find_group_by_status
from catalog_probe.catalog.recognition.nearest import describe_undocumented, find_nearest
from catalog_probe.catalog.recognition.origin import Origin, OriginHeaders
from catalog_probe.catalog.recognition.scoring import MIN_POINTS, OTHER_PATH, ProviderContext, Score, score_answer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from catalog_probe.catalog.answers.readings import Answer
    from catalog_probe.catalog.model import Record
    from catalog_probe.catalog.recognition.areas import RequestLocation

MIN_DISTANCE = 0.5
"""Points by which two records must differ for an answer to tell them apart."""

MAX_CANDIDATES = 5
"""Candidates that still help a person; of more only the group is told."""

_SAYS_ENOUGH = 429
"""From 500 on, and of this one, a status says what kind of error it is, whoever answered."""
_FAULT_OF_A_SERVER = 500


@dataclass(frozen=True, slots=True)
class Identity:
    """What an answer was recognised as."""

    record: str | None = None
    """The address of the record that it is, if that is sure."""
    candidates: tuple[str, ...] = ()
    """The few records that it may be, likeliest first; empty where one is sure, and where there are many."""
    group: str = ""
    """What kind of error it is, such as `rate limit`; empty where nothing tells."""
    records: tuple[str, ...] = ()
    """Every record that it fits, likeliest first."""
    nearest: tuple[str, ...] = ()
    """Of an answer that fits none: the records that are most like it."""
    reasons: tuple[str, ...] = ()
    """What speaks for the first record, and what against it; or why there is none."""
    retry: Advice = field(default_factory=lambda: Advice(May.UNKNOWN))

    @property
    def verdict(self) -> str:
        """How much is known: `record`, `candidates`, `group` or `unknown`."""
        if self.record is not None:
            return "record"
        return "candidates" if self.candidates else "group" if self.group else "unknown"

    @property
    def unknown(self) -> bool:
        """Whether nothing is known of it but what `reasons` and `nearest` say."""
        return self.verdict == "unknown"

    def __bool__(self) -> bool:
        return not self.unknown


@dataclass(frozen=True, slots=True)
class Recognizer:
    """The documented answers of one provider, ready to be compared with."""

    provider: str
    records: Mapping[str, Record]
    patterns: tuple[AnswerPattern, ...]
    surfaces: frozenset[str]
    """The names of the envelopes that its answers come in."""
    about: ProviderContext
    areas: ApiAreas
    marks: OriginHeaders
    default_surface: str
    imitated: bool
    """Whether other hosts answer in its envelopes."""

    @classmethod
    def from_records(cls, provider: str, records: Iterable[Record]) -> Self:
        """Compile the error records of a provider, once.

        Raises:
            KeyError: a surface that a record names does not exist.
        """
        records = tuple(records)
        made = compile_patterns(records)
        return cls(
            provider=provider,
            records={str(record.address): record for record in records},
            patterns=made,
            surfaces=frozenset(each.surface for each in made),
            about=ProviderContext.from_records(made),
            areas=ApiAreas.from_records(provider, records),
            marks=OriginHeaders.from_records(provider, records),
            default_surface=manifest(provider).default_surface,
            imitated=manifest(provider).imitated,
        )

    def identify(
        self, answer: Answer, surface: str | None = None, *, method: str | None = None, path: str | None = None
    ) -> Identity:
        """Compare an answer with every record of the provider.

        `surface` narrows it to one way of travelling, `method` and `path` of the request to what can occur there.
        """
        origin, whose = self.marks.origin(answer.headers)
        scores = list(self._scores(answer, surface, self.areas.locate(method, path)))
        if not scores:
            return self._recognise_nothing(answer)
        chosen, sure = _choose(scores)
        first = chosen[0]
        if self._merely_alike(origin, first):
            alike = f"it only looks like {first.pattern.address}"
            unknown = self._recognise_nothing(answer, _addresses(chosen)[:1])
            return replace(unknown, reasons=(alike, _whose(origin, whose), *first.reasons))
        addresses, few = _addresses(chosen), _addresses(_few(chosen))
        sure = sure and self._is_the_providers(origin) and first.pattern.shape.body != "any"
        telling = [self.records[address] for address in few or addresses]
        documented = frozenset().union(*(score.pattern.statuses for score in chosen))
        status = answer.status if answer.status is not None or len(documented) != 1 else min(documented)
        group = find_group(telling, status)
        if not group and answer.close is not None:
            group = "connection closed"
        advice = combine_advice(telling)
        if not few:
            advice = replace(advice, change="")  # what to change differs among so many
        return Identity(
            record=addresses[0] if sure else None,
            candidates=() if sure else few,
            group=group,
            records=addresses,
            reasons=(*first.reasons, _whose(origin, whose)),
            retry=apply_answer(advice, answer.headers, first.said),
        )

    def single_out(self, answer: Answer, *, method: str | None = None, path: str | None = None) -> str | None:
        """The one record that an answer surely is, whatever its headers say of who gave it: the caller knows that."""
        scores = list(self._scores(answer, None, self.areas.locate(method, path)))
        if not scores:
            return None
        chosen, sure = _choose(scores)
        return chosen[0].pattern.address if sure and chosen[0].pattern.shape.body != "any" else None

    def _recognise_nothing(self, answer: Answer, nearest: tuple[str, ...] = ()) -> Identity:
        """What is left of an answer that fits no record: what its status and its headers say by themselves."""
        status = answer.status or 0
        says_enough = status == _SAYS_ENOUGH or status >= _FAULT_OF_A_SERVER
        return Identity(
            group=find_group_by_status(status) if says_enough else "",
            nearest=nearest or find_nearest(answer, self.patterns),
            reasons=("no record documents such an answer", *describe_undocumented(answer, self.patterns)),
            retry=advise_for_status(answer.status, self.provider, answer.headers),
        )

    def _scores(self, answer: Answer, surface: str | None, request: RequestLocation | None) -> Iterator[Score]:
        """How each record fits that the answer may be, by the first reading that fits it."""
        views: dict[tuple[str, int], Projection] = {}
        texts = answer.texts
        for pattern in self.patterns:
            if surface not in (None, pattern.protocol, pattern.surface):
                continue
            if self._needs_path(pattern) and not self.areas.can_occur(pattern.endpoints, request, texts):
                continue
            fit = self._score(pattern, answer, views)
            if fit is not None:
                if not self.areas.fits(pattern.endpoints, request):
                    fit.add(OTHER_PATH, "it is documented for other endpoints")
                yield fit

    def _needs_path(self, pattern: AnswerPattern) -> bool:
        """Whether its answer looks like any other of the provider: in the usual envelope, and without a code."""
        return "code" not in pattern.wire and pattern.surface in (self.default_surface, "any")

    def _score(self, pattern: AnswerPattern, answer: Answer, views: dict[tuple[str, int], Projection]) -> Score | None:
        for number, reading in enumerate(answer.readings):
            view = views.get((pattern.surface, number))
            if view is None:
                view = views[pattern.surface, number] = Projection(pattern.shape, reading)
            fit = score_answer(pattern, answer, view, self.about)
            if fit is not None and (fit.points >= MIN_POINTS or fit.worded):
                return fit
        return None

    def _is_the_providers(self, origin: Origin) -> bool:
        """Whether nothing in the headers is against the caller's word that it is the provider's answer.

        Headers that any host might send are against it where other hosts answer alike.
        """
        if origin is Origin.UNTOLD:
            return not self.imitated
        return origin in (Origin.PROVIDER, Origin.UNKNOWN)

    def _merely_alike(self, origin: Origin, best: Score) -> bool:
        """Whether the answer shows by its headers, or by what its envelope lacks, that another host gave it."""
        if origin is Origin.UNTOLD:
            return self.imitated and not best.strict and not best.shown
        return origin is Origin.ANOTHER


def _choose(scores: Sequence[Score]) -> tuple[list[Score], bool]:
    """The records that an answer cannot tell apart, likeliest first, and whether it is surely the one that is left.

    Points come first, words decide among what they leave. Words that tell of a record with another status go before
    records without words of their own: services move an error to another status more often than they reword it.
    """
    weak = [score for score in scores if score.worded and score.points < MIN_POINTS]
    strong = [score for score in scores if score not in weak]
    best = max((score.points for score in strong), default=0.0)
    chosen = [score for score in strong if score.points > best - MIN_DISTANCE]
    worded = [score for score in chosen if score.worded]
    moved = [*weak, *(score for score in strong if score.worded and score.moved and score not in chosen)]
    only_one = len(_addresses(chosen)) == 1
    if worded:
        left = worded
    elif moved and not (only_one and chosen[0].named):
        left = [*moved, *chosen]
    else:
        left = chosen
    left = sorted(left, key=_rank)
    first = left[0]
    sure = len(_addresses(left)) == 1 and first in chosen and not first.new_code
    looks_its_own = only_one and not first.moved and not first.pattern.has_words
    return left, sure and (first.named or looks_its_own or (first.worded and not first.moved))


def _rank(score: Score) -> tuple[bool, bool, float, float, int, str]:
    """The order of records that an answer cannot tell apart; the address only makes it the same each time."""
    has_other_words = score.pattern.has_words and not score.worded
    pattern = score.pattern
    return (not score.worded, has_other_words, -score.points, -score.words, -len(pattern.endpoints), pattern.address)


def _few(chosen: Sequence[Score]) -> Sequence[Score]:
    """The candidates worth naming: all if they are few, else those that no words of their own speak against."""
    if len(_addresses(chosen)) <= MAX_CANDIDATES:
        return chosen
    general = [score for score in chosen if score.worded or not score.pattern.has_words]
    return general if len(_addresses(general)) <= MAX_CANDIDATES else ()


def _addresses(chosen: Iterable[Score]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(score.pattern.address for score in chosen))


def _whose(origin: Origin, whose: str) -> str:
    return {
        Origin.PROVIDER: f"the header {whose} is the provider's",
        Origin.ANOTHER: f"its headers are those of {whose}",
        Origin.THROUGH: f"it came through {whose}",
        Origin.UNTOLD: "no header tells who answered",
        Origin.UNKNOWN: "its headers are not known",
    }[origin]
