"""An answer that fits no record: what is new in it, and which records are most like it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.answers.readings import EMPTY
from catalog_probe.catalog.recognition.projecting import Projection
from catalog_probe.catalog.recognition.skeletons import HTTP, Skeleton, words_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from catalog_probe.catalog.answers.readings import Answer

_MOST = 3  # records named: more help nobody
_PAGE = ("<!doctype", "<html")


def find_nearest(answer: Answer, skeletons: Collection[Skeleton]) -> tuple[str, ...]:
    """The records of the same status, or else of the same hundred, that share most words with its code and texts."""
    documented = [skeleton for skeleton in skeletons if skeleton.protocol == HTTP]
    same = [skeleton for skeleton in documented if answer.status in skeleton.statuses]
    hundreds = {(answer.status or 0) // 100}
    near = same or [skeleton for skeleton in documented if {status // 100 for status in skeleton.statuses} == hundreds]
    shared: dict[str, int] = {}
    for skeleton in near:
        count = max((_count_shared(skeleton, view) for view in _views(answer, (skeleton,))), default=0)
        shared[skeleton.address] = max(shared.get(skeleton.address, 0), count)
    alike = (address for address, count in shared.items() if count)
    return tuple(sorted(alike, key=lambda address: (-shared[address], address))[:_MOST])


def find_news(answer: Answer, skeletons: Collection[Skeleton]) -> Iterator[str]:
    """What an answer has that no record does, in words: a status, a code, a page in place of an error's body."""
    if answer.status is not None and not any(_documents(skeleton, answer.status) for skeleton in skeletons):
        yield f"status {answer.status} is in no record"
    views = list(_views(answer, skeletons))
    codes = {str(code) for skeleton in skeletons for code in skeleton.wire.get("code", ())}
    for code in dict.fromkeys(view.code for view in views if isinstance(view.code, str)):
        if code not in codes:
            yield f"code {code} is in no record"
    types = {str(name) for skeleton in skeletons for name in skeleton.wire.get("type", ())}
    for name in dict.fromkeys(view.type for view in views if isinstance(view.type, str)):
        if types and name not in types:
            yield f"type {name} is in no record"
    bodies = [reading.body for reading in answer.readings]
    if any(isinstance(body, str) and body.lstrip().lower().startswith(_PAGE) for body in bodies):
        yield "its body is an HTML page: a gateway in front of the provider answers so"
    elif not views and any(body is not EMPTY for body in bodies):
        yield "its body is in no envelope of the provider: a gateway or another host may have answered"


def _views(answer: Answer, skeletons: Collection[Skeleton]) -> Iterator[Projection]:
    """The readings of its body through each envelope in which they carry a message."""
    shapes = {skeleton.shape.name: skeleton.shape for skeleton in skeletons if "message" in skeleton.shape.wire}
    readings = [reading for reading in answer.readings if not reading.wrapped]
    views = (Projection(shape, reading) for shape in shapes.values() for reading in readings)
    return (view for view in views if view.message is not None and not view.fit.wrong)


def _count_shared(skeleton: Skeleton, view: Projection) -> int:
    """How many words both have; those of a code count twice."""
    code = words_of(view.code) if isinstance(view.code, str) else frozenset()
    return len(skeleton.words & words_of(view.texts)) + len(skeleton.words & code)


def _documents(skeleton: Skeleton, status: int) -> bool:
    seen = skeleton.seen.get("status", ())
    return status in skeleton.statuses or skeleton.hundreds == status // 100 or str(status) in seen
