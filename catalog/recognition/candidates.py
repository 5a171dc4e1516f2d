"""The records that an answer may be at all, found by what it shows: so that only a few are compared with it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from catalog.recognition.projecting import codes_in
from catalog.recognition.skeletons import HTTP, Skeleton, family_of

if TYPE_CHECKING:
    from catalog.recognition.answers import Answer

_Key = tuple[str, object]


@dataclass(frozen=True, slots=True)
class Candidates:
    """The skeletons of a provider by each single thing that an answer to them must show."""

    _by: Mapping[_Key, tuple[Skeleton, ...]]
    _codes_at: frozenset[str]
    """JSON pointers to where some envelope has its code."""
    skeletons: tuple[Skeleton, ...]

    @classmethod
    def of(cls, made: Iterable[Skeleton]) -> Self:
        found: dict[_Key, list[Skeleton]] = defaultdict(list)
        made = tuple(made)
        for skeleton in made:
            for key in dict.fromkeys(_keys(skeleton)):
                found[key].append(skeleton)
        pointers = (each.shape.wire.get("code") for each in made)
        codes_at = frozenset(each for each in pointers if each is not None)
        return cls({key: tuple(each) for key, each in found.items()}, codes_at, made)

    def among(self, answer: Answer) -> tuple[Skeleton, ...]:
        """Those that share a status, a code, an event, a close or a gRPC status with the answer, each once."""
        keys = dict.fromkeys(self._shown(answer))
        return tuple({id(each): each for key in keys for each in self._by.get(key, ())}.values())

    def _shown(self, answer: Answer) -> Iterator[_Key]:
        if answer.grpc is not None:
            yield ("grpc", answer.grpc)
        if answer.close is not None:
            yield ("close", None)
        if answer.status is not None:
            yield ("status", answer.status)
            yield ("hundreds", answer.status // 100)
        for code in codes_in(answer.readings, self._codes_at):
            yield ("code", code)
            yield ("family", family_of(code))
        yield ("wording", None)
        streamed = any(each.event is not None for each in answer.readings)
        if streamed:
            yield ("streamed", None)
        if streamed or answer.status is None:
            yield ("error", None)


def _keys(skeleton: Skeleton) -> Iterator[_Key]:
    if skeleton.grpc is not None:
        yield ("grpc", skeleton.grpc)
    if skeleton.close is not None:
        yield ("close", None)
    if skeleton.protocol == HTTP:
        yield from (("status", status) for status in skeleton.statuses)
        yield ("error", None)
    elif skeleton.grpc is None and skeleton.close is None:
        yield ("streamed", None)
        yield ("error", None)
    if skeleton.hundreds is not None:
        yield ("hundreds", skeleton.hundreds)
    for code in skeleton.wire.get("code", ()):
        if code is not None:
            yield ("code", str(code))
            yield ("family", family_of(str(code)))
    if skeleton.wording is not None and skeleton.protocol == HTTP:
        yield ("wording", None)
    yield from (("status", int(seen)) for seen in skeleton.seen.get("status", ()) if seen.isdigit())
    yield from (("code", seen) for seen in skeleton.seen.get("code", ()))
