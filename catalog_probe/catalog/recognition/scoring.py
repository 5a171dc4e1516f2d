"""Score of an answer against a documented one: points for each aspect, with reasons in words.

An aspect that identifies an error better has more points: a code more than a status or a type. Not all aspects must be
equal, because real answers may differ from the documents in one aspect and still be that error. The judge is stricter
on purpose: it must not explain drift away, while a person wants the nearest match.

The aspects are scored in this order: transport, status, code, values, type, headers. Each step may ask what an earlier
one found, and returns False if the answer cannot be the record's.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Self

from catalog_probe.catalog.recognition.answer_body import EMPTY
from catalog_probe.catalog.recognition.answer_patterns import GRPC, HTTP, AnswerPattern, code_family, extract_words
from catalog_probe.catalog.text.json_values import ABSENT, find_value, find_values

if TYPE_CHECKING:
    from collections.abc import Iterable

    from catalog_probe.catalog.envelopes import Shape
    from catalog_probe.catalog.model import Json
    from catalog_probe.catalog.recognition.answer_body import Answer, Projection

CODE, OTHER_CODE, CODE_OF_FAMILY, NO_CODE = 5.0, 4.0, 3.0, 2.0
STATUS, STATUS_CLASS, OTHER_STATUS = 2.0, 1.0, -2.0
TYPE, OTHER_TYPE = 2.0, -1.0
VALUES = 4.0
STRICT, EVENT, OTHER_EVENT = 1.0, 1.0, -1.0
CLOSE, GRPC_STATUS = 4.0, 5.0
# A documented header only orders records: many answers have it although their records do not name it.
HEADER, HEADER_PRESENT = 0.5, 0.25
OTHER_PATH = -1.0

Statement = tuple[str, "Json"]
"""An aspect, `header:NAME` or JSON pointer, with its value, e.g. `("/error/details/error_code", "limit_reached")`."""

PUBLISHED_WORDS = "published words"
"""The aspect of a statement that no document makes: words of published answers, from a provider's manifest."""

_ERROR, _SERVER_ERROR = 400, 500


@dataclass(frozen=True, slots=True)
class ProviderContext:
    """What all the answers of a provider have in common."""

    codes: frozenset[str]
    """Every code that its records name. Another code may belong to a documented family."""
    envelopes: tuple[Shape, ...]
    """The envelopes of its errors."""

    @classmethod
    def from_patterns(cls, patterns: Iterable[AnswerPattern]) -> Self:
        patterns = tuple(patterns)
        codes = {str(code) for pattern in patterns for code in pattern.wire.get("code", ()) if code is not None}
        shapes = {pattern.shape.name: pattern.shape for pattern in patterns if "message" in pattern.shape.wire}
        return cls(frozenset(codes), tuple(shapes.values()))

    def is_in_envelope(self, body: Json) -> bool:
        """Whether a body has exactly the members of one of the envelopes."""
        return any(
            isinstance(find_value(body, shape.wire["message"]), str) and shape.fit(body).strict
            for shape in self.envelopes
        )


@dataclass(slots=True)
class Score:
    """What speaks for one record, and what against it."""

    pattern: AnswerPattern
    points: float = 0.0
    is_specific: bool = False
    """Whether a code or a value that only this record has was observed. Then other aspects may differ."""
    has_wording: bool = False
    """Whether the message has the words that are documented for this record, or that published answers have."""
    has_status: bool = False
    """Whether the status is a documented one, or one that a live run observed in its place."""
    deviates: bool = False
    """Whether the status or the type is another than the documented one. A status that is only in the documented class
    counts as another."""
    has_unknown_code: bool = False
    """Whether no record has the code. Then only the words identify the error."""
    is_strict: bool = True
    """Whether the body has exactly the members of the envelope."""
    shows_values: bool = False
    """Whether values that the record states are in the body."""
    contradicts_message: bool = False
    """Whether the message lacks the documented words."""
    answer: dict[str, Json] = field(default_factory=dict)
    """Aspect -> its value in the answer, e.g. `{"status": 429, "type": "rate_limit_error"}`; of a close, `close`."""
    shown: list[Statement] = field(default_factory=list)
    """What the record states and the answer has, but for the status."""
    message: str = ""
    """The text of the error."""
    notes: list[tuple[str, tuple[Json, ...]]] = field(default_factory=list)
    """The reasons as templates and values, formatted only if somebody reads them."""

    def add(self, points: float, reason: str, *values: Json) -> None:
        self.points += points
        self.notes.append((reason, values))

    @property
    def reasons(self) -> tuple[str, ...]:
        return tuple(reason.format(*map(_format_value, values)) for reason, values in self.notes)

    @property
    def shared_words(self) -> float:
        """The share of the message's words that the record has, 0 to 1. It orders candidates and decides nothing."""
        words = _message_words(self.message)
        return len(words & self.pattern.words) / (len(words) or 1)


def score_answer(
    pattern: AnswerPattern, answer: Answer, projection: Projection, context: ProviderContext
) -> Score | None:
    """Score one reading of an answer against a record; None if it cannot be that record's answer."""
    score = Score(pattern)
    if pattern.protocol == GRPC:
        fits = _score_grpc(score, answer)
    elif pattern.close is not None:
        fits = _score_close(score, answer)
    else:
        fits = (
            _score_transport(score, answer, projection)
            and _score_status(score, answer, projection)
            and _score_content(score, answer, projection, context)
        )
    return score if fits else None


def _score_grpc(score: Score, answer: Answer) -> bool:
    if answer.grpc is None or answer.grpc != score.pattern.grpc:
        return False
    score.add(GRPC_STATUS, "gRPC status {} is documented", answer.grpc)
    score.answer["grpc"] = answer.grpc
    score.shown.append(("grpc", answer.grpc))
    return True


def _score_close(score: Score, answer: Answer) -> bool:
    if answer.close is None or score.pattern.close is None:
        return False
    code, reason = answer.close
    low, high = score.pattern.close
    if code is None or not low <= code <= high:
        return False
    score.add(CLOSE, "close code {} is in the documented {} to {}", code, low, high)
    score.message = reason
    score.answer["close"] = code
    score.shown.append(("close", code))
    return True


def _score_transport(score: Score, answer: Answer, projection: Projection) -> bool:
    """Score how the answer travelled: as a body, or as the event that the record names."""
    pattern = score.pattern
    if answer.grpc is not None or (answer.close is not None and projection.body is EMPTY):
        return False
    if pattern.protocol == HTTP:
        return True
    if projection.event is None:
        return False
    if pattern.event in (None, projection.event):
        score.add(EVENT, "event {} is documented", projection.event)
    else:
        score.add(OTHER_EVENT, "event {}, documented {}", projection.event, pattern.event)
    return True


def _score_status(score: Score, answer: Answer, projection: Projection) -> bool:
    pattern = score.pattern
    repeated = projection.status is not None and (projection.event is not None or answer.status is None)
    status = projection.status if repeated else answer.status
    if pattern.protocol != HTTP and not repeated:
        return True  # the status line of a stream comes before its failure, so it says nothing
    if status is None or (not pattern.statuses and pattern.hundreds is None):
        return True
    score.answer["status"] = status
    if status in pattern.statuses:
        score.add(STATUS, "status {} is documented", status)
        score.has_status = True
    elif str(status) in pattern.observed_values.get("status", ()):
        score.add(STATUS, "status {} was seen live in place of {}", status, pattern.statuses)
        score.has_status = True
    elif status // 100 == pattern.hundreds:
        score.add(STATUS_CLASS, "status {} is one of {}xx", status, pattern.hundreds)
        score.deviates = True
    else:
        documented = pattern.statuses or f"{pattern.hundreds}xx"
        score.add(OTHER_STATUS, "status {}, documented {}", status, documented)
        score.deviates = True
        # An error never counts as a documented success, nor a success as a documented error.
        return _has_documented_status(pattern, is_error=status >= _ERROR)
    return True


def _score_content(score: Score, answer: Answer, projection: Projection, context: ProviderContext) -> bool:
    body = score.pattern.shape.body
    if body == "any":
        return _score_any_body(score, answer, projection, context)
    if body == "empty":
        if projection.body is not EMPTY or not score.has_status:
            return False  # nothing but the status tells one answer without a body from another
        score.add(STRICT, "an empty body is documented")
    elif not _score_body(score, projection, context):
        return False
    _score_headers(score, answer)
    return True


def _score_any_body(score: Score, answer: Answer, projection: Projection, context: ProviderContext) -> bool:
    """Score an answer whose body the documents leave open: a server error, an empty body, or a provider's envelope."""
    if projection.event is not None or answer.status not in score.pattern.statuses:
        return False
    if not projection.wrapped and context.is_in_envelope(projection.body):
        # An answer with a type is more likely that of a row with a type.
        typed = TYPE if score.pattern.typed else 0.0
        score.add(typed + STRICT, "the envelope is one of the provider's")
        return True
    # With such a body there is nothing more to score: the documented status is enough.
    return (answer.status or 0) >= _SERVER_ERROR or projection.body is EMPTY


def _score_body(score: Score, projection: Projection, context: ProviderContext) -> bool:
    fit = projection.fit
    if fit.wrong:
        return False
    _match_wording(score, projection)
    score.answer |= {aspect: getattr(projection, aspect) for aspect in ("type", "code") if aspect in projection.places}
    param = projection.param
    if param is not None and param in score.pattern.wire.get("param", ()):
        score.shown.append(("param", param))
    if not (
        _score_code(score, projection, context.codes)
        and _score_values(score, projection)
        and _score_type(score, projection)
    ):
        return False
    if any(find_value(projection.body, pointer) is not ABSENT for pointer in score.pattern.absent):
        return False
    # Additional members of an event give its position in the stream. They are no sign of another host.
    score.is_strict = fit.strict or (projection.event is not None and not fit.missing)
    if fit.strict:
        score.add(STRICT, "the envelope is the documented one")
    for name in fit.missing:
        score.add(0.0, "without {}", name)
    for name in fit.additional:
        score.add(0.0, "with {} besides", name)
    return True


def _score_code(score: Score, projection: Projection, codes: frozenset[str]) -> bool:
    """Score the code. A code that no record has is another error, unless it is prose.

    Without a code, or with a new one, the words may still identify the error, and so may a type that equals the code.
    """
    pattern = score.pattern
    documented = pattern.wire.get("code")
    if documented is None:
        return True
    code = projection.code
    if code in documented:
        score.shown.append(("code", code))
    may_be_missing = None in documented
    if may_be_missing and (code is ABSENT or code in (None, projection.type)):
        # A record without a code says little, so its status or its event must agree, at least roughly.
        return score.points >= STATUS_CLASS and _score_missing_code(score, projection)
    if code is ABSENT or code is None:
        score.add(0.0, "no code, documented {}", documented)
        score.is_specific = projection.type in documented
        return score.has_wording or score.is_specific
    if code in documented:
        # A record with this very code goes before one that has it as an alternative.
        score.add(CODE if code == documented[0] else OTHER_CODE, "code {} is documented", code)
        score.is_specific = True
    elif str(code) in pattern.observed_values.get("code", ()):
        score.add(CODE, "code {} was seen live in place of {}", code, documented)
        score.is_specific = True
    elif not isinstance(code, str):
        return False
    elif " " in code:
        score.add(0.0, "its code is prose, as that of older answers: {}", code)
    elif code not in codes and any(_is_same_family(code, other) for other in documented):
        score.add(CODE_OF_FAMILY, "code {} is of the family of {}", code, documented)
    elif score.has_wording and score.deviates and code in codes:
        score.add(0.0, "code {}, documented {}", code, documented)
    elif score.has_wording and code not in codes:
        score.add(0.0, "code {} is in no record", code)
        score.has_unknown_code = True
    else:
        return False
    return True


def _score_missing_code(score: Score, projection: Projection) -> bool:
    """Score an answer without a code: only field and type tell the record from others with the same status."""
    pattern = score.pattern
    if pattern.wire.get("type", (projection.type,)) == (None,) and projection.type not in (None, ABSENT):
        return False
    params = [param for param in pattern.wire.get("param", ()) if param is not None]
    if params and projection.param not in params:
        return False
    score.add(NO_CODE, "no code and param {}, as documented" if params else "no code, as documented", *params[:1])
    return True


def _score_values(score: Score, projection: Projection) -> bool:
    """Score the members whose value the record states. A missing one excludes the record unless its code was observed.

    A member with another value always excludes it.
    """
    for pointer, documented in score.pattern.constants.items():
        value = next((value for value in find_values(projection.body, pointer) if value in documented), ABSENT)
        if value is not ABSENT:
            score.add(VALUES, "{} is {}", pointer, value)
            score.is_specific = score.shows_values = True
            score.shown.append((pointer, value))
        elif score.is_specific and find_value(projection.body, pointer) is ABSENT:
            score.add(0.0, "without {}", pointer)
        else:
            return False
    return True


def _score_type(score: Score, projection: Projection) -> bool:
    pattern = score.pattern
    documented = pattern.wire.get("type")
    if documented is None:
        return True
    if projection.type in documented:
        score.shown.append(("type", projection.type))
        score.add(TYPE if projection.type is not None else 0.0, "type {} is documented", projection.type)
    elif str(projection.type) in pattern.observed_values.get("type", ()):
        score.add(TYPE, "type {} was seen live in place of {}", projection.type, documented)
    elif score.is_specific or (projection.type is not ABSENT and _allows_other_type(score)):
        score.add(OTHER_TYPE, "type {}, documented {}", projection.type, documented)
        score.deviates = True
    else:
        return False
    return True


def _allows_other_type(score: Score) -> bool:
    """Whether so much agrees that another type is a deviation of this record, and no sign of another record.

    Either the words agree, or transport, status and code together have the points of a documented status. A code of the
    same family is worth as much where the status is unknown, as in a body that somebody pasted.
    """
    return score.has_wording or score.points >= STATUS


def _match_wording(score: Score, projection: Projection) -> None:
    prose = projection.code if isinstance(projection.code, str) and " " in projection.code else ""
    score.message = f"{prose} {projection.message or ''}".strip()
    documented, published = score.pattern.message, score.pattern.wording
    has_documented = documented is not None and documented.search(projection.message or "") is not None
    has_published = published is not None and published.search(projection.texts) is not None
    score.contradicts_message = documented is not None and not has_documented
    score.has_wording = has_published if published is not None else has_documented
    if not score.has_wording:
        return
    score.add(0.0, "its message has the words of this record")
    if published is not None:
        score.shown.append((PUBLISHED_WORDS, published.pattern))
    if documented is not None and has_documented:
        # The documents may say no more than "messages", which many answers have: then published words must agree.
        score.shown.append(("message", documented.pattern))


def _has_documented_status(pattern: AnswerPattern, *, is_error: bool) -> bool:
    """Whether one of the documented statuses is an error, or with `is_error=False` a success."""
    lowest_of_class = () if pattern.hundreds is None else (pattern.hundreds * 100,)
    return any((status >= _ERROR) is is_error for status in (*pattern.statuses, *lowest_of_class))


def _score_headers(score: Score, answer: Answer) -> None:
    """Score the headers. A missing header says nothing, because recordings leave headers out."""
    for name, rule in score.pattern.headers.items():
        value = (answer.headers or {}).get(name)
        if value is None:
            continue
        if rule.rule == "absent":
            score.add(-2 * HEADER, "{} is there, documented absent", name)
        elif rule.rule == "equals" and value.lower() != rule.value.lower():
            score.add(-2 * HEADER, "{} is {}, documented {}", name, value, rule.value)
        else:
            if rule.rule == "equals":
                score.shown.append((f"header:{name}", value.lower()))
            points = HEADER if rule.rule == "equals" else HEADER_PRESENT
            score.add(points, "{} is there, as documented", name)


def _is_same_family(code: str, documented: Json) -> bool:
    return isinstance(documented, str) and code_family(code) == code_family(documented) != ""


@lru_cache(maxsize=256)
def _message_words(message: str) -> frozenset[str]:
    return extract_words(message)


def _format_value(value: Json) -> str:
    if isinstance(value, frozenset | tuple):
        return " or ".join(sorted(map(str, value)))
    return str(value) if value != "" else "without a name"
