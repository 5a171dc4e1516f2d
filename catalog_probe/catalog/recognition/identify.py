"""Recognition of an answer: one record, a few candidates, a group, or unknown. Words: docs/concepts.md."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Self

from catalog_probe.catalog.files.manifest import manifest
from catalog_probe.catalog.reading.assertions import asserted_expectations
from catalog_probe.catalog.reading.record_fields import classification
from catalog_probe.catalog.recognition import proof
from catalog_probe.catalog.recognition.advice import (
    Advice,
    May,
    advise_for_status,
    apply_answer,
    combine_advice,
    doubt_limit,
    find_wait,
)
from catalog_probe.catalog.recognition.answer_body import EMPTY, Projection, is_page
from catalog_probe.catalog.recognition.answer_patterns import (
    CLIENT,
    EVENT_PROTOCOLS,
    HTTP,
    AnswerPattern,
    compile_patterns,
    extract_words,
)
from catalog_probe.catalog.recognition.endpoints import ApiAreas
from catalog_probe.catalog.recognition.proof import Origin, OriginHeaders
from catalog_probe.catalog.recognition.scoring import STATUS, ProviderContext, Score, score_answer

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from catalog_probe.catalog.model import Record
    from catalog_probe.catalog.recognition.answer_body import Answer
    from catalog_probe.catalog.recognition.endpoints import RequestLocation


ACCOUNT_GROUP = "credit or billing"

_GROUP_BY_CATEGORY: Mapping[str, str] = {
    "invalid_request": "invalid request",
    "authentication": "authentication",
    "auth": "authentication",
    "permission": "permission",
    "not_found": "not found",
    "rate_limit": "rate limit",
    "capacity": "overload",
    "overload": "overload",
    "server": "server error",
    "server_error": "server error",
    "timeout": "timeout",
    "content_safety": "content policy",
    "policy": "content policy",
}
"""Category of a record (1:2.2) -> group; `client`, `async` and `reference` have none."""

_FIRST_SERVER_ERROR = 500
_GROUP_BY_STATUS: Mapping[int, str] = {
    **dict.fromkeys((400, 405, 411, 413, 414, 415, 416, 422, 431), "invalid request"),
    401: "authentication",
    402: ACCOUNT_GROUP,
    403: "permission",
    **dict.fromkeys((404, 410), "not found"),
    409: "conflict",
    429: "rate limit",
    **dict.fromkeys((500, 501, 502), "server error"),
    **dict.fromkeys((503, 529), "overload"),
    **dict.fromkeys((408, 504), "timeout"),
}


def find_group(records: Iterable[Record], status: int | None) -> str:
    """Return the common group of these records; if they differ, that of the status; empty if there is none.

    Example: two records of the category `capacity` -> `overload`; one of `capacity` and one of `server` with a 503 ->
    `overload`, the group of the status.
    """
    groups = {find_record_group(record) for record in records}
    return groups.pop() if len(groups) == 1 and "" not in groups else find_group_by_status(status)


def find_group_by_status(status: int | None) -> str:
    """Return the group of a status; empty if there is none.

    >>> find_group_by_status(429), find_group_by_status(520), find_group_by_status(418)
    ('rate limit', 'server error', '')
    """
    status = status or 0
    return _GROUP_BY_STATUS.get(status, "server error" if status >= _FIRST_SERVER_ERROR else "")


def find_record_group(record: Record) -> str:
    """Return the group of an error record; empty if its category has none."""
    if str(record.address) in manifest(record.provider).unpaid:
        return ACCOUNT_GROUP
    return _GROUP_BY_CATEGORY.get(classification(record).category, "")


_MAX_NEAREST = 3  # records that are named; more do not help a person


def find_nearest(answer: Answer, patterns: Collection[AnswerPattern]) -> tuple[str, ...]:
    """Return the records of the same status, or of the same class, that share most words with the answer.

    Example: PC's 400 with the new code `parameter_unknown` -> `pc/errors/request/unknown_parameter` and two more.
    """
    documented = [pattern for pattern in patterns if pattern.protocol == HTTP]
    same_status = [pattern for pattern in documented if answer.status in pattern.statuses]
    hundreds = (answer.status or 0) // 100
    candidates = same_status or [
        pattern
        for pattern in documented
        if pattern.hundreds == hundreds or {status // 100 for status in pattern.statuses} == {hundreds}
    ]
    word_counts: dict[str, int] = {}  # address -> the most words that one of its patterns shares with the answer
    for pattern in candidates:
        for projection in _project(answer, (pattern,)):
            count = _count_shared_words(pattern, projection)
            word_counts[pattern.address] = max(word_counts.get(pattern.address, 0), count)
    similar = (address for address, count in word_counts.items() if count)
    return tuple(sorted(similar, key=lambda address: (-word_counts[address], address))[:_MAX_NEAREST])


def describe_undocumented(answer: Answer, patterns: Collection[AnswerPattern]) -> Iterator[str]:
    """Describe what is documented in no record: the status, the code, the type, or a page instead of an error body.

    Example: PC's 418 with an HTML page -> `status 418 is in no record`, `its body is an HTML page: …`.
    """
    if answer.status is not None and not any(_has_status(pattern, answer.status) for pattern in patterns):
        yield f"status {answer.status} is in no record"
    projections = list(_project(answer, patterns))
    codes = {str(code) for pattern in patterns for code in pattern.wire.get("code", ())}
    for code in dict.fromkeys(projection.code for projection in projections if isinstance(projection.code, str)):
        if code not in codes:
            yield f"code {code} is in no record"
    types = {str(name) for pattern in patterns for name in pattern.wire.get("type", ())}
    for name in dict.fromkeys(projection.type for projection in projections if isinstance(projection.type, str)):
        if types and name not in types:
            yield f"type {name} is in no record"
    bodies = [reading.body for reading in answer.readings]
    if any(isinstance(body, str) and is_page(body) for body in bodies):
        yield "its body is an HTML page: a gateway in front of the provider answers so"
    elif not projections and any(body is not EMPTY for body in bodies):
        yield "its body is in no envelope of the provider: a gateway or another host may have answered"


def _project(answer: Answer, patterns: Collection[AnswerPattern]) -> Iterator[Projection]:
    """Project the body, as it was received, through each envelope in which it has a message."""
    shapes = {pattern.shape.name: pattern.shape for pattern in patterns if "message" in pattern.shape.wire}
    received = [reading for reading in answer.readings if not (reading.wrapped or reading.is_message)]
    projections = (Projection(shape, reading) for shape in shapes.values() for reading in received)
    return (item for item in projections if item.message is not None and not item.fit.wrong)


def _count_shared_words(pattern: AnswerPattern, projection: Projection) -> int:
    """Count the words that both have. Those of the code count twice: a code has few words, and none by chance."""
    code = extract_words(projection.code) if isinstance(projection.code, str) else frozenset()
    return len(pattern.words & extract_words(projection.texts)) + len(pattern.words & code)


def _has_status(pattern: AnswerPattern, status: int) -> bool:
    return status in pattern.statuses or pattern.hundreds == status // 100


MIN_POINTS = STATUS  # points that make a record a candidate: its status is enough, unless something contradicts it
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
    """Every record that the answer fits, likeliest first."""
    nearest: tuple[str, ...] = ()
    """The most similar records, if the answer fits no record."""
    reasons: tuple[str, ...] = ()
    """What supports and what contradicts the first record; or why there is no record."""
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
        """Whether only `reasons` and `nearest` say something about the answer."""
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
    """The names of the envelopes of its errors, e.g. `pc`."""
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

        `surface`, a protocol (`sse`) or an envelope (`pc`), leaves out the records that cannot come there. `method` and
        `path` of the request leave out the records of other endpoints, as far as the answer allows it.
        """
        origin, evidence = self.origin_headers.find_origin(answer.headers)
        explained_origin = _explain_origin(origin, evidence)
        request = self.areas.locate_request(method, path)
        scores = list(self._score_patterns(answer, surface, request))
        if not scores:
            return self._describe_unknown(answer)
        chosen = self._choose(scores, request)
        first = chosen[0]
        if self._is_another_host(origin, first):
            resemblance = f"it only looks like {first.pattern.address}"
            unknown = self._describe_unknown(answer, (first.pattern.address,))
            return replace(unknown, reasons=(resemblance, explained_origin, *first.reasons))
        is_documented_there = self.areas.fits(first.pattern.endpoints, request)
        identity = self._describe_known(
            answer, chosen, is_from_provider=self._is_from_provider(origin), is_documented_there=is_documented_there
        )
        return replace(identity, reasons=(*identity.reasons, explained_origin))

    def _describe_known(
        self, answer: Answer, chosen: Sequence[Score], *, is_from_provider: bool, is_documented_there: bool
    ) -> Identity:
        """Describe an answer that fits the chosen records. A single record is certain if the answer proves it.

        Some words are known from published answers, and not from the documents. They prove a record only if the request
        may have gone to an endpoint of that record.
        """
        first = chosen[0]
        records, candidates = _record_addresses(chosen), _record_addresses(_select_candidates(chosen))
        is_only_one = len(records) == 1 and first.points >= MIN_POINTS
        is_proven = is_only_one and proof.is_proven(first, self.patterns, by_published_words=is_documented_there)
        is_certain = is_proven and is_from_provider
        likely_records = [self.records[address] for address in candidates or records]
        delay = find_wait(answer.headers, first.message)
        advice = combine_advice(likely_records, states_delay=delay is not None)
        if answer.status == _TOO_MANY_REQUESTS and not (first.has_wording or first.has_code_or_value):
            advice = doubt_limit(advice, answer.headers, first.message)
        if not candidates:
            advice = replace(advice, change="")  # so many records need different changes
        return Identity(
            record=records[0] if is_certain else None,
            candidates=() if is_certain else candidates,
            group=_find_group_of_answer(answer, chosen, likely_records),
            records=records,
            reasons=first.reasons if is_proven else (*first.reasons, UNPROVEN),
            retry=apply_answer(advice, answer.headers, first.message),
        )

    def identify_failures(self, *failures: str) -> Identity:
        """Identify what happened to a client that got no answer, by the failure, or by the few that it may have been.

        Example: PC documents `connect-timeout`. Of a provider that documents none, only the group is known.
        """
        records = [record for record in self.records.values() if not _list_failures(record).isdisjoint(failures)]
        names = " or ".join(failures)
        group = "timeout" if all(failure.endswith("timeout") for failure in failures) else "connection failed"
        if not records:
            return Identity(group=group, reasons=("no answer came", f"no record documents the failure {names}"))
        addresses = tuple(str(record.address) for record in records)
        return Identity(
            record=addresses[0] if len(addresses) == 1 else None,
            candidates=addresses if len(addresses) > 1 else (),
            group=group,
            records=addresses,
            reasons=("no answer came", f"the failure {names} is documented"),
            retry=combine_advice(records),
        )

    def find_proven(self, answer: Answer) -> str | None:
        """Return the record that an answer proves by documented statements alone; None if it proves none, or several.

        Example: a 402 of PA with the type `billing_error` -> `pa/errors/general/payment_problem`.

        The caller knows that the provider answered. Method and path of the request are ignored, because they prove no
        record. If two records have the code of an event, the record of events goes before the record of a response.
        """
        scores = self._score_patterns(answer, surface=None, request=None)
        proven = [score.pattern for score in scores if proof.is_proven(score, self.patterns)]
        in_events = {pattern.address for pattern in proven if pattern.protocol != HTTP}
        addresses = in_events or {pattern.address for pattern in proven}
        return addresses.pop() if len(addresses) == 1 else None

    def _describe_unknown(self, answer: Answer, nearest: tuple[str, ...] = ()) -> Identity:
        """Describe an answer that fits no record by its status and headers."""
        status = answer.status or 0
        tells_group = status == _TOO_MANY_REQUESTS or status >= _SERVER_ERROR
        return Identity(
            group=find_group_by_status(status) if tells_group else "",
            nearest=nearest or find_nearest(answer, self.patterns),
            reasons=("no record documents such an answer", *describe_undocumented(answer, self.patterns)),
            retry=advise_for_status(answer.status, self.provider, answer.headers, answer.texts),
        )

    def _score_patterns(self, answer: Answer, surface: str | None, request: RequestLocation | None) -> Iterator[Score]:
        """Score each record that the answer may be, by the first reading that fits."""
        # Many records share an envelope, so each reading is projected once per envelope.
        projections: dict[tuple[str, int], Projection] = {}
        texts = answer.texts
        for pattern in self.patterns:
            if not _is_on_surface(pattern, surface):
                continue
            if self._needs_path(pattern) and not self.areas.can_occur(pattern.endpoints, request, texts):
                continue
            fit = self._score_pattern(pattern, answer, projections)
            if fit is not None:
                yield fit

    def _choose(self, scores: Sequence[Score], request: RequestLocation | None) -> list[Score]:
        """Return the records that the answer cannot tell apart, likeliest first.

        1. The records with most points, and those with less than `MIN_DISTANCE` fewer.
        2. Of these, the records that are documented for the endpoint of the request (`_exclude_other_endpoints`).
        3. Of these, the records whose words the message has, if there are any.
        4. If there are none, and no code or value singles out one record: first each record whose words the message has
           under another status or type, then those of step 2. Services change the status of an error more often than
           its wording. Example: PA's empty credit balance, documented as 402, comes as a 400 with its words.
        """
        best = max(score.points for score in scores)
        likeliest = [score for score in scores if score.points > best - MIN_DISTANCE]
        chosen = self._exclude_other_endpoints(likeliest, request)
        with_wording = [score for score in chosen if score.has_wording]
        is_singled_out = len(_record_addresses(chosen)) == 1 and chosen[0].has_code_or_value
        if with_wording:
            chosen = with_wording
        elif not is_singled_out:
            chosen = [*(score for score in scores if score.has_wording and score.differs_in_status_or_type), *chosen]
        return sorted(chosen, key=_rank)

    def _exclude_other_endpoints(self, scores: list[Score], request: RequestLocation | None) -> list[Score]:
        """Leave out the records of other endpoints, if that leaves a record which the words do not contradict.

        Words contradict a record if they are known, and the message does not have them. Example: for its compatibility
        layer PB documents only a 404 about an authorization header. The 404 "no longer available to new users" there
        contradicts that record, so the record that has these words stays, though it is of another endpoint.
        """
        of_endpoint = [score for score in scores if self.areas.fits(score.pattern.endpoints, request)]
        return scores if all(map(_is_contradicted_by_words, of_endpoint)) else of_endpoint

    def _needs_path(self, pattern: AnswerPattern) -> bool:
        """Whether only the path tells the record's answer from others: no code, and the usual envelope or any body."""
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

        If other hosts imitate the provider, headers that any host may send are not enough. This prevents that a
        gateway's answer in PC's envelope is certain. It hides no record: PC's record is still named as a candidate.
        """
        if origin is Origin.NEUTRAL:
            return not self.is_imitated
        return origin in (Origin.PROVIDER, Origin.UNKNOWN)

    def _is_another_host(self, origin: Origin, best: Score) -> bool:
        """Whether headers, or missing members of the envelope, show that another host answered.

        Example: `{"error": {"message": "No.", "type": "…"}}` without the member `param`, which PC always sends.
        """
        if origin is not Origin.NEUTRAL:
            return origin is Origin.OTHER_HOST
        is_shaped_as_documented = best.has_envelope or best.has_stated_value
        return self.is_imitated and not is_shaped_as_documented


def _list_failures(record: Record) -> frozenset[str]:
    """Return the failures of the client that an error record states; most state none."""
    if record.surface != CLIENT:
        return frozenset()
    expectations = asserted_expectations(record, {str(record.address): record}.__getitem__)
    return frozenset(expected.failure for expected in expectations if expected.failure is not None)


def _is_on_surface(pattern: AnswerPattern, surface: str | None) -> bool:
    """Whether a record's answer may come on this protocol or in this envelope; on any if none is named.

    A stream or socket also carries errors that are documented as responses. Example: PC's `server_is_overloaded`, which
    is documented as a 503, comes in an event as well.
    """
    is_in_event = pattern.protocol == HTTP and surface in EVENT_PROTOCOLS
    return is_in_event or surface in (None, pattern.protocol, pattern.surface)


def _is_contradicted_by_words(score: Score) -> bool:
    """Whether the record's words are known, and the message does not have them."""
    return score.pattern.has_words and not score.has_wording


def _rank(score: Score) -> tuple[bool, bool, float, float, int, str]:
    """Sort key of records that an answer cannot tell apart. The address makes the order deterministic."""
    pattern = score.pattern
    return (
        not score.has_wording,
        _is_contradicted_by_words(score),
        -score.points,
        -score.share_of_known_words,
        -len(pattern.endpoints),  # an error of many endpoints is likelier than an error of few
        pattern.address,
    )


def _select_candidates(chosen: Sequence[Score]) -> Sequence[Score]:
    """Return the candidates to name: all if they are few, else those that the words do not contradict, if few."""
    if len(_record_addresses(chosen)) <= MAX_CANDIDATES:
        return chosen
    consistent = [score for score in chosen if not _is_contradicted_by_words(score)]
    return consistent if len(_record_addresses(consistent)) <= MAX_CANDIDATES else ()


def _record_addresses(scores: Iterable[Score]) -> tuple[str, ...]:
    """Return the addresses of the scored records, each once: several patterns may be of one record."""
    return tuple(dict.fromkeys(score.pattern.address for score in scores))


def _find_group_of_answer(answer: Answer, chosen: Iterable[Score], likely_records: Iterable[Record]) -> str:
    """Return the kind of error, by the records or else by the status; else `connection closed`, if it was, or empty."""
    documented_statuses = frozenset().union(*(score.pattern.statuses for score in chosen))
    status = answer.status
    if status is None and len(documented_statuses) == 1:
        (status,) = documented_statuses
    group = find_group(likely_records, status)
    return group or ("connection closed" if answer.close is not None else "")


def _explain_origin(origin: Origin, evidence: str) -> str:
    return {
        Origin.PROVIDER: f"the header {evidence} is the provider's",
        Origin.OTHER_HOST: f"its headers are those of {evidence}",
        Origin.FORWARDED: f"it came through {evidence}",
        Origin.NEUTRAL: "no header tells who answered",
        Origin.UNKNOWN: "its headers are not known",
    }[origin]
