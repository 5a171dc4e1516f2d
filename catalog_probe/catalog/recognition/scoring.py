"""How well an answer fits what a record documents: points for each aspect, and in words what they are for.

Points weigh how much an aspect tells: a code more than a status, a status more than a type. Equality everywhere is not
asked for, because real answers differ from the documents in one aspect and are still the error of that row.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Self

from catalog_probe.catalog.answers.readings import EMPTY
from catalog_probe.catalog.recognition.answer_patterns import GRPC, HTTP, AnswerPattern, code_family, extract_words
from catalog_probe.catalog.text.json_pointer import ABSENT, find_value, find_values

if TYPE_CHECKING:
    from collections.abc import Iterable

    from catalog_probe.catalog.answers.readings import Answer
    from catalog_probe.catalog.model import Json
    from catalog_probe.catalog.recognition.body_projection import Projection
    from catalog_probe.catalog.recognition.shapes import Shape

MIN_POINTS = 2.0
"""Points from which an answer is taken for a record's: a status and a type, or a code."""

CODE, OTHER_CODE, CODE_OF_FAMILY, NO_CODE = 5.0, 4.0, 3.0, 2.0
STATUS, STATUS_CLASS, OTHER_STATUS = 2.0, 1.0, -2.0
TYPE, OTHER_TYPE = 2.0, -1.0
VALUES = 4.0
STRICT, EVENT, OTHER_EVENT = 1.0, 1.0, -1.0
CLOSE, GRPC_STATUS = 4.0, 5.0
HEADER, HEADER_THERE = 0.5, 0.25
"""That a header is there only orders records: many have it of which nobody says so."""
OTHER_PATH = -1.0

_FAULT_OF_A_SERVER = 500


@dataclass(frozen=True, slots=True)
class ProviderContext:
    """What all the answers of a provider have in common."""

    codes: frozenset[str]
    """Every code that its records name: another one may be of a documented family."""
    envelopes: tuple[Shape, ...]
    """Those of its errors."""

    @classmethod
    def from_records(cls, made: Iterable[AnswerPattern]) -> Self:
        made = tuple(made)
        codes = {str(code) for each in made for code in each.wire.get("code", ()) if code is not None}
        shapes = {each.shape.name: each.shape for each in made if "message" in each.shape.wire}
        return cls(frozenset(codes), tuple(shapes.values()))

    def is_in_envelope(self, body: Json) -> bool:
        """Whether a body keeps to one of its envelopes, with nothing missing and nothing besides."""
        return any(self._tells(each, body) for each in self.envelopes)

    def _tells(self, shape: Shape, body: Json) -> bool:
        return isinstance(find_value(body, shape.wire["message"]), str) and shape.fit(body).strict


@dataclass(slots=True)
class Score:
    """What speaks for one record, and what against it."""

    pattern: AnswerPattern
    points: float = 0.0
    named: bool = False
    """Whether a code or a value of this row alone was seen: then the rest may differ."""
    worded: bool = False
    """Whether it has the words that are documented for this record, or that published answers to it have."""
    moved: bool = False
    """Whether it came with a status or type that the record does not document, or only as one of a class."""
    new_code: bool = False
    """Whether its code is in no record: then words alone say what it is."""
    strict: bool = True
    """Whether the body keeps to the envelope, with nothing missing and nothing besides."""
    shown: bool = False
    """Whether values that the record states were seen at their places."""
    said: str = ""
    """The text in which the error is told."""
    found: list[tuple[str, tuple[Json, ...]]] = field(default_factory=list)

    def add(self, points: float, reason: str, *values: Json) -> None:
        self.points += points
        self.found.append((reason, values))

    @property
    def reasons(self) -> tuple[str, ...]:
        return tuple(reason.format(*map(_told, values)) for reason, values in self.found)

    @property
    def words(self) -> float:
        """The share of the message's words that the record speaks of, 0 to 1; it orders, and decides nothing."""
        words = _words(self.said)
        return len(words & self.pattern.words) / (len(words) or 1)


def score_answer(pattern: AnswerPattern, answer: Answer, seen: Projection, about: ProviderContext) -> Score | None:
    """How well one reading of an answer fits a record; None where it cannot be that record's answer."""
    found = Score(pattern)
    if pattern.protocol == GRPC:
        fits = _of_grpc(found, answer)
    elif pattern.close is not None:
        fits = _of_close(found, answer)
    else:
        fits = (
            _of_travel(found, answer, seen)
            and _of_status(found, answer, seen)
            and _of_what_came(found, answer, seen, about)
        )
    return found if fits else None


def _of_grpc(found: Score, answer: Answer) -> bool:
    if answer.grpc is None or answer.grpc != found.pattern.grpc:
        return False
    found.add(GRPC_STATUS, "gRPC status {} is documented", answer.grpc)
    return True


def _of_close(found: Score, answer: Answer) -> bool:
    if answer.close is None or found.pattern.close is None:
        return False
    code, reason = answer.close
    low, high = found.pattern.close
    if code is None or not low <= code <= high:
        return False
    found.add(CLOSE, "close code {} is in the documented {} to {}", code, low, high)
    found.said = reason
    return True


def _of_travel(found: Score, answer: Answer, seen: Projection) -> bool:
    """Whether it came the way the record says: as a body, or as the event that it names."""
    pattern = found.pattern
    if answer.grpc is not None or (answer.close is not None and seen.body is EMPTY):
        return False
    if pattern.protocol == HTTP:
        return True
    if seen.event is None:
        return False
    if pattern.event in (None, seen.event):
        found.add(EVENT, "event {} is documented", seen.event)
    else:
        found.add(OTHER_EVENT, "event {}, documented {}", seen.event, pattern.event)
    return True


def _of_status(found: Score, answer: Answer, seen: Projection) -> bool:
    pattern = found.pattern
    repeated = seen.status is not None and (seen.event is not None or answer.status is None)
    status = seen.status if repeated else answer.status
    if pattern.protocol != HTTP and not repeated:
        return True  # a stream began well, whatever it carries later
    if status is None or (not pattern.statuses and pattern.hundreds is None):
        return True
    if status in pattern.statuses:
        found.add(STATUS, "status {} is documented", status)
    elif str(status) in pattern.seen.get("status", ()):
        found.add(STATUS, "status {} was seen live in place of {}", status, pattern.statuses)
    elif status // 100 == pattern.hundreds:
        found.add(STATUS_CLASS, "status {} is one of {}xx", status, pattern.hundreds)
        found.moved = True
    else:
        wanted = pattern.statuses or f"{pattern.hundreds}xx"
        found.add(OTHER_STATUS, "status {}, documented {}", status, wanted)
        found.moved = True
        # an error is none of a success, nor the other way round
        return (status < 400) == (min(pattern.statuses or {400}) < 400)
    return True


def _of_what_came(found: Score, answer: Answer, seen: Projection, about: ProviderContext) -> bool:
    body = found.pattern.shape.body
    if body == "any":
        return _of_any(found, answer, seen, about)
    if body == "empty":
        if seen.body is not EMPTY or found.points < STATUS:
            return False
        found.add(STRICT, "an empty body is documented")
    elif not _of_body(found, seen, about):
        return False
    _of_headers(found, answer)
    return True


def _of_any(found: Score, answer: Answer, seen: Projection, about: ProviderContext) -> bool:
    """Where the documents promise nothing of the body, the status is left: enough of a server's fault, or of nothing.

    A body in an envelope of the provider's own says no less than where that envelope is documented.
    """
    if seen.event is not None or answer.status not in found.pattern.statuses:
        return False
    if not seen.wrapped and about.is_in_envelope(seen.body):
        typed = TYPE if found.pattern.typed else 0.0  # a row without a type is rather not what has one
        found.add(typed + STRICT, "the envelope is one of the provider's")
        return True
    return (answer.status or 0) >= _FAULT_OF_A_SERVER or seen.body is EMPTY


def _of_body(found: Score, seen: Projection, about: ProviderContext) -> bool:
    fit = seen.fit
    if fit.wrong:
        return False
    _of_wording(found, seen)
    if not (_of_code(found, seen, about.codes) and _of_values(found, seen) and _of_type(found, seen)):
        return False
    if any(find_value(seen.body, pointer) is not ABSENT for pointer in found.pattern.absent):
        return False
    # what an event has besides is its place in the stream, and no other host's
    found.strict = fit.strict or (seen.event is not None and not fit.lacking)
    if fit.strict:
        found.add(STRICT, "the envelope is the documented one")
    for name in fit.lacking:
        found.add(0.0, "without {}", name)
    for name in fit.besides:
        found.add(0.0, "with {} besides", name)
    return True


def _of_code(found: Score, seen: Projection, codes: frozenset[str]) -> bool:
    """Whether its code may be the record's. A code that no record has is another error, unless it is prose.

    Where there is no code, or one that is new, the words may still tell the error, and so may a type that is the code.
    """
    pattern = found.pattern
    stated = pattern.wire.get("code")
    if stated is None:
        return True
    code = str(seen.code) if type(seen.code) is int else seen.code
    if code is ABSENT or code is None or (code == seen.type and None in stated):
        if None not in stated:
            found.add(0.0, "no code, documented {}", stated)
            found.named = seen.type in stated
            return found.worded or found.named
        return not found.points < STATUS_CLASS and _of_no_code(found, seen)
    if code in stated:
        # a record that has the code itself goes before one of which it is an alternative
        found.add(CODE if code == stated[0] else OTHER_CODE, "code {} is documented", code)
        found.named = True
    elif str(code) in pattern.seen.get("code", ()):
        found.add(CODE, "code {} was seen live in place of {}", code, stated)
        found.named = True
    elif not isinstance(code, str):
        return False
    elif " " in code:
        found.add(0.0, "its code is prose, as that of older answers: {}", code)
    elif code not in codes and any(_one_family(code, each) for each in stated):
        found.add(CODE_OF_FAMILY, "code {} is of the family of {}", code, stated)
    elif found.worded and found.moved and code in codes:
        found.add(0.0, "code {}, documented {}", code, stated)
    elif found.worded and code not in codes:
        found.add(0.0, "code {} is in no record", code)
        found.new_code = True
    else:
        return False
    return True


def _of_no_code(found: Score, seen: Projection) -> bool:
    """Where a row has no code, the field that it names and the type are all that tells it from others of its status."""
    pattern = found.pattern
    if pattern.wire.get("type", (seen.type,)) == (None,) and seen.type not in (None, ABSENT):
        return False
    named = [each for each in pattern.wire.get("param", ()) if each is not None]
    if named and seen.param not in named:
        return False
    found.add(NO_CODE, "no code and param {}, as documented" if named else "no code, as documented", *named[:1])
    return True


def _of_values(found: Score, seen: Projection) -> bool:
    for pointer, values in found.pattern.constants.items():
        value = next((each for each in find_values(seen.body, pointer) if each in values), ABSENT)
        if value is ABSENT and found.named and find_value(seen.body, pointer) is ABSENT:
            found.add(0.0, "without {}", pointer)
            continue
        if value is ABSENT:
            return False
        found.add(VALUES, "{} is {}", pointer, value)
        found.named = found.shown = True
    return True


def _of_type(found: Score, seen: Projection) -> bool:
    pattern = found.pattern
    stated = pattern.wire.get("type")
    if stated is None:
        return True
    if seen.type in stated:
        found.add(TYPE if seen.type is not None else 0.0, "type {} is documented", seen.type)
    elif str(seen.type) in pattern.seen.get("type", ()):
        found.add(TYPE, "type {} was seen live in place of {}", seen.type, stated)
    elif found.named or ((found.worded or found.points >= STATUS) and seen.type is not ABSENT):
        found.add(OTHER_TYPE, "type {}, documented {}", seen.type, stated)
        found.moved = True
    else:
        return False
    return True


def _of_wording(found: Score, seen: Projection) -> None:
    prose = seen.code if isinstance(seen.code, str) and " " in seen.code else ""
    found.said = f"{prose} {seen.message or ''}".strip()
    documented, published = found.pattern.message, found.pattern.wording
    if published is not None:
        found.worded = published.search(seen.texts) is not None
    elif documented is not None:
        found.worded = documented.search(seen.message or "") is not None
    if found.worded:
        found.add(0.0, "its message has the words of this record")


def _of_headers(found: Score, answer: Answer) -> None:
    """What headers say for a record and against it. One that is missing says nothing: recordings leave headers out."""
    for name, rule in found.pattern.headers.items():
        value = (answer.headers or {}).get(name)
        if value is None:
            continue
        if rule.rule == "absent":
            found.add(-2 * HEADER, "{} is there, documented absent", name)
        elif rule.rule == "equals" and value.lower() != rule.value.lower():
            found.add(-2 * HEADER, "{} is {}, documented {}", name, value, rule.value)
        else:
            points = HEADER if rule.rule == "equals" else HEADER_THERE
            found.add(points, "{} is there, as documented", name)


def _one_family(code: str, stated: Json) -> bool:
    return isinstance(stated, str) and code_family(code) == code_family(stated) != ""


@lru_cache(maxsize=256)
def _words(message: str) -> frozenset[str]:
    return extract_words(message)


def _told(value: Json) -> str:
    if isinstance(value, frozenset | tuple):
        return " or ".join(map(str, _ordered(value)))
    return str(value) if value != "" else "without a name"


def _ordered(values: Iterable[Json]) -> list[Json]:
    return sorted(values, key=str)
