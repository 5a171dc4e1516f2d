"""When two drifts are the same drift: the same assertions, each seen in the same class of otherwise.

The assertion says what of a record differs, without any value: `answer/status`, `answer/header:retry-after`. The
observed class says how: the value itself for what has few values (status, type, code, param, close), else `absent`,
`malformed` or `out-of-range`, so that a text or a number that moves from night to night is no news.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Aspect, Finding, Json
from catalog_probe.catalog.model.codes import FindingCode

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

ABSENT, MALFORMED, OUT_OF_RANGE = "absent", "malformed", "out-of-range"

_VALUED = frozenset({Aspect.STATUS, Aspect.TYPE, Aspect.CODE, Aspect.PARAM, Aspect.CLOSE})

_ABSENT = frozenset(
    {
        FindingCode.HEADER_MISSING,
        FindingCode.FIELD_MISSING,
        FindingCode.EVENT_MISSING,
        FindingCode.STREAM_NOT_STARTED,
        FindingCode.STREAM_UNTERMINATED,
        FindingCode.VALUES_MISSING,
    }
)
_MALFORMED = frozenset(
    {
        FindingCode.HEADER_MALFORMED,
        FindingCode.BODY_MALFORMED,
        FindingCode.BODY_SHAPE,
        FindingCode.STREAM_MALFORMED,
        FindingCode.PREFIX_DIFFERS,
        FindingCode.PATTERN_DIFFERS,
    }
)

_MAX = 100
"""Characters of an assertion, and of a value: a hostile answer must not swell the history."""

Identity = frozenset[str]


def observed_class(finding: Finding) -> str:
    """How it differs: the value, or a class of values."""
    if finding.aspect in _VALUED:
        return finding.observed if isinstance(finding.observed, str) else _json(finding.observed)
    if finding.code in _ABSENT or finding.observed in (None, ABSENT):
        return ABSENT
    return MALFORMED if finding.code in _MALFORMED else OUT_OF_RANGE


def format_drift(finding: Finding) -> str:
    """One drift of a record, as a string that stays the same while the drift does: `answer/status 403`."""
    place = f":{finding.location}" if finding.location and finding.location != finding.aspect else ""
    return f"{f'{finding.label}/{finding.aspect}{place}'[:_MAX]} {observed_class(finding)[:_MAX]}"


def identify_drift(findings: Iterable[Finding]) -> Identity:
    """All that drifts in one look at a record. Two looks with the same identity saw the same drift."""
    return frozenset(format_drift(finding) for finding in findings if finding.is_drift)


def summarize_drift(findings: Iterable[Finding]) -> dict[str, Json]:
    """What a row of the history keeps of a drift, for `is_as_remembered` to read, and on which endpoints it was seen.

    These are no part of what makes two drifts the same; a night that draws none of them says nothing of it.
    """
    drifts = [each for each in findings if each.is_drift]
    on = sorted({endpoint for each in drifts for endpoint in each.endpoints})
    return {"differs": sorted(identify_drift(drifts)), **({"on": on} if on else {})}


def is_same_drift(findings: Iterable[Finding], kept: Mapping[str, Json]) -> bool:
    """Whether this is the drift that a row of the history kept."""
    return set(kept.get("differs", ())) == identify_drift(findings)


CauseKey = tuple[str, str, str, str, str]


def cause_key(provider: str, finding: Finding) -> CauseKey:
    """What drifts of different records share if one change made them: provider, aspect, place, documented, observed."""
    return provider, str(finding.aspect), finding.location, _json(finding.documented), observed_class(finding)


def _json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
