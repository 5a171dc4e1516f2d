"""An answer that fits no record: what is undocumented in it, and which records are most similar."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.answers.readings import EMPTY
from catalog_probe.catalog.recognition.answer_patterns import HTTP, AnswerPattern, extract_words
from catalog_probe.catalog.recognition.body_projection import Projection

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from catalog_probe.catalog.answers.readings import Answer

_MAX_NEAREST = 3  # records that are named; more do not help a person
_PAGE_STARTS = ("<!doctype", "<html")


def find_nearest(answer: Answer, patterns: Collection[AnswerPattern]) -> tuple[str, ...]:
    """Return the records of the same status, or of the same class, that share most words with the answer."""
    documented = [pattern for pattern in patterns if pattern.protocol == HTTP]
    same_status = [pattern for pattern in documented if answer.status in pattern.statuses]
    hundreds = {(answer.status or 0) // 100}
    candidates = same_status or [
        pattern for pattern in documented if {status // 100 for status in pattern.statuses} == hundreds
    ]
    shared: dict[str, int] = {}
    for pattern in candidates:
        count = max(
            (_count_shared_words(pattern, projection) for projection in _project(answer, (pattern,))), default=0
        )
        shared[pattern.address] = max(shared.get(pattern.address, 0), count)
    similar = (address for address, count in shared.items() if count)
    return tuple(sorted(similar, key=lambda address: (-shared[address], address))[:_MAX_NEAREST])


def describe_undocumented(answer: Answer, patterns: Collection[AnswerPattern]) -> Iterator[str]:
    """Describe what no record has: the status, the code, the type, or a page instead of an error body."""
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
    if any(isinstance(body, str) and body.lstrip().lower().startswith(_PAGE_STARTS) for body in bodies):
        yield "its body is an HTML page: a gateway in front of the provider answers so"
    elif not projections and any(body is not EMPTY for body in bodies):
        yield "its body is in no envelope of the provider: a gateway or another host may have answered"


def _project(answer: Answer, patterns: Collection[AnswerPattern]) -> Iterator[Projection]:
    """Project the body through each envelope in which it has a message."""
    shapes = {pattern.shape.name: pattern.shape for pattern in patterns if "message" in pattern.shape.wire}
    readings = [reading for reading in answer.readings if not reading.wrapped]
    projections = (Projection(shape, reading) for shape in shapes.values() for reading in readings)
    return (item for item in projections if item.message is not None and not item.fit.wrong)


def _count_shared_words(pattern: AnswerPattern, projection: Projection) -> int:
    """Count the words that both have; those of a code count twice."""
    code = extract_words(projection.code) if isinstance(projection.code, str) else frozenset()
    return len(pattern.words & extract_words(projection.texts)) + len(pattern.words & code)


def _has_status(pattern: AnswerPattern, status: int) -> bool:
    observed = pattern.observed_values.get("status", ())
    return status in pattern.statuses or pattern.hundreds == status // 100 or str(status) in observed
