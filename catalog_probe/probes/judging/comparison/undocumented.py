"""Finds what an answer holds beyond the documents: notes, and candidates for LIVE_DISCOVERED."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from catalog_probe.catalog.envelopes import wire_values
from catalog_probe.catalog.model import Aspect, Finding, Json, Response, Severity
from catalog_probe.catalog.model.outcome import FindingCode
from catalog_probe.catalog.recognition.vocabulary import ORDINARY_HEADERS, ProviderVocabulary
from catalog_probe.catalog.text.json_values import iterate_repeated_members

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from catalog_probe.catalog.reading.expectations import Expected

MAX_NOTES = 100  # of headers, and of fields, of one answer


def find_undocumented(expected: Expected, response: Response, vocabulary: ProviderVocabulary) -> Iterator[Finding]:
    """Note the headers, envelope fields and error codes of an answer that no record of its provider names."""
    yield from find_duplicate_names(expected, response)
    for name in sorted(response.headers.keys() - vocabulary.headers - ORDINARY_HEADERS)[:MAX_NOTES]:
        yield _note(expected, FindingCode.UNDOCUMENTED_HEADER, Aspect.HEADER, name, response.headers[name])
    for pointer, value in islice(_find_extra_fields(expected.envelope.schema, response.body, ""), MAX_NOTES):
        yield _note(expected, FindingCode.UNDOCUMENTED_FIELD, Aspect.BODY, pointer, value)
    if (response.status or 0) >= 400:
        values = wire_values(expected.envelope, response.body)
        for aspect, documented in (("type", vocabulary.types), ("code", vocabulary.codes)):
            value = values.get(aspect)
            if isinstance(value, str) and value not in documented:
                yield _note(expected, FindingCode.UNDOCUMENTED_CODE, Aspect(aspect), aspect, value)


def find_duplicate_names(expected: Expected, response: Response) -> Iterator[Finding]:
    """Note the names that a JSON object of an answer has more than once: no document allows it (RFC 8259, 4)."""
    values = [response.body, *(event.data for event in response.events or () if not event.sent)]
    duplicates = {pointer: member for value in values for pointer, member in iterate_repeated_members(value)}
    for pointer, member in islice(duplicates.items(), MAX_NOTES):
        yield _note(expected, FindingCode.DUPLICATE_NAME, Aspect.BODY, pointer, member, "more than once in its object")


def _find_extra_fields(schema: Mapping[str, Json], body: Json, pointer: str) -> Iterator[tuple[str, Json]]:
    """Yield the fields of an object that its schema does not list, if it lists any."""
    properties = schema.get("properties")
    if not isinstance(body, dict) or not isinstance(properties, dict):
        return
    for name, value in body.items():
        property_schema = properties.get(name)
        if property_schema is None:
            yield f"{pointer}/{name}", value
        elif isinstance(property_schema, dict):
            yield from _find_extra_fields(property_schema, value, f"{pointer}/{name}")


def _note(
    expected: Expected,
    code: FindingCode,
    aspect: Aspect,
    location: str,
    observed: Json,
    description: str = "not named by the documents",
) -> Finding:
    return Finding(
        code=code,
        aspect=aspect,
        severity=Severity.INFO,
        message=f"{location}: {description}",
        label=expected.label,
        location=location,
        observed=type(observed).__name__ if isinstance(observed, dict | list) else observed,
    )
