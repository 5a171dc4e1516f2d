"""Attempts that stay in writing until somebody looks: what a run kept may be more than memory should hold."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Self, overload

from catalog.evidence.results import attempts_of, json_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from catalog.evidence.results import Result
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

    @classmethod
    def as_written(cls, attempts: Sequence[Json]) -> Self:
        """The same of attempts as a line has them: to make objects of them takes as long as to read them."""
        answered = (
            each.get("elapsed_ms", 0.0)
            for attempt in attempts
            for each in attempt["exchanges"]
            if not each.get("failure")
        )
        return cls(sum(attempt["elapsed_ms"] for attempt in attempts), tuple(answered))


def took(attempts: Sequence[Attempt]) -> Took:
    """How long these attempts took; of those that stay in their file it was noted when they were read."""
    return attempts.took if isinstance(attempts, Later) else Took.of(attempts)


class _InWriting(Sequence["Attempt"]):
    """Attempts of which it is known how many they are; they are read anew for each look at them."""

    def __init__(self, number: int) -> None:
        self._number = number

    @abstractmethod
    def _read(self) -> tuple[Attempt, ...]: ...

    def __len__(self) -> int:
        return self._number

    def __iter__(self) -> Iterator[Attempt]:
        return iter(self._read())

    @overload
    def __getitem__(self, index: int) -> Attempt: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Attempt]: ...
    def __getitem__(self, index: int | slice) -> Attempt | Sequence[Attempt]:
        return self._read()[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment] # as any sequence of what has none


class Written(_InWriting):
    """The attempts of a result that is not in its file yet, as the JSON that its line will have of them.

    That is a third of what they take as objects, and hundreds of results wait for the others of their lanes.
    """

    def __init__(self, attempts: Sequence[Attempt]) -> None:
        super().__init__(len(attempts))
        self.json = json_of(attempts)

    def _read(self) -> tuple[Attempt, ...]:
        return attempts_of({"attempts": json.loads(self.json)})


def in_writing(result: Result) -> dict[str, Json]:
    """A result for its line: as `to_json` has it, but for attempts that are written down already, which are bytes."""
    attempts = result.attempts
    if not isinstance(attempts, Written):
        return result.to_json()
    return {**replace(result, attempts=()).to_json(), "attempts": attempts.json}


class Later(_InWriting):
    """The attempts of one line of results.jsonl.

    Raises:
        OSError: the file cannot be read any more.
        ValueError: it is not what it was.
    """

    def __init__(self, file: Path, offset: int, size: int, data: Mapping[str, Json]) -> None:
        attempts = data.get("attempts", ())
        super().__init__(len(attempts))
        self._line = (file, offset, size)
        self.took = Took.as_written(attempts)

    def _read(self) -> tuple[Attempt, ...]:
        return _read(*self._line)


@lru_cache(maxsize=1)
def _read(file: Path, offset: int, size: int) -> tuple[Attempt, ...]:
    """The last one read is remembered, for a view looks at one result after the other, and often twice."""
    with file.open("rb") as opened:
        opened.seek(offset)
        return attempts_of(json.loads(opened.read(size)))
