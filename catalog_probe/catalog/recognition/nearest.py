"""An answer that fits no record: what is new in it, and which records are most like it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.answers.readings import EMPTY
from catalog_probe.catalog.recognition.answer_patterns import HTTP, AnswerPattern, extract_words
from catalog_probe.catalog.recognition.body_projection import Projection

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from catalog_probe.catalog.answers.readings import Answer

_MOST = 3  # records named: more help nobody
_PAGE = ("<!doctype", "<html")


def find_nearest(answer: Answer, patterns: Collection[AnswerPattern]) -> tuple[str, ...]:
    """The records of the same status, or else of the same hundred, that share most words with its code and texts."""
    documented = [pattern for pattern in patterns if pattern.protocol == HTTP]
    same = [pattern for pattern in documented if answer.status in pattern.statuses]
    hundreds = {(answer.status or 0) // 100}
    near = same or [pattern for pattern in documented if {status // 100 for status in pattern.statuses} == hundreds]
    shared: dict[str, int] = {}
    for pattern in near:
        count = max((_count_shared(pattern, view) for view in _views(answer, (pattern,))), default=0)
        shared[pattern.address] = max(shared.get(pattern.address, 0), count)
    alike = (address for address, count in shared.items() if count)
    return tuple(sorted(alike, key=lambda address: (-shared[address], address))[:_MOST])


def describe_undocumented(answer: Answer, patterns: Collection[AnswerPattern]) -> Iterator[str]:
    """What an answer has that no record does, in words: a status, a code, a page in place of an error's body."""
    if answer.status is not None and not any(_documents(pattern, answer.status) for pattern in patterns):
        yield f"status {answer.status} is in no record"
    views = list(_views(answer, patterns))
    codes = {str(code) for pattern in patterns for code in pattern.wire.get("code", ())}
    for code in dict.fromkeys(view.code for view in views if isinstance(view.code, str)):
        if code not in codes:
            yield f"code {code} is in no record"
    types = {str(name) for pattern in patterns for name in pattern.wire.get("type", ())}
    for name in dict.fromkeys(view.type for view in views if isinstance(view.type, str)):
        if types and name not in types:
            yield f"type {name} is in no record"
    bodies = [reading.body for reading in answer.readings]
    if any(isinstance(body, str) and body.lstrip().lower().startswith(_PAGE) for body in bodies):
        yield "its body is an HTML page: a gateway in front of the provider answers so"
    elif not views and any(body is not EMPTY for body in bodies):
        yield "its body is in no envelope of the provider: a gateway or another host may have answered"


def _views(answer: Answer, patterns: Collection[AnswerPattern]) -> Iterator[Projection]:
    """The readings of its body through each envelope in which they carry a message."""
    shapes = {pattern.shape.name: pattern.shape for pattern in patterns if "message" in pattern.shape.wire}
    readings = [reading for reading in answer.readings if not reading.wrapped]
    views = (Projection(shape, reading) for shape in shapes.values() for reading in readings)
    return (view for view in views if view.message is not None and not view.fit.wrong)


def _count_shared(pattern: AnswerPattern, view: Projection) -> int:
    """How many words both have; those of a code count twice."""
    code = extract_words(view.code) if isinstance(view.code, str) else frozenset()
    return len(pattern.words & extract_words(view.texts)) + len(pattern.words & code)


def _documents(pattern: AnswerPattern, status: int) -> bool:
    seen = pattern.seen.get("status", ())
    return status in pattern.statuses or pattern.hundreds == status // 100 or str(status) in seen
