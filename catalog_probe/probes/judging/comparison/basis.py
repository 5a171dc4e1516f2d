"""Weighs differences by what they differ from: a documented assertion, an assumption of ours, or a choice left open."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence.drift_identity import ABSENT, observed_class
from catalog_probe.catalog.model import Aspect, Finding, Json, Severity
from catalog_probe.catalog.model.assertion import Basis
from catalog_probe.catalog.model.codes import FindingCode

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from catalog_probe.catalog.model.assertion import Assertion
    from catalog_probe.catalog.reading.expected import Expected


def weighed(expected: Expected, findings: Iterable[Finding]) -> Iterator[Finding]:
    """The findings by their basis. Another member of documented alternatives conforms, so it is no finding.

    What differs from an assumption is `should`, and worded as that: it settles the assumption and is no drift. Of
    another answer than the stated one it is no finding: that one settles nothing that is assumed of the stated one.
    """
    found = list(_each_weighed(expected, findings))
    other = any(finding.assertion == f"{expected.label}/status" and finding.is_drift for finding in found)
    other = other or is_foreign(found)
    found = _each_place_once(expected, found)
    return (finding for finding in found if not (other and finding.severity is Severity.SHOULD))


def _each_place_once(expected: Expected, found: Iterable[Finding]) -> list[Finding]:
    """The findings; of the shape of a body, one is no drift at a place of which another is, that tells it better."""
    found = tuple(found)
    told = {_pointer(expected, each) for each in found if each.is_drift}  # a shape is at a path, and no pointer
    paths = {f"{root}{pointer.replace('/', '.')}" for pointer in told if pointer for root in ("$", "$[0]")}
    return [
        replace(each, severity=Severity.INFO)
        if each.code == FindingCode.BODY_SHAPE and each.location in paths
        else each
        for each in found
    ]


def _pointer(expected: Expected, finding: Finding) -> str:
    """Where in a body a finding lies, or an empty text."""
    pointer = expected.envelope.wire.get(finding.assertion.partition("/")[2], finding.location)
    return pointer if pointer.startswith("/") else ""


def is_foreign(findings: Iterable[Finding]) -> bool:
    """Whether a text came where JSON is documented: its status too is none of the stated answer's."""
    return any(finding.code == FindingCode.BODY_MALFORMED and finding.is_drift for finding in findings)


def _each_weighed(expected: Expected, findings: Iterable[Finding]) -> Iterator[Finding]:
    for finding in findings:
        assertion = expected.assertions.get(finding.assertion)
        if assertion is None or finding.severity is not Severity.MUST or finding.code in _NEVER_ASSUMED:
            yield finding
        elif finding.observed in assertion.alternatives:
            continue
        elif _is_known(finding, assertion):
            yield replace(finding, severity=Severity.INFO, message=f"{_as_assumed(finding)}, as it was resolved")
        elif _is_assumed(expected, finding, assertion) and not _is_another_outcome(finding, assertion):
            yield replace(finding, severity=Severity.SHOULD, message=_as_assumed(finding))
        else:
            yield finding


def _as_assumed(finding: Finding) -> str:
    return finding.message.replace(": documented ", ": assumed ", 1)


_NEVER_ASSUMED = frozenset({FindingCode.BODY_MALFORMED})
"""Which shape a body has may be assumed; that these are HTTP/JSON interfaces is what the documents say (1:1)."""


def _is_assumed(expected: Expected, finding: Finding, assertion: Assertion) -> bool:
    """Whether the difference is from what we assumed.

    Nothing need stand at a place that we assumed; what stands there, an empty list too, may not be another value than
    the documents state. Where the shape of the whole body is assumed, so is every place in it.
    """
    if assertion.is_only_location_assumed:
        missing = finding.code == FindingCode.VALUES_MISSING and finding.observed == ABSENT
        return missing or finding.code == FindingCode.FIELD_MISSING
    if assertion.basis is Basis.ASSUMED:
        return True
    shape = expected.assertions.get(f"{expected.label}/body")
    in_the_body = assertion.key.aspect in _IN_THE_BODY or (assertion.key.aspect == "status" and assertion.key.location)
    is_assumed = shape is not None and shape.basis is Basis.ASSUMED
    return bool(is_assumed and in_the_body and finding.observed == ABSENT)


_IN_THE_BODY = frozenset({"type", "code", "param", "message"})


def _is_known(finding: Finding, assertion: Assertion) -> bool:
    """Whether this is what the assumption turned out to be when it was settled: told then, and no news now."""
    return assertion.resolved != "" and assertion.resolved == observed_class(finding)


def _is_another_outcome(finding: Finding, assertion: Assertion) -> bool:
    """Whether a success came for a refusal, or the other way round.

    Which status a refusal has may be assumed; that it is one is what the documents say when they call it so.
    """
    if finding.aspect is not Aspect.STATUS or finding.assertion.partition("/")[2] != "status":
        return False
    return succeeds(finding.observed) != succeeds(assertion.documented)


def succeeds(status: Json) -> bool:
    """Whether an HTTP status is none of a refusal."""
    return isinstance(status, int) and status < 400
