"""What an answer holds beyond the documents: told as `info`, and candidates for LIVE_DISCOVERED."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from catalog_probe.catalog.envelopes.projection import wire_values
from catalog_probe.catalog.model import Aspect, Finding, Json, Response, Severity
from catalog_probe.catalog.model.codes import FindingCode
from catalog_probe.catalog.recognition.known import ORDINARY_HEADERS, Known
from catalog_probe.catalog.text.json_tree import iterate_repeated_members

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from catalog_probe.catalog.reading.expected import Expected


MOST = 100
"""Headers, and fields, of one answer that are told: one of a hundred thousand names tells nothing by them."""


def seen_on_the_way(expected: Expected, response: Response, known: Known) -> Iterator[Finding]:
    """The headers, envelope fields and error codes of an answer that no record of its provider names."""
    yield from repeated_names(expected, response)
    for name in sorted(response.headers.keys() - known.headers - ORDINARY_HEADERS)[:MOST]:
        yield _info(expected, FindingCode.UNDOCUMENTED_HEADER, Aspect.HEADER, name, response.headers[name])
    for pointer, value in islice(_extra_fields(expected.envelope.schema, response.body, ""), MOST):
        yield _info(expected, FindingCode.UNDOCUMENTED_FIELD, Aspect.BODY, pointer, value)
    if (response.status or 0) >= 400:
        wire = wire_values(expected.envelope, response.body)
        for aspect, documented in (("type", known.types), ("code", known.codes)):
            value = wire.get(aspect)
            if isinstance(value, str) and value not in documented:
                yield _info(expected, FindingCode.UNDOCUMENTED_CODE, Aspect(aspect), aspect, value)


def repeated_names(expected: Expected, response: Response) -> Iterator[Finding]:
    """The names that a JSON object of an answer has more than once: no document says that one may (RFC 8259, 4)."""
    received = [response.body, *(event.data for event in response.events or () if not event.sent)]
    found = {pointer: value for each in received for pointer, value in iterate_repeated_members(each)}
    for pointer, value in islice(found.items(), MOST):
        yield _info(expected, FindingCode.DUPLICATE_NAME, Aspect.BODY, pointer, value, "more than once in its object")


def _extra_fields(schema: Mapping[str, Json], body: Json, place: str) -> Iterator[tuple[str, Json]]:
    """Fields of an object that its schema lists no property for; only where the schema lists any."""
    properties = schema.get("properties")
    if not isinstance(body, dict) or not isinstance(properties, dict):
        return
    for name, value in body.items():
        inner = properties.get(name)
        if inner is None:
            yield f"{place}/{name}", value
        elif isinstance(inner, dict):
            yield from _extra_fields(inner, value, f"{place}/{name}")


NEW = "not named by the documents"


def _info(expected: Expected, code: FindingCode, aspect: Aspect, at: str, observed: Json, words: str = NEW) -> Finding:
    shown = observed if not isinstance(observed, dict | list) else type(observed).__name__
    return Finding(
        code=code,
        aspect=aspect,
        severity=Severity.INFO,
        message=f"{at}: {words}",
        label=expected.label,
        location=at,
        observed=shown,
    )
