"""What of a record holds under the revision that a request was asked under: since one, or until another. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from catalog_probe.catalog.files.manifest import manifest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from catalog_probe.catalog.model import Finding, Request
    from catalog_probe.catalog.model.assertion import Assertion
    from catalog_probe.catalog.reading.expected import Expected


def not_holding(expected: Expected, request: Request) -> frozenset[str]:
    """The keys of the assertions that do not hold under the request's revision: none, of nearly all records."""
    return frozenset(
        key
        for key, each in expected.assertions.items()
        if (each.since or each.until) and not _holds(each, expected.provider, request)
    )


def held(findings: Iterable[Finding], expected: Expected, request: Request) -> Iterator[Finding]:
    """The findings without those of what does not hold under the request's revision."""
    found = tuple(findings)
    gone = not_holding(expected, request) if found else frozenset()
    return (each for each in found if each.assertion not in gone)


def _holds(assertion: Assertion, provider: str, request: Request) -> bool:
    known = manifest(provider).revisions
    if known is None:
        return True
    asked = known.selected_by(
        urlsplit(request.url).path, {name.lower(): value for name, value in request.headers.items()}
    )
    return known.is_in_force(assertion.since, assertion.until, asked or known.default)
