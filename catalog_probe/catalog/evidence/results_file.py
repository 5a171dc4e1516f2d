"""Reader and writer of results.jsonl, and the check of its lines by schema."""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Self

from catalog_probe.catalog.evidence.completeness import add_missing_results, keep_last_lines
from catalog_probe.catalog.evidence.results import SCHEMA_VERSION, Result, Run
from catalog_probe.catalog.files import file_formats, provider_folders
from catalog_probe.catalog.files.file_formats import read_object
from catalog_probe.catalog.model.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path
    from types import TracebackType

    from jsonschema import Draft202012Validator, ValidationError

    from catalog_probe.catalog.model import Json


RESULTS_SCHEMA = provider_folders.shipped_folder("reports") / "schemas" / "results.json"

RUN_LINE, RESULT_LINE, HISTORY_ROW_LINE = "run", "result", "history_row"


def describe_line_error(line: Json, kind: str) -> str:
    """Describe the first error of a line, as `/attempts/0/at: should be …`; empty if there is none.

    No value is quoted, because the line may come from a recording that was not redacted.
    """
    error = next(_validator(kind).iter_errors(line), None)
    if error is None:
        return ""
    while error.validator == "anyOf":  # the schema has `anyOf` for "null or X" only: describe the error of X
        error = next(option for option in error.context or () if option.validator_value != "null")
    names, message = _describe(error)
    pointer = "".join(f"/{name}" for name in (*error.absolute_path, *names))
    return f"{pointer}: {message}" if pointer else message


def _describe(error: ValidationError) -> tuple[tuple[str, ...], str]:
    """Return the member that the error is about, as a path below the error's location, and a message."""
    rule: Json = error.validator_value
    instance: Json = error.instance
    schema: Json = error.schema
    match error.validator:
        case "required":
            return (next(name for name in rule if name not in instance),), "is missing"
        case "additionalProperties":
            return (next(name for name in instance if name not in schema["properties"]),), "no version knows this"
        case "type":
            types = [rule] if isinstance(rule, str) else rule
            return (), f"should be of type {' or '.join(types)}"
        case "enum":
            return (), f"should be one of {', '.join(rule)}"
        case "pattern":
            return (), f"should match {rule}"
        case "format":
            return (), "should be a day of the calendar"
        case "minimum":
            return (), f"should be no less than {rule:g}"
        case "maximum":
            return (), f"should be no more than {rule:g}"
    return (), f"breaks the rule `{error.validator}` of its schema"


@cache
def _validator(kind: str) -> Draft202012Validator:
    from jsonschema import Draft202012Validator  # slow to import, so only readers of results pay for it

    shared = {name: value for name, value in read_object(RESULTS_SCHEMA).items() if name != "anyOf"}
    schema = {**shared, "$ref": f"#/$defs/{kind}"}
    return Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER)


RESULTS_FILE = "results.jsonl"
"""Name of the file in a run's folder. It is the only raw output; everything else is a view of it."""


class EvidenceError(UserError):
    """A results file cannot be used."""


class ResultsWriter:
    """Appends to results.jsonl: each line is handed to the operating system before `append` returns."""

    def __init__(self, path: Path, run: Run) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND
        self._file = file_formats.open_without_link(path, flags, 0o644)
        self._last_lines: dict[str, int] = {}
        """Address of a record -> the hash of its last line."""
        self._write(_encode_line(run.to_json()))

    def append(self, result: Mapping[str, Json]) -> None:
        """Append a result in the form of `Result.to_json`, unless the last line of its record says the same."""
        line = _encode_line(result)
        if self._last_lines.get(result["record"]) != hash(line):
            self._write(line)
            self._last_lines[result["record"]] = hash(line)

    def _write(self, line: bytes) -> None:
        rest = memoryview(line)
        while rest:
            rest = rest[os.write(self._file, rest) :]

    def close(self) -> None:
        os.close(self._file)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()


def _encode_line(data: Mapping[str, Json]) -> bytes:
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    # A provider may send half a surrogate pair, which UTF-8 cannot hold. It becomes the JSON escape that it came as.
    return text.encode(errors="backslashreplace") + b"\n"


def read_run(path: Path, *, is_ours: bool = False) -> tuple[Run, list[Result]]:
    """Read a results file, and add a result for each selected record without one.

    Of several lines of one record, the last counts. A last line that a kill cut short is left out.

    `is_ours`: this process has just written the file, so its lines are not checked against the schema.

    Raises:
        EvidenceError: the file is missing, empty, or of another schema version; a line before the last is broken; or a
            line does not follow reports/schemas/results.json.
    """
    lines = _lines(path)
    first = next(lines, None)
    if first is None:
        raise EvidenceError("the first line should describe the run", "probe again to make one", file=path)
    place, line = first
    _check_version(line, place)
    error = "" if is_ours else describe_line_error(line, RUN_LINE)
    if error:
        raise EvidenceError(
            f"the first line should describe the run: {error}", "probe again to make one", location=place
        )
    run = Run.from_json(line)
    results = []
    for place, line in lines:
        error = "" if is_ours else describe_line_error(line, RESULT_LINE)
        if error:
            raise EvidenceError(f"not a result: {error}", "probe again, or remove the line", location=place)
        results.append(Result.from_json(line))
    return run, add_missing_results(run, keep_last_lines(results))


@contextmanager
def report_unusable_evidence(file: Path | None = None, place: str = "") -> Iterator[None]:
    """Turn errors of code that works with results into an EvidenceError that names the file or place.

    A line follows the schema when it is read. But the record in it is as old as the run, and no schema of today covers
    it.

    Raises:
        EvidenceError: instead of the exceptions that an unexpected value causes.
    """
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError) as error:
        what = f"it holds what cannot be told ({type(error).__name__}: {error})"
        raise EvidenceError(
            what, "if no line was changed by hand, report it; else probe again", file=file, location=place
        ) from error


def _check_version(line: Json, place: str) -> None:
    """Refuse a file of another schema version. The schema check finds all other errors.

    Raises:
        EvidenceError: the file has another schema version.
    """
    version = line.get("schema_version") if isinstance(line, dict) else None
    if isinstance(version, int) and version != SCHEMA_VERSION:
        what = f"the file has schema version {version}, and this catalog-probe reads version {SCHEMA_VERSION}"
        raise EvidenceError(what, "read it with the catalog-probe that wrote it, or probe again", location=place)


def _lines(path: Path) -> Iterator[tuple[str, Json]]:
    try:
        with os.fdopen(file_formats.open_without_link(path, os.O_RDONLY), "rb") as raw:
            yield from file_formats.parse_lines(raw, path)
    except OSError as error:
        mend = "name a run's folder or its results.jsonl"
        raise EvidenceError(error.strerror or str(error), mend, file=path) from error
    except file_formats.BrokenLineError as error:
        raise EvidenceError(error.what, error.mend, location=error.location) from error
