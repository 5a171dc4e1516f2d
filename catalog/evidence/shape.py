"""Whether a line of results.jsonl has the shape that catalog/schemas/results.json publishes, without jsonschema.

Each run reads its file several times, and importing jsonschema takes longer than that. So the words of JSON Schema that
this one schema uses are read here, and no others: a word that is not known is a mistake of ours.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date
from functools import cache
from typing import TYPE_CHECKING

from catalog.reading.schemas import SCHEMAS
from catalog.reading.strict_json import read_object

if TYPE_CHECKING:
    from catalog.model import Json

RUN, RESULT, HISTORY_ROW = "run", "result", "history_row"

Check = Callable[["Json"], str]
"""What is wrong with a value first, as `/attempts/0/at: should be …`; empty where nothing is."""

_TYPES: Mapping[str, type] = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": float,
    "null": type(None),
}
_TOLD = frozenset({"description", "properties", "required", "additionalProperties"})
"""Words that only tell, and those of objects, which are read together."""


def trouble(line: Json, kind: str) -> str:
    """What is wrong first with a line of a kind (`run`, `result`), as `/attempts/0/at: should be …`; or nothing."""
    return _named(kind)(line).removeprefix(": ")


def _named(name: str) -> Check:
    return _compiled(_definitions()[name])


@cache
def _definitions() -> Mapping[str, Json]:
    definitions: Mapping[str, Json] = read_object(SCHEMAS / "results.json")["$defs"]
    return definitions


def _compiled(schema: Mapping[str, Json]) -> Check:
    """The checks of a schema as one. Made once: a run of four hundred records has some fifty thousand values."""
    # The schema says the type first, so that the others meet what they are about.
    checks = [_WORDS[word](wanted, schema) for word, wanted in schema.items() if word not in _TOLD]
    if schema.get("type") == "object":
        checks.append(_members(schema))
    if len(checks) == 1:
        return checks[0]

    def check(value: Json) -> str:
        for each in checks:
            if wrong := each(value):
                return wrong
        return ""

    return check


def _ref(wanted: Json, _: Mapping[str, Json]) -> Check:
    return _named(wanted.rpartition("/")[2])


def _any_of(wanted: Json, _: Mapping[str, Json]) -> Check:
    """Null or something: what is wrong is told of the something."""
    other = _compiled(next(each for each in wanted if each != {"type": "null"}))
    return lambda value: "" if value is None else other(value)


def _type(wanted: Json, _: Mapping[str, Json]) -> Check:
    names = [wanted] if isinstance(wanted, str) else wanted
    allowed = {_TYPES[name] for name in names} | ({int} if "number" in names else set())
    told = f": should be of type {' or '.join(names)}"
    return lambda value: "" if type(value) in allowed else told  # a bool is an int to isinstance


def _members(schema: Mapping[str, Json]) -> Check:
    known = {name: _compiled(member) for name, member in schema.get("properties", {}).items()}
    required = frozenset(schema.get("required", ()))
    more = schema.get("additionalProperties", True)
    other: Check = _compiled(more) if isinstance(more, dict) else lambda _: "" if more else ": no version knows this"

    def check(value: Json) -> str:
        if not required <= value.keys():
            return f"/{min(required - value.keys())}: is missing"
        for name, member in value.items():
            if wrong := known.get(name, other)(member):
                return f"/{name}{wrong}"
        return ""

    return check


def _items(wanted: Json, _: Mapping[str, Json]) -> Check:
    item = _compiled(wanted)

    def check(value: Json) -> str:
        return next((f"/{number}{wrong}" for number, each in enumerate(value) if (wrong := item(each))), "")

    return check


def _enum(wanted: Json, _: Mapping[str, Json]) -> Check:
    told = f": should be one of {', '.join(wanted)}"
    return lambda value: "" if isinstance(value, str) and value in wanted else told


def _pattern(wanted: Json, _: Mapping[str, Json]) -> Check:
    pattern = re.compile(wanted)
    return lambda value: "" if pattern.fullmatch(value) else f": should match {wanted}"


def _format(_: Json, __: Mapping[str, Json]) -> Check:
    def check(value: Json) -> str:
        try:
            date.fromisoformat(value)
        except ValueError:
            return ": should be a day of the calendar"
        return ""

    return check


def _minimum(wanted: Json, _: Mapping[str, Json]) -> Check:
    return lambda value: "" if value >= wanted else f": should be no less than {wanted:g}"  # NaN is neither


def _maximum(wanted: Json, _: Mapping[str, Json]) -> Check:
    return lambda value: "" if value <= wanted else f": should be no more than {wanted:g}"


_WORDS: Mapping[str, Callable[[Json, Mapping[str, Json]], Check]] = {
    "$ref": _ref,
    "anyOf": _any_of,
    "type": _type,
    "items": _items,
    "enum": _enum,
    "pattern": _pattern,
    "format": _format,
    "minimum": _minimum,
    "maximum": _maximum,
}
