"""Score of an answer against a documented one: points for each aspect, with reasons in words.

An aspect that identifies an error better has more points: a code more than a status or a type. Not all aspects must be
equal, because real answers may differ from the documents in one aspect and still be that error. The judge is stricter
on purpose: it must not explain drift away, while a person wants the nearest match.

Example: a 429 of PC with the code `rate_limit_exceeded` and the type `requests` has 7 points for the record of that
code: 2 for the status, 5 for the code, -1 for a type that is not the documented one, and 1 for the envelope.

Each function `_match_ASPECT` adds the points of one aspect, and returns whether the answer can still be the record's.
They are called in a fixed order, because a later one asks what an earlier one found, but never for the points so far:
first event and status, then words, code, values, type. Words: docs/concepts.md.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Self

from catalog_probe.catalog.recognition.answer_body import EMPTY
from catalog_probe.catalog.recognition.answer_patterns import GRPC, HTTP, AnswerPattern, code_ending, extract_words
from catalog_probe.catalog.text.json_values import ABSENT, find_value, find_values

if TYPE_CHECKING:
    from collections.abc import Iterable

    from catalog_probe.catalog.envelopes import Shape
    from catalog_probe.catalog.model import Json
    from catalog_probe.catalog.recognition.answer_body import Answer, Projection

CODE = 5.0
ALTERNATIVE_CODE = 4.0  # less, so that the record with this very code goes before one that has it as an alternative
SIMILAR_CODE = 3.0
NULL_CODE = 2.0
STATUS, STATUS_CLASS, OTHER_STATUS = 2.0, 1.0, -2.0
TYPE, OTHER_TYPE = 2.0, -1.0
VALUE = 4.0  # of one member whose value the record states
ENVELOPE = 1.0
EVENT = 3.0  # more than a type: an error's event goes to the record of that event before one of a response
ANY_EVENT = 1.0
WORDS = 5.0  # of a message without an envelope, which is all that the answer says
CLOSE, GRPC_STATUS = 4.0, 5.0
# A documented header only orders records: many answers have it although their records do not name it.
HEADER, HEADER_PRESENT, CONTRADICTING_HEADER = 0.5, 0.25, -1.0

Statement = tuple[str, "Json"]
"""An aspect, `header:NAME` or JSON pointer, with its value, e.g. `("/error/details/error_code", "limit_reached")`."""

PUBLISHED_WORDS = "published words"
"""The aspect of a statement that no document makes: words of published answers, from a provider's manifest."""

_ERROR, _SERVER_ERROR = 400, 500


@dataclass(frozen=True, slots=True)
class ProviderContext:
    """What all the answers of a provider have in common."""

    codes: frozenset[str]
    """Every code that its records name."""
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
    has_code_or_value: bool = False
    """Whether the answer has the record's code, or a value that the record states. Then other aspects may differ."""
    has_similar_or_null_code: bool = False
    """Whether the code is of the family of the record's, or is missing, as documented. Neither identifies an error."""
    has_wording: bool = False
    """Whether the message has the words that are documented for this record, or that published answers have."""
    differs_in_status_or_type: bool = False
    """Whether the status or the type is another than the documented one."""
    has_unknown_code: bool = False
    """Whether no record has the code. Then the words alone choose this record, which proves nothing (`proof.py`)."""
    has_envelope: bool = True
    """Whether the body has exactly the members of the envelope."""
    has_stated_value: bool = False
    """Whether a value that the record states is in the body."""
    lacks_documented_words: bool = False
    """Whether the record documents words that the message does not have, which contradicts a proof."""
    answer_values: dict[str, Json] = field(default_factory=dict)
    """Aspect -> its value in the answer, e.g. `{"status": 429, "type": "rate_limit_error"}`; of a close, `close`."""
    agreed_statements: list[Statement] = field(default_factory=list)
    """What the record states and the answer has, except the status."""
    message: str = ""
    """The text of the error."""
    reason_templates: list[tuple[str, tuple[Json, ...]]] = field(default_factory=list)
    """The reasons as templates and values, formatted only if somebody reads them."""

    def add(self, points: float, reason: str, *values: Json) -> None:
        self.points += points
        self.reason_templates.append((reason, values))

    @property
    def reasons(self) -> tuple[str, ...]:
        """The reasons in words, such as `code rate_limit_exceeded is documented`."""
        return tuple(reason.format(*map(_format_value, values)) for reason, values in self.reason_templates)

    @property
    def share_of_known_words(self) -> float:
        """The share of the message's words that the record has, 0 to 1. It orders candidates and decides nothing."""
        words = _message_words(self.message)
        return len(words & self.pattern.words) / (len(words) or 1)


def score_answer(
    pattern: AnswerPattern, answer: Answer, projection: Projection, context: ProviderContext
) -> Score | None:
    """Score one reading of an answer against a record; None if the answer cannot be that record's.

    Example: PC's 404 with the code `model_not_found` has 10 points for the record of that code, and no score for a
    record with another code.
    """
    score = Score(pattern)
    if pattern.protocol == GRPC:
        can_be_record = _match_grpc(score, answer, projection)
    elif pattern.close is not None:
        can_be_record = _match_close(score, answer, projection)
    else:
        can_be_record = (
            _match_transport(score, answer, projection)
            and _match_status(score, answer, projection)
            and _match_content(score, answer, projection, context)
        )
    return score if can_be_record else None


def _match_grpc(score: Score, answer: Answer, projection: Projection) -> bool:
    if answer.grpc is None or answer.grpc != score.pattern.grpc:
        return False
    score.add(GRPC_STATUS, "gRPC status {} is documented", answer.grpc)
    score.message = projection.body if isinstance(projection.body, str) else ""
    score.answer_values["grpc"] = answer.grpc
    score.agreed_statements.append(("grpc", answer.grpc))
    return True


def _match_close(score: Score, answer: Answer, projection: Projection) -> bool:
    if answer.close is None or score.pattern.close is None or projection.is_message:
        return False
    code, reason = answer.close
    low, high = score.pattern.close
    if code is None or not low <= code <= high:
        return False
    score.add(CLOSE, "close code {} is in the documented {} to {}", code, low, high)
    score.message = reason
    score.answer_values["close"] = code
    score.agreed_statements.append(("close", code))
    wording = score.pattern.wording
    if wording is not None and wording.search(reason) is not None:
        score.add(WORDS, "its reason has the words of this record")
        score.has_wording = True
        score.agreed_statements.append((PUBLISHED_WORDS, wording.pattern))
    return True


def _match_transport(score: Score, answer: Answer, projection: Projection) -> bool:
    """Match how the answer travelled: as a body, or as the event that the record names.

    Example: an event `error` fits a record of a stream that names `error` or no event, and not one with `goAway`.
    """
    pattern = score.pattern
    is_only_close = answer.close is not None and projection.body is EMPTY
    if answer.grpc is not None or is_only_close:
        return False
    if pattern.protocol == HTTP:
        return True
    if projection.event is None or pattern.event not in (None, projection.event):
        return False
    score.add(ANY_EVENT if pattern.event is None else EVENT, "event {} is documented", projection.event)
    return True


def _match_status(score: Score, answer: Answer, projection: Projection) -> bool:
    pattern = score.pattern
    status = _find_status(pattern, answer, projection)
    documents_no_status = not pattern.statuses and pattern.hundreds is None
    if status is None or documents_no_status:
        return True
    score.answer_values["status"] = status
    if status in pattern.statuses:
        score.add(STATUS, "status {} is documented", status)
        return True
    if status // 100 == pattern.hundreds:
        score.add(STATUS_CLASS, "status {} is one of {}xx", status, pattern.hundreds)
        return True
    score.add(OTHER_STATUS, "status {}, documented {}", status, pattern.statuses or f"{pattern.hundreds}xx")
    score.differs_in_status_or_type = True
    # An error never counts as a documented success, nor a success as a documented error.
    return any((documented >= _ERROR) is (status >= _ERROR) for documented in _list_statuses(pattern))


def _list_statuses(pattern: AnswerPattern) -> frozenset[int]:
    """Return the documented statuses, or the first status of a documented class: `4xx` -> 400."""
    return pattern.statuses or frozenset(() if pattern.hundreds is None else (pattern.hundreds * 100,))


def _find_status(pattern: AnswerPattern, answer: Answer, projection: Projection) -> int | None:
    """Return the status that the answer gives for its error, or None. The body's goes first in an event or success.

    Example: a stream begins with 200, and its event is `{"type": "error", "status": 400, …}` -> 400. An event without a
    status -> None, because the 200 was sent before the error.
    """
    is_in_event = projection.event is not None
    has_begun_well = answer.status is None or answer.status < _ERROR
    if projection.status is not None and (is_in_event or has_begun_well):
        return projection.status
    documents_error = any(status >= _ERROR for status in _list_statuses(pattern))
    is_status_before_error = is_in_event and has_begun_well and documents_error
    return None if is_status_before_error or pattern.protocol != HTTP else answer.status


def _match_content(score: Score, answer: Answer, projection: Projection, context: ProviderContext) -> bool:
    body = score.pattern.shape.body
    if projection.is_message and body != "json":
        return False
    if body == "any":
        return _match_any_body(score, answer, projection, context)
    if body == "empty":
        if projection.body is not EMPTY:
            return False
        score.add(ENVELOPE, "an empty body is documented")
    elif not _match_body(score, projection, context):
        return False
    _add_headers(score, answer)
    return True


def _match_any_body(score: Score, answer: Answer, projection: Projection, context: ProviderContext) -> bool:
    """Match an answer whose body the documents leave open: a provider's envelope, a server error, or an empty body.

    The documented status is required, because such a body says nothing. Example: a 502 with an HTML page fits a record
    of which the documents state 502 alone. A 403 with a page does not: a gateway answers so.
    """
    if projection.event is not None or answer.status not in score.pattern.statuses:
        return False
    if not projection.wrapped and context.is_in_envelope(projection.body):
        score.add(ENVELOPE, "the envelope is one of the provider's")
        return True
    return (answer.status or 0) >= _SERVER_ERROR or projection.body is EMPTY


def _match_message(score: Score, projection: Projection) -> bool:
    """Match the message of an error without its envelope: only a record whose words it has can be it.

    Example: `Incorrect API key provided: xx`, which is all that some clients print of PD's 400.
    """
    _add_wording(score, projection)
    if score.has_wording:
        score.add(WORDS, "no more than its message is known")
    return score.has_wording


def _match_body(score: Score, projection: Projection, context: ProviderContext) -> bool:
    if projection.is_message:
        return _match_message(score, projection)
    fit = projection.fit
    if fit.wrong:
        return False
    _add_wording(score, projection)
    if score.has_wording and score.pattern.shape.body == "text":
        score.add(WORDS, "its body is no more than the message")
    aspects = (aspect for aspect in ("type", "code") if aspect in projection.places)
    score.answer_values |= {aspect: getattr(projection, aspect) for aspect in aspects}
    param = projection.param
    if param is not None and param in score.pattern.wire.get("param", ()):
        score.agreed_statements.append(("param", param))
    if not (
        _match_code(score, projection, context.codes)
        and _match_values(score, projection)
        and _match_type(score, projection)
    ):
        return False
    # An event has members of its own, such as its position in the stream, and a service nests the same error in more
    # than one way. So the members of an event are no sign of another host.
    score.has_envelope = fit.strict or projection.event is not None
    if fit.strict:
        score.add(ENVELOPE, "the envelope is the documented one")
    for name in fit.missing:
        score.add(0.0, "without {}", name)
    for name in fit.additional:
        score.add(0.0, "with {} besides", name)
    return True


def _match_code(score: Score, projection: Projection, known_codes: frozenset[str]) -> bool:
    """Match the code. A code that is not the record's means another error, unless the words are the record's.

    The rule prevents that an answer with another code is taken for a record of the same status and type. The rule hides
    a code that the provider renamed, if the message has no known words: it is unknown. The exception for similar codes
    was made for PC's `decimal_below_min_value`: the documents name only `integer_below_min_value` (2:7.5).
    """
    documented = score.pattern.wire.get("code")
    code = projection.code
    if documented is None:
        return True
    if code in documented:
        score.agreed_statements.append(("code", code))
    if code is ABSENT or code is None:
        if None in documented:
            return _match_null_code(score, projection)
        score.add(0.0, "no code, documented {}", documented)
        return score.has_wording
    if code in documented:
        score.add(CODE if code == documented[0] else ALTERNATIVE_CODE, "code {} is documented", code)
        score.has_code_or_value = True
        return True
    if not isinstance(code, str):
        return False
    if " " in code:
        # PD's older answers have a sentence in place of the code: `Client specified an invalid argument`.
        score.add(0.0, "its code is prose, as that of older answers: {}", code)
        return True
    is_known = code in known_codes
    if not is_known and any(_has_same_ending(code, other) for other in documented):
        score.add(SIMILAR_CODE, "code {} is of the family of {}", code, documented)
        score.has_similar_or_null_code = True
        return True
    if score.has_wording and is_known:
        score.add(0.0, "code {}, documented {}", code, documented)
    elif score.has_wording:
        score.add(0.0, "code {} is in no record", code)
        score.has_unknown_code = True
    return score.has_wording


def _match_null_code(score: Score, projection: Projection) -> bool:
    """Match an answer without a code, which the record documents as null.

    A missing code says little. So the event or the status (or its class) must be the record's too, and the faulty field
    if the record names one. Example: `{"param": "model", "code": null}` is not PC's `service_tier_not_allowed`.
    """
    pattern = score.pattern
    params = [param for param in pattern.wire.get("param", ()) if param is not None]
    has_other_status = score.differs_in_status_or_type  # the type is compared later
    has_status = "status" in score.answer_values and not has_other_status
    # Another status contradicts a record that names no event, and not one whose event has come.
    has_event = pattern.protocol != HTTP and (pattern.event is not None or not has_other_status)
    if not (has_status or has_event) or (params and projection.param not in params):
        return False
    score.has_similar_or_null_code = True
    score.add(NULL_CODE, "no code and param {}, as documented" if params else "no code, as documented", *params[:1])
    return True


def _match_values(score: Score, projection: Projection) -> bool:
    """Match the members whose value the record states, in any item of a list if the pointer has a `*`.

    A member with another value excludes the record. A missing one does so too, unless the answer has the record's code.
    Example: `/error/details/error_code` tells `spend_cap` from PA's other 429 answers.
    """
    for pointer, documented in score.pattern.constants.items():
        value = next((value for value in find_values(projection.body, pointer) if value in documented), ABSENT)
        if value is not ABSENT:
            score.add(VALUE, "{} is {}", pointer, value)
            score.has_code_or_value = score.has_stated_value = True
            score.agreed_statements.append((pointer, value))
        elif score.has_code_or_value and find_value(projection.body, pointer) is ABSENT:
            score.add(0.0, "without {}", pointer)
        else:
            return False
    return True


def _match_type(score: Score, projection: Projection) -> bool:
    """Match the type. Another type than the documented one counts against the record, if enough else agrees.

    Example: PC's code `rate_limit_exceeded` comes with the types `requests` and `tokens`, and not with the documented
    `rate_limit_error`.
    """
    documented = score.pattern.wire.get("type")
    if documented is None:
        return True
    if projection.type in documented:
        score.agreed_statements.append(("type", projection.type))
        score.add(TYPE, "type {} is documented", projection.type)
        return True
    # A name can be renamed; a documented null cannot.
    is_renamed = projection.type is not ABSENT and None not in documented
    has_documented_status = score.answer_values.get("status") in score.pattern.statuses
    has_code_and_no_other_status = score.has_similar_or_null_code and not score.differs_in_status_or_type
    # Neither is enough for a record of events, because each error of a stream has the event `error`.
    has_status_or_code = score.pattern.protocol == HTTP and (has_documented_status or has_code_and_no_other_status)
    if score.has_code_or_value or (is_renamed and (score.has_wording or has_status_or_code)):
        score.add(OTHER_TYPE, "type {}, documented {}", projection.type, documented)
        score.differs_in_status_or_type = True
        return True
    return False


def _add_wording(score: Score, projection: Projection) -> None:
    """Note whether the message has the record's words: those of published answers if they are known, else documented.

    The documents may say no more than "messages", which many answers have, so published words go before them.
    """
    documented, published = score.pattern.message, score.pattern.wording
    has_documented = documented is not None and documented.search(projection.message or "") is not None
    has_published = published is not None and published.search(projection.texts) is not None
    score.message = projection.message or ""
    score.lacks_documented_words = documented is not None and not has_documented
    score.has_wording = has_published if published is not None else has_documented
    if not score.has_wording:
        return
    score.add(0.0, "its message has the words of this record")
    if published is not None:
        score.agreed_statements.append((PUBLISHED_WORDS, published.pattern))
    if documented is not None and has_documented:
        score.agreed_statements.append(("message", documented.pattern))


def _add_headers(score: Score, answer: Answer) -> None:
    """Add the points of the headers. A missing header says nothing, because recordings leave headers out."""
    for name, rule in score.pattern.headers.items():
        value = (answer.headers or {}).get(name)
        if value is None:
            continue
        if rule.rule == "absent":
            score.add(CONTRADICTING_HEADER, "{} is there, documented absent", name)
        elif rule.rule == "equals" and value.lower() != rule.value.lower():
            score.add(CONTRADICTING_HEADER, "{} is {}, documented {}", name, value, rule.value)
        elif rule.rule == "equals":
            score.agreed_statements.append((f"header:{name}", value.lower()))
            score.add(HEADER, "{} is there, as documented", name)
        else:
            score.add(HEADER_PRESENT, "{} is there, as documented", name)


def _has_same_ending(code: str, documented: Json) -> bool:
    return isinstance(documented, str) and code_ending(code) == code_ending(documented) != ""


@lru_cache(maxsize=256)
def _message_words(message: str) -> frozenset[str]:
    return extract_words(message)


def _format_value(value: Json) -> str:
    if isinstance(value, frozenset | tuple):
        return " or ".join(sorted(map(str, value)))
    return str(value) if value != "" else "without a name"
