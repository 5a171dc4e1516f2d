"""The JSON Schemas of all provider folders, their validators and error messages."""

from __future__ import annotations

import json
import re
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from catalog_probe.catalog.files import provider_folders
from catalog_probe.catalog.files.file_formats import read_object
from catalog_probe.catalog.files.provider_folders import cached_per_folders
from catalog_probe.catalog.model.errors import CatalogError, suggest_similar
from catalog_probe.catalog.text.json_values import ABSENT, find_value
from catalog_probe.catalog.text.readable_text import shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from jsonschema import Draft202012Validator, ValidationError

    from catalog_probe.catalog.model import Json


SCHEMAS = provider_folders.SHIPPED.schemas
"""The shipped schemas. Another provider folder adds envelopes and the form of its limits."""

KIND_SCHEMA = MappingProxyType(
    {
        "endpoints": "urn:catalog:endpoint",
        "errors": "urn:catalog:error",
        "rate_limits": "urn:catalog:rate_limits",
        "discovered": "urn:catalog:discovered",
    }
)
"""The schema of each kind of record, and of discoveries."""

LIMITS_BY_PROVIDER = "urn:catalog:limits"
"""A schema made here: it applies to each rate-limit record the limits schema of its provider."""

_LIMITS = "urn:catalog:limits_"
"""The prefix of a provider's limits schema; the name of the provider follows."""


@cached_per_folders
def schemas() -> Mapping[str, Mapping[str, Json]]:
    """Read every schema, by its `$id`; of two with the same, the one of the nearest folder wins.

    Raises:
        CatalogError: a schema file cannot be read, has no `$id`, or one that differs from its file name.
    """
    schema_by_urn: dict[str, Mapping[str, Json]] = {}
    for folder in reversed(provider_folders.all_folders()):
        schema_by_urn |= read_schemas(folder)
    return MappingProxyType({**schema_by_urn, LIMITS_BY_PROVIDER: _limits_by_provider(schema_by_urn)})


def read_schemas(folder: provider_folders.ProviderFolder) -> Iterator[tuple[str, Mapping[str, Json]]]:
    """Yield the `$id` and the content of each schema in one provider folder.

    Raises:
        CatalogError: as `schemas`.
    """
    for path in sorted(folder.schemas.rglob("*.json")):
        schema = read_object(path)
        urn = schema.get("$id")
        expected_urn = envelope_id(path.stem) if path.parent == folder.envelopes else urn
        if not isinstance(urn, str):
            mend = f"give it one, like {expected_urn or 'urn:catalog:error'}"
            raise CatalogError("a schema needs an `$id`", mend, file=path)
        if urn != expected_urn:
            what = f"its `$id` is {urn}, which is not what the file is called"
            raise CatalogError(what, f"write {expected_urn}", file=path, location="$.$id")
        yield urn, schema


def _limits_by_provider(urns: Iterable[str]) -> Mapping[str, Json]:
    names = sorted(urn.removeprefix(_LIMITS) for urn in urns if urn.startswith(_LIMITS))
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": LIMITS_BY_PROVIDER,
        "title": "Limits by provider",
        "description": "The limits of a rate-limit record have the form of its provider's: limits_<provider>.json.",
        "allOf": [
            {
                "if": {"properties": {"provider": {"const": name.upper()}}, "required": ["provider"]},
                "then": {"properties": {"documented": {"$ref": f"{_LIMITS}{name}"}}},
            }
            for name in names
        ]
        or [True],
    }


def envelope_id(surface: str) -> str:
    """Return the `$id` that the envelope schema of a surface has."""
    return f"urn:catalog:envelope:{surface}"


def resolve_ref(ref: str, base: str) -> tuple[Json, str] | None:
    """Follow a `$ref` in the schema `base`: return its target and the schema that holds it, or None."""
    urn, _, pointer = ref.partition("#")
    urn = urn or base
    if urn not in schemas():
        return None
    target = find_value(schemas()[urn], pointer)
    return None if target is ABSENT else (target, urn)


MAX_LISTED = 8
"""How many names a message of one line may list."""


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
    """Put each error into words, without repetitions; lazily, because validation is slow."""
    yielded: set[Complaint] = set()
    for error in errors:
        complaint = _describe(_root_cause(error))
        if complaint not in yielded:
            yielded.add(complaint)
            yield complaint


def find_complaints(value: Json, schema: Mapping[str, Json]) -> list[Complaint]:
    """Validate a value by a schema that refers to no other."""
    from jsonschema import Draft202012Validator  # slow to import

    validator = Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER)
    try:
        return list(complaints(validator.iter_errors(value)))
    except RecursionError:  # validation needs more stack than the parser did
        return [Complaint("$", "is nested too deep", "write it flatter")]


def quote_value(value: Json, limit: int = 60) -> str:
    """Show a value as JSON on one line, of at most `limit` characters."""
    return shorten(json.dumps(value, ensure_ascii=False), limit)


def _root_cause(error: ValidationError) -> ValidationError:
    """Descend into anyOf and oneOf: if just one option has the type of the value, return the error of that option."""
    while error.validator in ("anyOf", "oneOf") and error.context:
        options: dict[Json, list[ValidationError]] = {}
        for inner in error.context:
            options.setdefault(inner.schema_path[0], []).append(inner)
        of_same_type = [
            errors for errors in options.values() if not any(_is_about_type(inner, error) for inner in errors)
        ]
        if len(of_same_type) != 1:
            return error
        error = of_same_type[0][0]
    return error


def _is_about_type(inner: ValidationError, outer: ValidationError) -> bool:
    return inner.validator in ("type", "const", "enum") and list(inner.absolute_path) == list(outer.absolute_path)


def _describe(error: ValidationError) -> Complaint:
    keyword = str(error.validator)
    if keyword in _DESCRIBERS:
        message, mend = _DESCRIBERS[keyword](error)
    elif keyword in _TEMPLATES:
        values = {"value": quote_value(error.instance), "limit": quote_value(error.validator_value)}
        message, mend = (template.format(**values) for template in _TEMPLATES[keyword])
    else:
        message, mend = shorten(" ".join(error.message.split()), 160), ""
    mend = mend or _schema_hint(error) or "see the schema's description of the field"
    return Complaint(error.json_path, message, mend)


def _schema_hint(error: ValidationError) -> str:
    """Return the first sentence of the field's description in its schema, or an empty string."""
    description = error.schema.get("description", "") if isinstance(error.schema, dict) else ""
    sentence = re.split(r"(?<=\.)\s", " ".join(str(description).split()))[0].rstrip(".")
    return f"the schema says: {sentence}" if sentence else ""


def _describe_required(error: ValidationError) -> tuple[str, str]:
    # jsonschema makes one error for each missing field, and names the field only in the message
    name = error.message.split("'")[1]
    return f"{name!r} is missing", f"add {name!r}"


def _describe_extra(error: ValidationError) -> tuple[str, str]:
    schema: Mapping[str, Json] = error.schema if isinstance(error.schema, dict) else {}
    known = list(schema.get("properties", ()))
    extra = [name for name in _items(error.instance) if name not in known and not _matches_pattern(name, schema)]
    extra = [name for name in extra if repr(name) in error.message] or extra
    guesses = " ".join(filter(None, (suggest_similar(name, known) for name in extra)))
    all_fields = f"the fields are {', '.join(known)}" if 0 < len(known) <= MAX_LISTED else "remove it"
    return f"{' and '.join(map(repr, extra))} {'is' if len(extra) == 1 else 'are'} no field here", guesses or all_fields


def _items(value: Json) -> list[Json]:
    return list(value) if isinstance(value, list | dict) else []


def _matches_pattern(name: str, schema: Mapping[str, Json]) -> bool:
    return any(re.search(pattern, name) for pattern in schema.get("patternProperties", ()))


def _describe_enum(error: ValidationError) -> tuple[str, str]:
    allowed = [value if isinstance(value, str) else json.dumps(value) for value in _items(error.validator_value)]
    return f"{quote_value(error.instance)} is none of {', '.join(allowed)}", suggest_similar(
        str(error.instance), allowed
    )


def _describe_options(error: ValidationError) -> tuple[str, str]:
    context = error.context or []
    types = [inner.validator_value for inner in context if inner.validator == "type"]
    if types and len(types) == len(context):
        return f"is {quote_value(error.instance)}", f"write {_join_types(types)}"
    mends = dict.fromkeys(_describe(_root_cause(inner)).mend for inner in context)
    return f"{quote_value(error.instance)} is none of the allowed forms", ", or ".join(mends)


def _describe_type(error: ValidationError) -> tuple[str, str]:
    return f"is {quote_value(error.instance)}", f"write {_join_types([error.validator_value])}"


def _join_types(types: Iterable[Json]) -> str:
    names = [name for value in types for name in ([value] if isinstance(value, str) else value)]
    return " or ".join(_TYPES.get(name, name) for name in dict.fromkeys(names))


def _describe_pattern(error: ValidationError) -> tuple[str, str]:
    mend = _schema_hint(error) or f"it must match {error.validator_value}"
    return f"{quote_value(error.instance)} has the wrong form", mend


def _describe_format(error: ValidationError) -> tuple[str, str]:
    name = str(error.validator_value)
    return f"{quote_value(error.instance)} is no {name}", _FORMATS.get(name, "")


_DESCRIBERS: Mapping[str, Callable[[ValidationError], tuple[str, str]]] = {
    "required": _describe_required,
    "additionalProperties": _describe_extra,
    "unevaluatedProperties": _describe_extra,
    "enum": _describe_enum,
    "type": _describe_type,
    "anyOf": _describe_options,
    "oneOf": _describe_options,
    "pattern": _describe_pattern,
    "format": _describe_format,
}
"""Validation keyword -> the words for its errors."""

_FORBIDDEN = ("{value} is not allowed here", "remove it")
_TOO_SHORT = ("{value} is too short", "give at least {limit}")

_TEMPLATES: Mapping[str, tuple[str, str]] = {
    "const": ("is {value}", "write {limit}"),
    "None": _FORBIDDEN,  # jsonschema's name for the schema `false`
    "not": _FORBIDDEN,
    "uniqueItems": ("{value} repeats an item", "name each item once"),
    "minimum": ("is {value}", "write {limit} or more"),
    "exclusiveMinimum": ("is {value}", "write more than {limit}"),
    "minItems": _TOO_SHORT,
    "minLength": _TOO_SHORT,
    "minProperties": _TOO_SHORT,
    "propertyNames": ("{value} is no name for a field here", ""),
}
"""Validation keyword -> message and mend, with the value and the keyword's own value."""


@cached_per_folders
def validator_of(urn: str) -> Draft202012Validator | None:
    """Return the validator of a schema, which may refer to any other; None if there is no such schema."""
    from jsonschema import Draft202012Validator  # slow to import
    from referencing import Registry
    from referencing.jsonschema import DRAFT202012

    all_schemas = schemas()
    if urn not in all_schemas:
        return None
    resources = ((name, DRAFT202012.create_resource(schema)) for name, schema in all_schemas.items())
    registry: Registry[Json] = Registry().with_resources(resources)
    return Draft202012Validator(all_schemas[urn], registry=registry, format_checker=Draft202012Validator.FORMAT_CHECKER)


def surfaces_with_envelope() -> list[str]:
    """List the surfaces that have an envelope."""
    return [urn.removeprefix(envelope_id("")) for urn in schemas() if urn.startswith(envelope_id(""))]
