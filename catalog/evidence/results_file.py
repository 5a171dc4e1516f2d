"""results.jsonl: written line by line while a run goes on, and read again."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Self

from catalog.evidence import shape
from catalog.evidence.deduplicated import told_once
from catalog.evidence.deferred import IN_MEMORY, LARGE, Later
from catalog.evidence.not_reported import complete
from catalog.evidence.results import Result, Run, json_of
from catalog.model import Json, jsonl
from catalog.model.errors import Mendable

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

    from catalog.model.jsonl import Line


RESULTS = "results.jsonl"
"""The name of the file in a run's folder: the only raw output of a run."""


class EvidenceError(Mendable):
    """A results file that cannot be used: one line saying which, where and what to do."""


class ResultsWriter:
    """Appends to results.jsonl: each line is handed to the operating system before `append` returns."""

    def __init__(self, path: Path, run: Run) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o644)
        self._write(run.to_json())

    def append(self, result: Mapping[str, Json]) -> None:
        """Append a result as `to_json` or `in_writing` has it."""
        self._write(result)

    def _write(self, data: Mapping[str, Json]) -> None:
        line = memoryview(_json_of(data) + b"\n")
        while line:
            line = line[os.write(self._file, line) :]

    def close(self) -> None:
        os.close(self._file)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()


def _json_of(data: Mapping[str, Json]) -> bytes:
    """An object as JSON; attempts that are in writing stay as they are."""
    written = data.get("attempts")
    if not isinstance(written, bytes):
        return json_of(data)
    names = list(data)
    at = names.index("attempts")
    before, after = (json_of({name: data[name] for name in some})[1:-1] for some in (names[:at], names[at + 1 :]))
    return b"{%s}" % b",".join(filter(None, (before, b'"attempts":' + written, after)))


def read_run(
    path: Path, in_memory: int | None = None, documents: Mapping[str, Json] = MappingProxyType({})
) -> tuple[Run, list[Result]]:
    """Read a results file, complete: what was selected and is not reported has a result that says so.

    Of its lines, so many bytes (`IN_MEMORY` unless told) are held as they are read; the attempts of the others stay in
    the file. Of a record that was probed as `documents` have it, by its address, no second copy is held.

    A record that is told twice, in a file put together by hand, counts once.
    A last line that a kill cut short is left out.

    Raises:
        EvidenceError: the file is missing, empty, or holds a line that is not its last and is broken, or a line that
            has not the shape of catalog/schemas/results.json.
    """
    lines = _lines(path)
    first = next(lines, None)
    if first is None:
        raise EvidenceError("the first line should describe the run", "probe again to make one", file=path)
    wrong = shape.trouble(first.value, shape.RUN)
    if wrong:
        place = f"{path}:{first.number}"
        raise EvidenceError(f"the first line should describe the run: {wrong}", "probe again to make one", place=place)
    run = Run.from_json(first.value)
    results = []
    left = IN_MEMORY if in_memory is None else in_memory
    for line in lines:
        wrong = shape.trouble(line.value, shape.RESULT)
        if wrong:
            place = f"{path}:{line.number}"
            raise EvidenceError(f"not a result: {wrong}", "probe again, or remove the line", place=place)
        document = documents.get(line.value["record"])
        # As written: to == 1, 1.0 and true are the same.
        if document is not None and json_of(document) == json_of(line.value["probed"]):
            line.value["probed"] = document
        left -= line.size
        is_held = left >= 0 and line.size <= LARGE
        results.append(Result.from_json(line.value) if is_held else _without_attempts(line, path))
    return run, complete(run, told_once(results))


def _without_attempts(line: Line, path: Path) -> Result:
    """A result whose attempts stay in the file."""
    short = {name: value for name, value in line.value.items() if name != "attempts"}
    return replace(Result.from_json(short), attempts=Later(path, line.offset, line.size, line.value))


@contextmanager
def drawing_on(file: Path | None = None, place: str = "") -> Iterator[None]:
    """Where conclusions are drawn from results: what they cannot be drawn from is told as one line.

    The shape of a line is known once it is read; the record in it is as old as its run, and held by no schema of today.

    Raises:
        EvidenceError: in place of the errors that a value of an unforeseen kind leads to.
    """
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError) as error:
        what = f"it holds what cannot be told ({type(error).__name__}: {error})"
        raise EvidenceError(
            what, "if no line was changed by hand, report it; else probe again", file=file, place=place
        ) from error


def _lines(path: Path) -> Iterator[Line]:
    try:
        with path.open("rb") as raw:
            yield from jsonl.lines(raw, path)
    except OSError as error:
        mend = "name a run's folder or its results.jsonl"
        raise EvidenceError(error.strerror or str(error), mend, file=path) from error
    except jsonl.BrokenLineError as error:
        raise EvidenceError(error.what, error.mend, place=error.place) from error
