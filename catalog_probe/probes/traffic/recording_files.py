"""Read files of traffic: a HAR, JSON lines, the results of a run, or a folder of these."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence import results_file
from catalog_probe.catalog.evidence.results import Result
from catalog_probe.catalog.evidence.results_file import RESULTS_FILE, read_run
from catalog_probe.catalog.files.file_formats import BrokenLineError, parse_lines, read_without_link
from catalog_probe.catalog.model.errors import UserError, display_path
from catalog_probe.probes.traffic import har, json_lines
from catalog_probe.probes.traffic.recording import RecordedAttempt, Recording, TrafficError, read_parts

if TYPE_CHECKING:
    from pathlib import Path

    from catalog_probe.catalog.model import Json

SUFFIXES = (".har", ".json", ".jsonl", ".ndjson")
"""The files that are read in a folder."""

_FORMATS = "give a HAR, JSON lines, or a run's folder"


def read_recordings(paths: Iterable[Path]) -> tuple[Recording, ...]:
    """Read every recording that the paths name, each file once, in order.

    A path may be a link, because a person named it. A link among the files of a folder is refused.

    Raises:
        TrafficError: a path cannot be read, or there is no traffic.
    """
    files = dict.fromkeys(file for path in paths for file in _list_files(path.resolve()))
    recordings = tuple(map(_read_file, files))
    if not any(recording.attempts or recording.unreadable for recording in recordings):
        names = ", ".join(map(display_path, files))
        raise TrafficError(f"--traffic {names}: no exchange in it", "record some, or leave it out")
    return recordings


def _list_files(path: Path) -> Iterator[Path]:
    """Yield the file itself; for the folder of a run its results, for another folder every file with a known suffix."""
    try:
        if not path.is_dir():
            yield path
            return
        if (path / RESULTS_FILE).is_file():
            yield path / RESULTS_FILE
            return
        files = sorted(file for file in path.rglob("*") if file.suffix.lower() in SUFFIXES and file.is_file())
    except OSError as error:
        raise _error(path, str(error.strerror), "name a file that can be read") from None
    if not files:
        raise _error(path, "no traffic in it", f"it is read from {', '.join(SUFFIXES)}")
    yield from files


def _read_file(file: Path) -> Recording:
    try:
        raw = read_without_link(file)
    except OSError as error:
        raise _error(file, str(error.strerror), "name a file that can be read") from None
    if not raw.strip():
        raise _error(file, "it is empty", "record something, or leave it out")
    document = _parse_document(raw)
    if isinstance(document, dict) and isinstance(document.get("log"), dict):
        return har.read_har(document, file.name)
    if isinstance(document, list):
        return _read_lines(document, file.name)
    try:
        lines = [value for _, value in parse_lines(raw, file)]
    except BrokenLineError as error:
        raise _error(file, str(error), _FORMATS) from None
    if not lines:  # the only line is incomplete
        raise _error(file, "its only line is incomplete", _FORMATS)
    if isinstance(lines[0], dict) and "run" in lines[0] and "target" in lines[0]:
        return _read_run(file)
    return _read_lines(lines, file.name)


def _error(path: Path, what: str, mend: str) -> TrafficError:
    return TrafficError(f"--traffic {display_path(path)}: {what}", mend)


def _parse_document(raw: bytes) -> Json:
    """Parse a file that is one JSON value; return None if it is not."""
    try:
        return json.loads(raw.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None


def _read_lines(values: Iterable[Json], name: str) -> Recording:
    def read(part: tuple[int, Json]) -> Iterable[RecordedAttempt]:
        number, value = part
        return _parse_line(value, f"{name}, line {number}")

    return read_parts(name, enumerate(values, start=1), read)


def _parse_line(value: Json, location: str) -> Iterable[RecordedAttempt]:
    if not isinstance(value, Mapping):
        raise TrafficError(f"{location}: no exchange", "give each line `request` and `response`")
    if "attempts" in value and "record" in value:
        error = results_file.describe_line_error(value, results_file.RESULT_LINE)
        if error:
            raise TrafficError(f"{location}: {error}", "name the run's folder, or give lines of exchanges")
        return json_lines.attempts_of_result(Result.from_json(value), location)
    return (json_lines.parse_exchange(value, location),)


def _read_run(file: Path) -> Recording:
    try:
        run, results = read_run(file)
    except UserError as error:
        raise _error(file, str(error), "name a run that can be read") from None

    def read(result: Result) -> Iterable[RecordedAttempt]:
        return json_lines.attempts_of_result(result, f"run {run.run}, {result.record}")

    return replace(read_parts(file.parent.name, results, read), is_from_mock=not run.live)
