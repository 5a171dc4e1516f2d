"""Check of a line of results.jsonl, or of a history, by reports/schemas/results.json."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from catalog_probe.catalog.files import paths
from catalog_probe.catalog.files.strict_json import read_object

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator, ValidationError

    from catalog_probe.catalog.model import Json

SCHEMA = paths.shipped_folder("reports") / "schemas" / "results.json"

RUN, RESULT, HISTORY_ROW = "run", "result", "history_row"


def describe_error(line: Json, kind: str) -> str:
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

    shared = {name: value for name, value in read_object(SCHEMA).items() if name != "anyOf"}
    schema = {**shared, "$ref": f"#/$defs/{kind}"}
    return Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER)
