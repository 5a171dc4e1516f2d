"""Which assertions hold under the API revision that a request was asked under. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from catalog_probe.catalog.files.manifest import manifest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from catalog_probe.catalog.model import Finding, Request
    from catalog_probe.catalog.model.assertion import Assertion
    from catalog_probe.catalog.reading.expectations import Expected


def assertions_of_other_revisions(expected: Expected, request: Request) -> frozenset[str]:
    """Return the keys of the assertions that do not hold under the request's revision; nearly always none."""
    return frozenset(
        key
        for key, assertion in expected.assertions.items()
        if (assertion.since or assertion.until) and not _holds(assertion, expected.provider, request)
    )


def drop_other_revisions(findings: Iterable[Finding], expected: Expected, request: Request) -> Iterator[Finding]:
    """Yield the findings without those on assertions of other revisions."""
    findings = tuple(findings)
    keys = assertions_of_other_revisions(expected, request) if findings else frozenset()
    return (finding for finding in findings if finding.assertion not in keys)


def _holds(assertion: Assertion, provider: str, request: Request) -> bool:
    revisions = manifest(provider).revisions
    if revisions is None:
        return True
    headers = {name.lower(): value for name, value in request.headers.items()}
    revision = revisions.selected_by(urlsplit(request.url).path, headers) or revisions.default
    return revisions.is_in_force(assertion.since, assertion.until, revision)
