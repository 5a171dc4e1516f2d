"""A schema's complaint in words: what is wrong with a value, and what to write instead."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NamedTuple

from catalog_probe.catalog.model.errors import did_you_mean
from catalog_probe.catalog.text.phrases import brief

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from jsonschema import ValidationError

    from catalog_probe.catalog.model import Json


FEW = 8
"""So many names can be listed in one line without drowning it."""


class Complaint(NamedTuple):
    """One thing that is wrong: where (`$.status[0]`), what, and the mend."""

    json_path: str
    message: str
    mend: str


_FORMATS = {
    "date": "write YYYY-MM-DD",
    "date-time": "write an RFC 3339 time, like 2026-01-31T06:00:00Z",
    "regex": "write a regular expression that compiles",
    "uri": "write a whole address with its scheme",
    "json-pointer": "write a JSON pointer, like /error/type",
}

_TYPES = {
    "object": "an object",
    "array": "a list",
    "string": "a string",
    "number": "a number",
    "integer": "an integer",
    "boolean": "true or false",
    "null": "null",
}


def complaints(errors: Iterable[ValidationError]) -> Iterator[Complaint]:
    """Put each error into words, without repeats, in the order of the record; who wants one pays for one."""
    said: set[Complaint] = set()
    for error in errors:
        complaint = _say(_root_cause(error))
        if complaint not in said:
            said.add(complaint)
            yield complaint


def told(value: Json, schema: Mapping[str, Json]) -> list[Complaint]:
    """What a schema that refers to no other says against a value."""
    from jsonschema import Draft202012Validator  # slow to import; only who checks a file waits

    validator = Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER)
    try:
        return list(complaints(validator.iter_errors(value)))
    except RecursionError:  # a parser may just have had the stack for it, and who words it stands deeper
        return [Complaint("$", "is nested too deep", "write it flatter")]


def quoted(value: Json, limit: int = 60) -> str:
    """A value on one line as a record would write it, cut where it gets long."""
    return brief(json.dumps(value, ensure_ascii=False), limit)


def _root_cause(error: ValidationError) -> ValidationError:
    """Below an anyOf, the error of the option that was meant: the one whose type the value has."""
    while error.validator in ("anyOf", "oneOf") and error.context:
        options: dict[Json, list[ValidationError]] = {}
        for inner in error.context:
            options.setdefault(inner.schema_path[0], []).append(inner)
        meant = [inner for inner in options.values() if not any(_is_other_type(each, error) for each in inner)]
        if len(meant) != 1:
            return error
        error = meant[0][0]
    return error


def _is_other_type(inner: ValidationError, outer: ValidationError) -> bool:
    return inner.validator in ("type", "const", "enum") and list(inner.absolute_path) == list(outer.absolute_path)


def _say(error: ValidationError) -> Complaint:
    message, mend = _WORDS.get(str(error.validator), _in_its_own_words)(error)
    return Complaint(error.json_path, message, mend or _hint(error) or "see the schema's description of the field")


def _items(value: Json) -> list[Json]:
    return list(value) if isinstance(value, list | dict) else []


def _hint(error: ValidationError) -> str:
    """The first sentence of the field's description in its schema."""
    description = error.schema.get("description", "") if isinstance(error.schema, dict) else ""
    sentence = re.split(r"(?<=\.)\s", " ".join(str(description).split()))[0].rstrip(".")
    return f"the schema says: {sentence}" if sentence else ""


def _required(error: ValidationError) -> tuple[str, str]:
    # jsonschema makes one error for each missing field and names it in the message alone
    name = error.message.split("'")[1]
    return f"{name!r} is missing", f"add {name!r}"


def _extra(error: ValidationError) -> tuple[str, str]:
    schema: Mapping[str, Json] = error.schema if isinstance(error.schema, dict) else {}
    known = list(schema.get("properties", ()))
    extra = [name for name in _items(error.instance) if name not in known and not _matches_pattern(name, schema)]
    named = [name for name in extra if repr(name) in error.message] or extra
    guesses = " ".join(filter(None, (did_you_mean(name, known) for name in named)))
    fields = f"the fields are {', '.join(known)}" if 0 < len(known) <= FEW else "remove it"
    return f"{' and '.join(map(repr, named))} {'is' if len(named) == 1 else 'are'} no field here", guesses or fields


def _matches_pattern(name: str, schema: Mapping[str, Json]) -> bool:
    return any(re.search(pattern, name) for pattern in schema.get("patternProperties", ()))


def _enum(error: ValidationError) -> tuple[str, str]:
    allowed = [value if isinstance(value, str) else json.dumps(value) for value in _items(error.validator_value)]
    return f"{quoted(error.instance)} is none of {', '.join(allowed)}", did_you_mean(str(error.instance), allowed)


def _const(error: ValidationError) -> tuple[str, str]:
    return f"is {quoted(error.instance)}", f"write {quoted(error.validator_value)}"


def _type(error: ValidationError) -> tuple[str, str]:
    return f"is {quoted(error.instance)}", f"write {_one_of_types([error.validator_value])}"


def _one_of_types(types: Iterable[Json]) -> str:
    names = [name for each in types for name in ([each] if isinstance(each, str) else each)]
    return " or ".join(_TYPES.get(name, name) for name in dict.fromkeys(names))


def _options(error: ValidationError) -> tuple[str, str]:
    context = error.context or []
    types = [each.validator_value for each in context if each.validator == "type"]
    if types and len(types) == len(context):
        return f"is {quoted(error.instance)}", f"write {_one_of_types(types)}"
    wanted = dict.fromkeys(_say(_root_cause(each)).mend for each in context)
    return f"{quoted(error.instance)} is none of the allowed forms", ", or ".join(wanted)


def _pattern(error: ValidationError) -> tuple[str, str]:
    return f"{quoted(error.instance)} has not the right form", _hint(error) or f"it must match {error.validator_value}"


def _format(error: ValidationError) -> tuple[str, str]:
    name = str(error.validator_value)
    return f"{quoted(error.instance)} is no {name}", _FORMATS.get(name, "")


def _refused(error: ValidationError) -> tuple[str, str]:
    return f"{quoted(error.instance)} may not stand here", "remove it"


def _repeats(error: ValidationError) -> tuple[str, str]:
    return f"{quoted(error.instance)} repeats an item", "name each item once"


def _too_few(error: ValidationError) -> tuple[str, str]:
    return f"{quoted(error.instance)} is too short", f"give at least {error.validator_value}"


def _too_small(error: ValidationError) -> tuple[str, str]:
    return f"is {quoted(error.instance)}", f"write {error.validator_value} or more"


def _not_above(error: ValidationError) -> tuple[str, str]:
    return f"is {quoted(error.instance)}", f"write more than {error.validator_value}"


def _name(error: ValidationError) -> tuple[str, str]:
    return f"{quoted(error.instance)} is no name for a field here", ""


def _in_its_own_words(error: ValidationError) -> tuple[str, str]:
    words = " ".join(error.message.split())
    return brief(words, 160), ""


_WORDS: Mapping[str, Callable[[ValidationError], tuple[str, str]]] = {
    "required": _required,
    "additionalProperties": _extra,
    "unevaluatedProperties": _extra,
    "enum": _enum,
    "const": _const,
    "type": _type,
    "anyOf": _options,
    "oneOf": _options,
    "pattern": _pattern,
    "format": _format,
    "None": _refused,
    "not": _refused,
    "uniqueItems": _repeats,
    "minimum": _too_small,
    "exclusiveMinimum": _not_above,
    "minItems": _too_few,
    "minLength": _too_few,
    "minProperties": _too_few,
    "propertyNames": _name,
}
