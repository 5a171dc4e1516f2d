"""Finds out what a file of traffic is, and reads it: a HAR, JSON lines, a run's results, or a folder of such."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence import results_schema
from catalog_probe.catalog.evidence.results import Result
from catalog_probe.catalog.evidence.results_file import RESULTS_FILE, read_run
from catalog_probe.catalog.files import json_lines as jsonl
from catalog_probe.catalog.model.errors import UserError, display_path
from catalog_probe.probes.traffic import har, json_lines
from catalog_probe.probes.traffic.recording import RecordedExchange, Recording, TrafficError

if TYPE_CHECKING:
    from pathlib import Path

    from catalog_probe.catalog.model import Json

SUFFIXES = (".har", ".json", ".jsonl", ".ndjson")
"""What is read of a folder."""


def read_recordings(paths: Iterable[Path]) -> tuple[Recording, ...]:
    """Every recording that the paths name, each file once, in order.

    Raises:
        TrafficError: a path cannot be read, or holds no traffic.
    """
    files = dict.fromkeys(file.resolve() for path in paths for file in _files(path))
    found = tuple(map(_recording, files))
    if not any(each.recorded or each.unreadable for each in found):
        raise TrafficError(
            f"--traffic {', '.join(map(display_path, files))}: no exchange in it", "record some, or leave it out"
        )
    return found


def _files(path: Path) -> Iterator[Path]:
    """The file itself; of the folder of a run its results, of any other whatever may hold traffic."""
    try:
        if not path.is_dir():
            yield path
            return
        if (path / RESULTS_FILE).is_file():
            yield path / RESULTS_FILE
            return
        found = sorted(each for each in path.rglob("*") if each.suffix.lower() in SUFFIXES and each.is_file())
    except OSError as error:
        raise TrafficError(
            f"--traffic {display_path(path)}: {error.strerror}", "name a file that can be read"
        ) from None
    if not found:
        raise TrafficError(
            f"--traffic {display_path(path)}: no traffic in it", f"it is read from {', '.join(SUFFIXES)}"
        )
    yield from found


def _recording(file: Path) -> Recording:
    name = file.name
    try:
        raw = file.read_bytes()
    except OSError as error:
        raise TrafficError(
            f"--traffic {display_path(file)}: {error.strerror}", "name a file that can be read"
        ) from None
    if not raw.strip():
        raise TrafficError(f"--traffic {display_path(file)}: it is empty", "record something, or leave it out")
    whole = _whole(raw)
    if isinstance(whole, dict) and isinstance(whole.get("log"), dict):
        return har.read_har(whole, name)
    if isinstance(whole, list):
        return _lines(whole, name)
    try:
        values = list(jsonl.parse_lines(raw, file))
    except jsonl.BrokenLineError as error:
        raise TrafficError(
            f"--traffic {display_path(file)}: {error}", "give a HAR, JSON lines, or a run's folder"
        ) from None
    if not values:  # the one line that it has is cut off
        raise TrafficError(
            f"--traffic {display_path(file)}: it ends within a line", "give a HAR, JSON lines, or a run's folder"
        )
    first = values[0][1]
    if isinstance(first, dict) and "run" in first and "target" in first:
        return _run(file)
    return _lines([value for _, value in values], name)


def _whole(raw: bytes) -> Json:
    """The one JSON value that a file is; None where it is none, or many."""
    try:
        return json.loads(raw.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None


def _lines(values: Iterable[Json], name: str) -> Recording:
    """Exchanges one a line; a line that is none is named, and takes nothing from the others."""
    found: list[RecordedExchange] = []
    unreadable = []
    for number, value in enumerate(values, start=1):
        try:
            found += _of_line(value, f"{name}, line {number}")
        except UserError as error:
            unreadable.append(str(error))
    if unreadable and not found:
        raise TrafficError(unreadable[0])
    return Recording(name, tuple(found), tuple(unreadable))


def _of_line(value: Json, where: str) -> Iterable[RecordedExchange]:
    if not isinstance(value, Mapping):
        raise TrafficError(f"{where}: no exchange", "give each line `request` and `response`")
    if "attempts" in value and "record" in value:
        wrong = results_schema.describe_error(value, results_schema.RESULT)
        if wrong:
            raise TrafficError(f"{where}: {wrong}", "name the run's folder, or give lines of exchanges")
        return json_lines.attempts_of_result(Result.from_json(value), where)
    return (json_lines.parse_exchange(value, where),)


def _run(file: Path) -> Recording:
    try:
        run, results = read_run(file)
    except UserError as error:
        raise TrafficError(f"--traffic {display_path(file)}: {error}", "name a run that can be read") from None
    own: list[RecordedExchange] = []
    unreadable = []
    for result in results:
        try:
            own += json_lines.attempts_of_result(result, f"run {run.run}, {result.record}")
        except TrafficError as error:
            unreadable.append(str(error))
    return Recording(file.parent.name, tuple(own), tuple(unreadable), of_a_mock=not run.live)
