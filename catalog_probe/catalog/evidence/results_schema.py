"""Whether a line of results.jsonl, or of a history, follows reports/schemas/results.json."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from catalog_probe.catalog.files import paths
from catalog_probe.catalog.files.strict_json import read_object

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jsonschema import Draft202012Validator, ValidationError

    from catalog_probe.catalog.model import Json

SCHEMA = paths.shipped_folder("reports") / "schemas" / "results.json"

RUN, RESULT, HISTORY_ROW = "run", "result", "history_row"


def describe_error(line: Json, kind: str) -> str:
    """Describe the first error of a line of a kind, as `/attempts/0/at: should be …`; empty if there is none.

    No value is quoted: a recording that was not redacted may be read here.
    """
    error = next(_validator(kind).iter_errors(line), None)
    if error is None:
        return ""
    while error.validator == "anyOf":  # null or something: the error is that of the something
        error = next(option for option in error.context or () if option.validator_value != "null")
    names, message = _describe(error)
    pointer = "".join(f"/{name}" for name in (*error.absolute_path, *names))
    return f"{pointer}: {message}" if pointer else message


def _describe(error: ValidationError) -> tuple[tuple[str, ...], str]:
    """The members below the error's own place that it is about, and what is wrong there."""
    wanted: Json = error.validator_value
    instance: Json = error.instance
    schema: Json = error.schema
    match error.validator:
        case "required":
            return (next(name for name in wanted if name not in instance),), "is missing"
        case "additionalProperties":
            return (next(name for name in instance if name not in schema["properties"]),), "no version knows this"
        case "type":
            return (), f"should be of type {' or '.join([wanted] if isinstance(wanted, str) else wanted)}"
        case "enum":
            return (), f"should be one of {', '.join(wanted)}"
        case "pattern":
            return (), f"should match {wanted}"
        case "format":
            return (), "should be a day of the calendar"
        case "minimum":
            return (), f"should be no less than {wanted:g}"
        case "maximum":
            return (), f"should be no more than {wanted:g}"
    return (), f"breaks the rule `{error.validator}` of its schema"


@cache
def _schema() -> Mapping[str, Json]:
    schema: Mapping[str, Json] = read_object(SCHEMA)
    return schema


@cache
def _validator(kind: str) -> Draft202012Validator:
    from jsonschema import Draft202012Validator  # slow to import; only who reads results waits

    whole = {name: value for name, value in _schema().items() if name != "anyOf"}
    own = {**whole, "$ref": f"#/$defs/{kind}"}
    return Draft202012Validator(own, format_checker=Draft202012Validator.FORMAT_CHECKER)
