"""Recognition of an answer: one record, a few candidates, only a group, or unknown; with retry advice."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Self

from catalog_probe.catalog.files.manifest import manifest
from catalog_probe.catalog.recognition import proof
from catalog_probe.catalog.recognition.advice import Advice, May, advise_for_status, apply_answer, combine_advice
from catalog_probe.catalog.recognition.answer_patterns import AnswerPattern, compile_patterns
from catalog_probe.catalog.recognition.areas import ApiAreas
from catalog_probe.catalog.recognition.body_projection import Projection
from catalog_probe.catalog.recognition.groups import find_group, find_group_by_status
from catalog_probe.catalog.recognition.nearest import describe_undocumented, find_nearest
from catalog_probe.catalog.recognition.origin import Origin, OriginHeaders
from catalog_probe.catalog.recognition.scoring import OTHER_PATH, ProviderContext, Score, score_answer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from catalog_probe.catalog.answers.readings import Answer
    from catalog_probe.catalog.model import Record
    from catalog_probe.catalog.recognition.areas import RequestLocation

# Points that make a record a candidate. A documented status and nothing against it have as many, a code has more.
MIN_POINTS = 2.0
MIN_DISTANCE = 0.5  # points by which two records must differ for an answer to tell them apart
UNPROVEN = "it does not say that it is this record and no other"
MAX_CANDIDATES = 5  # more do not help a person, so only the group is named

# These statuses say what kind of error it is, whoever answered.
_TOO_MANY_REQUESTS = 429
_SERVER_ERROR = 500  # and above


@dataclass(frozen=True, slots=True)
class Identity:
    """What an answer was recognized as."""

    record: str | None = None
    """The address of the record, if it is certain."""
    candidates: tuple[str, ...] = ()
    """The few records that it may be, likeliest first; empty if one is certain, or if there are many."""
    group: str = ""
    """The kind of error, such as `rate limit`; empty if unknown."""
    records: tuple[str, ...] = ()
    """Every record that it fits, likeliest first."""
    nearest: tuple[str, ...] = ()
    """The most similar records, if the answer fits none."""
    reasons: tuple[str, ...] = ()
    """What speaks for and against the first record; or why there is none."""
    retry: Advice = field(default_factory=lambda: Advice(May.UNKNOWN))

    @property
    def verdict(self) -> str:
        """How much is known: `record`, `candidates`, `group` or `unknown`."""
        if self.record is not None:
            return "record"
        if self.candidates:
            return "candidates"
        return "group" if self.group else "unknown"

    @property
    def unknown(self) -> bool:
        """Whether only `reasons` and `nearest` say something about it."""
        return self.verdict == "unknown"

    def __bool__(self) -> bool:
        return not self.unknown


@dataclass(frozen=True, slots=True)
class Recognizer:
    """The documented answers of one provider, compiled for comparison."""

    provider: str
    records: Mapping[str, Record]
    patterns: tuple[AnswerPattern, ...]
    surfaces: frozenset[str]
    """The names of the envelopes of its answers."""
    context: ProviderContext
    areas: ApiAreas
    origin_headers: OriginHeaders
    default_surface: str
    is_imitated: bool
    """Whether other hosts answer in its envelopes."""

    @classmethod
    def from_records(cls, provider: str, records: Iterable[Record]) -> Self:
        """Compile the error records of a provider, once.

        Raises:
            KeyError: a surface that a record names does not exist.
        """
        records = tuple(records)
        patterns = compile_patterns(records)
        return cls(
            provider=provider,
            records={str(record.address): record for record in records},
            patterns=patterns,
            surfaces=frozenset(pattern.surface for pattern in patterns),
            context=ProviderContext.from_patterns(patterns),
            areas=ApiAreas.from_records(provider, records),
            origin_headers=OriginHeaders.from_records(provider, records),
            default_surface=manifest(provider).default_surface,
            is_imitated=manifest(provider).imitated,
        )

    def identify(
        self, answer: Answer, surface: str | None = None, *, method: str | None = None, path: str | None = None
    ) -> Identity:
        """Compare an answer with every record of the provider.

        `surface` limits it to one protocol or envelope, `method` and `path` of the request to the errors of that
        endpoint.
        """
        origin, evidence = self.origin_headers.find_origin(answer.headers)
        scores = list(self._score_patterns(answer, surface, self.areas.locate_request(method, path)))
        if not scores:
            return self._describe_unknown(answer)
        chosen = _choose(scores)
        first = chosen[0]
        if self._is_another_host(origin, first):
            resemblance = f"it only looks like {first.pattern.address}"
            unknown = self._describe_unknown(answer, _addresses(chosen)[:1])
            return replace(unknown, reasons=(resemblance, _explain_origin(origin, evidence), *first.reasons))
        addresses, candidates = _addresses(chosen), _addresses(_select_candidates(chosen))
        is_only_one = len(addresses) == 1 and first.points >= MIN_POINTS
        is_proven = is_only_one and proof.is_proven(first, self.patterns, by_published_words=True)
        is_certain = is_proven and self._is_from_provider(origin)
        likely_records = [self.records[address] for address in candidates or addresses]
        documented = frozenset().union(*(score.pattern.statuses for score in chosen))
        status = answer.status if answer.status is not None or len(documented) != 1 else min(documented)
        group = find_group(likely_records, status)
        if not group and answer.close is not None:
            group = "connection closed"
        reasons = first.reasons if is_proven else (*first.reasons, UNPROVEN)
        advice = combine_advice(likely_records)
        if not candidates:
            advice = replace(advice, change="")  # so many records need different changes
        return Identity(
            record=addresses[0] if is_certain else None,
            candidates=() if is_certain else candidates,
            group=group,
            records=addresses,
            reasons=(*reasons, _explain_origin(origin, evidence)),
            retry=apply_answer(advice, answer.headers, first.message),
        )

    def find_proven(self, answer: Answer) -> str | None:
        """Return the record that an answer says it is, by documented statements alone; None if none, or several.

        The caller knows that the provider answered. The request is not asked: a path proves no record.
        """
        scores = self._score_patterns(answer, None, None)
        proven = {score.pattern.address for score in scores if proof.is_proven(score, self.patterns)}
        return proven.pop() if len(proven) == 1 else None

    def _describe_unknown(self, answer: Answer, nearest: tuple[str, ...] = ()) -> Identity:
        """Describe an answer that fits no record by its status and headers."""
        status = answer.status or 0
        tells_group = status == _TOO_MANY_REQUESTS or status >= _SERVER_ERROR
        return Identity(
            group=find_group_by_status(status) if tells_group else "",
            nearest=nearest or find_nearest(answer, self.patterns),
            reasons=("no record documents such an answer", *describe_undocumented(answer, self.patterns)),
            retry=advise_for_status(answer.status, self.provider, answer.headers),
        )

    def _score_patterns(self, answer: Answer, surface: str | None, request: RequestLocation | None) -> Iterator[Score]:
        """Score each record that the answer may be, by the first reading that fits."""
        # Many records share an envelope, so each reading is projected once per envelope.
        projections: dict[tuple[str, int], Projection] = {}
        texts = answer.texts
        for pattern in self.patterns:
            if surface not in (None, pattern.protocol, pattern.surface):
                continue
            if self._needs_path(pattern) and not self.areas.can_occur(pattern.endpoints, request, texts):
                continue
            fit = self._score_pattern(pattern, answer, projections)
            if fit is not None:
                if not self.areas.fits(pattern.endpoints, request):
                    fit.add(OTHER_PATH, "it is documented for other endpoints")
                yield fit

    def _needs_path(self, pattern: AnswerPattern) -> bool:
        """Whether only the path tells its answer from others: it has the usual envelope and no code."""
        return "code" not in pattern.wire and pattern.surface in (self.default_surface, "any")

    def _score_pattern(
        self, pattern: AnswerPattern, answer: Answer, projections: dict[tuple[str, int], Projection]
    ) -> Score | None:
        for number, reading in enumerate(answer.readings):
            key = pattern.surface, number
            if key not in projections:
                projections[key] = Projection(pattern.shape, reading)
            fit = score_answer(pattern, answer, projections[key], self.context)
            if fit is not None and (fit.points >= MIN_POINTS or fit.has_wording):
                return fit
        return None

    def _is_from_provider(self, origin: Origin) -> bool:
        """Whether no header contradicts the caller, who says that the provider answered.

        If other hosts imitate the provider, headers that any host may send are not enough.
        """
        if origin is Origin.NEUTRAL:
            return not self.is_imitated
        return origin in (Origin.PROVIDER, Origin.UNKNOWN)

    def _is_another_host(self, origin: Origin, best: Score) -> bool:
        """Whether headers, or missing members of the envelope, show that another host answered."""
        if origin is Origin.NEUTRAL:
            return self.is_imitated and not best.is_strict and not best.shows_values
        return origin is Origin.OTHER_HOST


def _choose(scores: Sequence[Score]) -> list[Score]:
    """Return the records that the answer cannot tell apart, likeliest first.

    Points come first, and wording decides among the rest. A record whose wording matches goes before records without
    known wording, even if its status differs: services change the status of an error more often than its wording.
    """
    weak = [score for score in scores if score.has_wording and score.points < MIN_POINTS]
    strong = [score for score in scores if score not in weak]
    best = max((score.points for score in strong), default=0.0)
    chosen = [score for score in strong if score.points > best - MIN_DISTANCE]
    with_wording = [score for score in chosen if score.has_wording]
    deviating = [*weak, *(score for score in strong if score.has_wording and score.deviates and score not in chosen)]
    only_one = len(_addresses(chosen)) == 1
    if with_wording:
        remaining = with_wording
    elif deviating and not (only_one and chosen[0].is_specific):
        remaining = [*deviating, *chosen]
    else:
        remaining = chosen
    return sorted(remaining, key=_rank)


def _rank(score: Score) -> tuple[bool, bool, float, float, int, str]:
    """Sort key of records that an answer cannot tell apart. The address makes the order deterministic."""
    has_other_words = score.pattern.has_words and not score.has_wording
    pattern = score.pattern
    return (
        not score.has_wording,
        has_other_words,
        -score.points,
        -score.shared_words,
        -len(pattern.endpoints),
        pattern.address,
    )


def _select_candidates(chosen: Sequence[Score]) -> Sequence[Score]:
    """Return the candidates to name: all if they are few, else those whose known wording does not contradict."""
    if len(_addresses(chosen)) <= MAX_CANDIDATES:
        return chosen
    general = [score for score in chosen if score.has_wording or not score.pattern.has_words]
    return general if len(_addresses(general)) <= MAX_CANDIDATES else ()


def _addresses(chosen: Iterable[Score]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(score.pattern.address for score in chosen))


def _explain_origin(origin: Origin, evidence: str) -> str:
    return {
        Origin.PROVIDER: f"the header {evidence} is the provider's",
        Origin.OTHER_HOST: f"its headers are those of {evidence}",
        Origin.FORWARDED: f"it came through {evidence}",
        Origin.NEUTRAL: "no header tells who answered",
        Origin.UNKNOWN: "its headers are not known",
    }[origin]
