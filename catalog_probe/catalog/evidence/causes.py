"""Drifts: which are the same from night to night, and which share one cause.

The assertion says what differs, without any value: `answer/status`, `answer/header:retry-after`. The observed class
says how it differs: the value itself for aspects with few values (status, type, code, param, close), else `absent`,
`malformed` or `out-of-range`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.files.manifest import manifest, providers
from catalog_probe.catalog.model import Aspect, Finding, Json
from catalog_probe.catalog.model.outcome import FindingCode

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from catalog_probe.catalog.evidence.results import Result
    from catalog_probe.catalog.model.outcome import Difference


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
    """Return what drifts with one cause share: provider, aspect, location, documented value, observed class.

    A gRPC status counts as the HTTP status that it corresponds to: `5 -> 3` is the change `404 -> 400` of the same API.
    """
    finding = _as_http(provider, finding)
    return provider, str(finding.aspect), finding.location, _json(finding.documented), observed_class(finding)


def _as_http(provider: str, finding: Finding) -> Finding:
    """Return a difference of gRPC statuses as the one over HTTP; as it is if HTTP could not tell the two apart."""
    if finding.code != FindingCode.GRPC_STATUS_DIFFERS or provider not in providers():
        return finding
    statuses = manifest(provider).grpc
    documented, observed = (_find_status(statuses, value) for value in (finding.documented, finding.observed))
    if documented is None or observed is None or documented == observed:
        return finding
    return replace(finding, location="", documented=documented, observed=observed)


def _find_status(statuses: Mapping[int, int], grpc_status: Json) -> int | None:
    return statuses.get(grpc_status) if isinstance(grpc_status, int) else None


def _json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)


CAUSE_ID_DIGITS = 8  # of the digest in a cause's id

_ID = re.compile(rf"[a-z][a-z0-9]*-[0-9a-f]{{{CAUSE_ID_DIGITS}}}")


@dataclass(frozen=True, slots=True)
class Drift:
    """One difference of one record that belongs to a cause."""

    record: str
    finding: Finding


@dataclass(frozen=True, slots=True)
class Cause:
    """The drifts that share provider, aspect, location, documented value and observed class."""

    key: CauseKey
    drifts: tuple[Drift, ...]

    @property
    def id(self) -> str:
        """The permanent id, such as `pa-3f2a9c01`: a digest of the key, so it is equal in every night."""
        return cause_id(self.key)

    @property
    def provider(self) -> str:
        return self.key[0]

    @property
    def records(self) -> tuple[str, ...]:
        """The addresses of the records that drift, sorted."""
        return tuple(sorted({drift.record for drift in self.drifts}))

    @property
    def endpoints(self) -> tuple[str, ...]:
        """The addresses of the endpoints that showed a drift, as far as findings name them."""
        return tuple(sorted({endpoint for drift in self.drifts for endpoint in drift.finding.endpoints}))

    @property
    def code(self) -> str:
        """The code of its finding; that of the HTTP status if gRPC shows the same change."""
        return self.shown_finding.code

    @property
    def difference(self) -> Difference:
        """The documented and the observed value; the observed class if the drifts show several values."""
        finding = self.shown_finding
        observed_values = {
            json.dumps(drift.finding.observed) for drift in self.drifts if drift.finding.code == finding.code
        }
        observed = finding.observed if len(observed_values) == 1 else observed_class(finding)
        return replace(finding, observed=observed).difference

    @property
    def shown_finding(self) -> Finding:
        """The finding that stands for all; that over HTTP if gRPC shows the same change."""
        findings = [drift.finding for drift in self.drifts]
        return next((finding for finding in findings if finding.code != FindingCode.GRPC_STATUS_DIFFERS), findings[0])

    @property
    def summary(self) -> str:
        """The difference in one line: `status: documented 400, observed 500`."""
        return str(self.difference)


def cause_id(key: CauseKey) -> str:
    """Return the id of the cause with this key."""
    digest = hashlib.sha256(json.dumps(key).encode()).hexdigest()
    return f"{key[0]}-{digest[:CAUSE_ID_DIGITS]}"


def is_cause_id(text: str) -> bool:
    """Whether a text has the form of a cause id."""
    return _ID.fullmatch(text) is not None


def find_causes(results: Iterable[Result]) -> tuple[Cause, ...]:
    """Group the drifts of these results by cause, the cause with most records first.

    The order of the results does not matter.
    """
    drifts_by_key: dict[CauseKey, list[Drift]] = defaultdict(list)
    for result in results:
        for finding in result.drifts:
            drifts_by_key[cause_key(result.address.provider, finding)].append(Drift(result.record, finding))
    causes = [Cause(key, tuple(sorted(drifts, key=_drift_order))) for key, drifts in drifts_by_key.items()]
    return tuple(sorted(causes, key=_cause_order))


def _cause_order(cause: Cause) -> tuple[int, str, tuple[str, ...], bool, CauseKey]:
    # Among causes of the same records the status comes first: it explains the other differences of that answer.
    return -len(cause.records), cause.provider, cause.records, cause.difference.subject != "status", cause.key


def _drift_order(drift: Drift) -> tuple[str, str, str]:
    return drift.record, drift.finding.label, drift.finding.assertion
