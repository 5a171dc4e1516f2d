"""Identity of a drift from night to night: its assertions, each with its observed class.

The assertion says what differs, without any value: `answer/status`, `answer/header:retry-after`. The observed class
says how it differs: the value itself for aspects with few values (status, type, code, param, close), else `absent`,
`malformed` or `out-of-range`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Aspect, Finding, Json
from catalog_probe.catalog.model.codes import FindingCode

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# Classes instead of values prevent that a text or number that varies from night to night reads as a new drift. They
# hide that such a value changed again while it drifts.
ABSENT, MALFORMED, OUT_OF_RANGE = "absent", "malformed", "out-of-range"

_ASPECTS_WITH_FEW_VALUES = frozenset({Aspect.STATUS, Aspect.TYPE, Aspect.CODE, Aspect.PARAM, Aspect.CLOSE})

_ABSENT_CODES = frozenset(
    {
        FindingCode.HEADER_MISSING,
        FindingCode.FIELD_MISSING,
        FindingCode.EVENT_MISSING,
        FindingCode.STREAM_NOT_STARTED,
        FindingCode.STREAM_UNTERMINATED,
        FindingCode.VALUES_MISSING,
    }
)
_MALFORMED_CODES = frozenset(
    {
        FindingCode.HEADER_MALFORMED,
        FindingCode.BODY_MALFORMED,
        FindingCode.BODY_SHAPE,
        FindingCode.STREAM_MALFORMED,
        FindingCode.PREFIX_DIFFERS,
        FindingCode.PATTERN_DIFFERS,
    }
)

_MAX_CHARACTERS = 100  # of an assertion, and of a value: a hostile answer must not swell the history


def observed_class(finding: Finding) -> str:
    """Return the observed value, or the class of it if the aspect has many values."""
    if finding.aspect in _ASPECTS_WITH_FEW_VALUES:
        return finding.observed if isinstance(finding.observed, str) else _json(finding.observed)
    if finding.code in _ABSENT_CODES or finding.observed in (None, ABSENT):
        return ABSENT
    return MALFORMED if finding.code in _MALFORMED_CODES else OUT_OF_RANGE


def format_drift(finding: Finding) -> str:
    """Format one drift of a record as a string that is stable while the drift lasts: `answer/status 403`."""
    location = f":{finding.location}" if finding.location and finding.location != finding.aspect else ""
    assertion = f"{finding.label}/{finding.aspect}{location}"
    return f"{assertion[:_MAX_CHARACTERS]} {observed_class(finding)[:_MAX_CHARACTERS]}"


def identify_drift(findings: Iterable[Finding]) -> frozenset[str]:
    """Return the drifts among the findings of one record. Two runs with an equal set observed the same drift."""
    return frozenset(format_drift(finding) for finding in findings if finding.is_drift)


def summarize_drift(findings: Iterable[Finding]) -> dict[str, Json]:
    """Return what a history row keeps of a drift: `differs` for `is_same_drift`, and its endpoints, `on`.

    The endpoints are not part of the identity: another night may draw others.
    """
    drifts = [finding for finding in findings if finding.is_drift]
    endpoints = sorted({endpoint for finding in drifts for endpoint in finding.endpoints})
    return {"differs": sorted(identify_drift(drifts)), **({"on": endpoints} if endpoints else {})}


def is_same_drift(findings: Iterable[Finding], summary: Mapping[str, Json]) -> bool:
    """Whether these findings are the drift that a history row has a summary of."""
    return set(summary.get("differs", ())) == identify_drift(findings)


CauseKey = tuple[str, str, str, str, str]


def cause_key(provider: str, finding: Finding) -> CauseKey:
    """Return what drifts with one cause share: provider, aspect, location, documented value, observed class."""
    return provider, str(finding.aspect), finding.location, _json(finding.documented), observed_class(finding)


def _json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
