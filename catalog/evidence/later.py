"""Attempts that stay in their file until somebody looks: what a run kept may be more than memory should hold."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Self, overload

from catalog.evidence.results import attempts_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from catalog.model import Attempt, Json

IN_MEMORY = 8_000_000
"""Bytes of a results file's lines that are held as they are read: those of any ordinary run."""

LARGE = 50_000
"""Bytes; the attempts of a larger line stay in the file in any case."""


@dataclass(frozen=True, slots=True)
class Took:
    """How long attempts took, in ms: all of it, and each exchange that was answered."""

    elapsed_ms: float
    answered_ms: tuple[float, ...]

    @classmethod
    def of(cls, attempts: Sequence[Attempt]) -> Self:
        answered = (each.elapsed_ms for attempt in attempts for each in attempt.exchanges if each.failure is None)
        return cls(sum(attempt.elapsed_ms for attempt in attempts), tuple(answered))


def took(attempts: Sequence[Attempt]) -> Took:
    """How long these attempts took; of those that stay in their file it was noted when they were read."""
    return attempts.took if isinstance(attempts, Later) else Took.of(attempts)


class Later(Sequence["Attempt"]):
    """The attempts of one line of results.jsonl; the line is read anew for each look at them.

    Raises:
        OSError: the file cannot be read any more.
        ValueError: it is not what it was.
    """

    def __init__(self, file: Path, offset: int, size: int, data: Mapping[str, Json]) -> None:
        attempts = attempts_of(data)
        self._line = (file, offset, size)
        self._number = len(attempts)
        self.took = Took.of(attempts)

    def __len__(self) -> int:
        return self._number

    def __iter__(self) -> Iterator[Attempt]:
        return iter(_read(*self._line))

    @overload
    def __getitem__(self, index: int) -> Attempt: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Attempt]: ...
    def __getitem__(self, index: int | slice) -> Attempt | Sequence[Attempt]:
        return _read(*self._line)[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment] # as any sequence of what has none


@lru_cache(maxsize=1)
def _read(file: Path, offset: int, size: int) -> tuple[Attempt, ...]:
    """The last one read is remembered, for a view looks at one result after the other, and often twice."""
    with file.open("rb") as opened:
        opened.seek(offset)
        return attempts_of(json.loads(opened.read(size)))
