"""Causes of drifts: drifts of many records that one change at the provider explains. Pure."""

from __future__ import annotations

import hashlib
import json
import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence.drift_identity import ABSENT, CauseKey, cause_key
from catalog_probe.catalog.text.phrases import quote_if_ambiguous, shorten

if TYPE_CHECKING:
    from collections.abc import Iterable

    from catalog_probe.catalog.evidence.results import Result
    from catalog_probe.catalog.model import Finding

DIGITS = 8  # of the digest in a cause's id

_ID = re.compile(rf"[a-z][a-z0-9]*-[0-9a-f]{{{DIGITS}}}")
_MAX_VALUE = 60  # characters of a value in a summary


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
    def what(self) -> str:
        """What differs: `status`, `header retry-after`, `body /data`."""
        return f"{self.key[1]} {self.key[2]}".strip()

    @property
    def code(self) -> str:
        """The code of its finding."""
        return self.drifts[0].finding.code

    @property
    def summary(self) -> str:
        """One line with the documented and the observed value; the observed class if the drifts show several values."""
        messages = {drift.finding.message for drift in self.drifts}
        if len(messages) == 1:
            return messages.pop()
        documented = json.loads(self.key[3])
        observed_values = {json.dumps(drift.finding.observed) for drift in self.drifts}
        observed = self.drifts[0].finding.observed if len(observed_values) == 1 else self.key[4]
        documented_text = (
            ABSENT if documented is None else shorten(quote_if_ambiguous(documented, observed), _MAX_VALUE)
        )
        observed_text = shorten(quote_if_ambiguous(observed, documented), _MAX_VALUE)
        return f"{self.what}: documented {documented_text}, observed {observed_text}"


def cause_id(key: CauseKey) -> str:
    """Return the id of the cause with this key."""
    digest = hashlib.sha256(json.dumps(key).encode()).hexdigest()
    return f"{key[0]}-{digest[:DIGITS]}"


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
    return -len(cause.records), cause.provider, cause.records, cause.what != "status", cause.key


def _drift_order(drift: Drift) -> tuple[str, str, str]:
    return drift.record, drift.finding.label, drift.finding.assertion
