"""Weighs each difference by the basis of its assertion. Pure.

- A difference from a *documented* assertion is a drift (severity `must`).
- A difference from an *assumption* resolves the assumption (severity `should`). If the assumption was resolved before,
  and so again now, that is no news (severity `info`).
- A difference to a documented *alternative* conforms.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence.causes import ABSENT, observed_class
from catalog_probe.catalog.model import Aspect, Finding, Json, Severity
from catalog_probe.catalog.model.assertion import Basis
from catalog_probe.catalog.model.outcome import FindingCode

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from catalog_probe.catalog.model.assertion import Assertion
    from catalog_probe.catalog.reading.expectations import Expected

_ENVELOPE_ASPECTS = frozenset({"type", "code", "param", "message"})


def weigh_findings(expected: Expected, findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yield the findings with the severity that their basis gives them.

    Another answer than the documented one, by its status or as text in place of JSON, resolves no assumption on the
    documented answer: these differences are dropped. Example: a 410 in place of a documented 404, whose body has
    another type than the assumed one -> the drift of the status alone.
    """
    weighed = list(_weigh_each(expected, findings))
    is_another_answer = has_foreign_body(weighed) or any(
        finding.assertion == f"{expected.label}/status" and finding.is_drift for finding in weighed
    )
    for finding in _demote_repeated_shapes(expected, weighed):
        if not (is_another_answer and finding.severity is Severity.SHOULD):
            yield finding


def has_foreign_body(findings: Iterable[Finding]) -> bool:
    """Whether text came where JSON is documented."""
    return any(finding.code == FindingCode.BODY_MALFORMED and finding.is_drift for finding in findings)


def is_no_refusal(status: Json) -> bool:
    """Whether an HTTP status is below 400. False for an answer without a status."""
    return isinstance(status, int) and status < 400


def _weigh_each(expected: Expected, findings: Iterable[Finding]) -> Iterator[Finding]:
    for finding in findings:
        assertion = expected.assertions.get(finding.assertion)
        if assertion is None or finding.severity is not Severity.MUST:
            yield finding
        elif finding.code == FindingCode.BODY_MALFORMED:
            # Which shape a body has may be assumed. That the interfaces are HTTP with JSON is documented (1:1).
            yield finding
        elif finding.observed in assertion.alternatives:
            continue  # it conforms
        elif _is_resolved(finding, assertion):
            assumed = replace(finding.difference, is_assumed=True)
            yield replace(finding, severity=Severity.INFO, remark=f"{assumed}, as it was resolved")
        elif _is_assumed(expected, finding, assertion) and not _turns_success_and_refusal(finding, assertion):
            yield replace(finding, severity=Severity.SHOULD, remark="")
        else:
            yield finding


def _is_resolved(finding: Finding, assertion: Assertion) -> bool:
    """Whether the difference is the one by which the assumption was resolved: reported then, and no news now."""
    return assertion.resolved != "" and assertion.resolved == observed_class(finding)


def _is_assumed(expected: Expected, finding: Finding, assertion: Assertion) -> bool:
    """Whether the difference is from something that we assumed, and not from something documented."""
    if assertion.is_only_location_assumed:
        # The value is documented: it may be missing here, but another value in its place is a drift.
        is_missing = finding.code == FindingCode.VALUES_MISSING and finding.observed == ABSENT
        return is_missing or finding.code == FindingCode.FIELD_MISSING
    if assertion.basis is Basis.ASSUMED:
        return True
    # If the shape of the whole body is assumed, so is each location in it.
    shape = expected.assertions.get(f"{expected.label}/body")
    is_shape_assumed = shape is not None and shape.basis is Basis.ASSUMED
    aspect, location = assertion.key.aspect, assertion.key.location
    is_in_envelope = aspect in _ENVELOPE_ASPECTS or (aspect == "status" and location != "")
    is_in_body = is_in_envelope or finding.code == FindingCode.VALUE_NOWHERE
    return is_shape_assumed and is_in_body and finding.observed == ABSENT


def _turns_success_and_refusal(finding: Finding, assertion: Assertion) -> bool:
    """Whether a success came for a refusal, or a refusal for a success: a drift, even if the status is assumed.

    The number of a refusal's status may be assumed, but the documents say that it is a refusal.
    """
    if finding.aspect is not Aspect.STATUS or finding.assertion.partition("/")[2] != "status":
        return False
    return is_no_refusal(finding.observed) != is_no_refusal(assertion.documented)


def _demote_repeated_shapes(expected: Expected, findings: Iterable[Finding]) -> list[Finding]:
    """Make a finding on the body's shape a note if a drift at the same location says it better.

    Example: "`$.error.type` is not of the enumeration" beside "type: documented `billing_error`, observed `teapot`".
    """
    findings = tuple(findings)
    pointers = {_find_pointer(expected, finding) for finding in findings if finding.is_drift}
    # A shape has a JSON path and no pointer; `$[0]` is the body that came in an array (2:7.1).
    paths = {f"{root}{pointer.replace('/', '.')}" for pointer in pointers if pointer for root in ("$", "$[0]")}
    return [
        replace(finding, severity=Severity.INFO, remark=finding.message)
        if finding.code == FindingCode.BODY_SHAPE and finding.location in paths
        else finding
        for finding in findings
    ]


def _find_pointer(expected: Expected, finding: Finding) -> str:
    """Return where in a body a finding lies; empty if it lies elsewhere."""
    local_key = finding.assertion.partition("/")[2]
    pointer = expected.envelope.wire.get(local_key, finding.location)
    return pointer if pointer.startswith("/") else ""
