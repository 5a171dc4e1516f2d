"""The causes behind a run's drifts: what one change at a provider made differ in many records is told once. Pure."""

from __future__ import annotations

import hashlib
import json
import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence.drift_identity import ABSENT, cause_key
from catalog_probe.catalog.evidence.drift_identity import CauseKey as Shared
from catalog_probe.catalog.text.phrases import quote_if_ambiguous, shorten

if TYPE_CHECKING:
    from collections.abc import Iterable

    from catalog_probe.catalog.evidence.results import Result
    from catalog_probe.catalog.model import Finding

DIGITS = 8
"""Of the digest in a cause's id."""

_ID = re.compile(rf"[a-z][a-z0-9]*-[0-9a-f]{{{DIGITS}}}")
_SHORT = 60
"""Characters of a value in the words of a cause."""


@dataclass(frozen=True, slots=True)
class Drift:
    """One difference of one record that belongs to a cause."""

    record: str
    finding: Finding


@dataclass(frozen=True, slots=True)
class Cause:
    """The drifts that share provider, aspect, place, documented and observed class."""

    shared: Shared
    drifts: tuple[Drift, ...]

    @property
    def id(self) -> str:
        """`pa-3f2a9c01`: it stays from night to night, for it holds nothing that one night only has."""
        return cause_id(self.shared)

    @property
    def provider(self) -> str:
        return self.shared[0]

    @property
    def records(self) -> tuple[str, ...]:
        """The addresses of the records that it made drift, each once, in order."""
        return tuple(sorted({each.record for each in self.drifts}))

    @property
    def endpoints(self) -> tuple[str, ...]:
        """The addresses of the endpoints on which it was seen, as far as findings name them."""
        return tuple(sorted({endpoint for each in self.drifts for endpoint in each.finding.endpoints}))

    @property
    def assertions(self) -> tuple[str, ...]:
        """The ids of the assertions that were seen otherwise: `<address>#<key>`."""
        found = {f"{each.record}#{each.finding.assertion}" for each in self.drifts if each.finding.assertion}
        return tuple(sorted(found))

    @property
    def what(self) -> str:
        """What differs: `status`, `header retry-after`, `body /data`."""
        return f"{self.shared[1]} {self.shared[2]}".strip()

    @property
    def code(self) -> str:
        """The code of its finding."""
        return self.drifts[0].finding.code

    @property
    def in_words(self) -> str:
        """One line: what was documented, and what was seen; where that moves, the class of it."""
        told = {each.finding.message for each in self.drifts}
        if len(told) == 1:
            return told.pop()
        documented = json.loads(self.shared[3])
        seen = {json.dumps(each.finding.observed) for each in self.drifts}
        observed = self.drifts[0].finding.observed if len(seen) == 1 else self.shared[4]
        stated = ABSENT if documented is None else shorten(quote_if_ambiguous(documented, observed), _SHORT)
        return f"{self.what}: documented {stated}, observed {shorten(quote_if_ambiguous(observed, documented), _SHORT)}"


def cause_id(shared: Shared) -> str:
    """The id of what drifts share."""
    digest = hashlib.sha256(json.dumps(shared).encode()).hexdigest()
    return f"{shared[0]}-{digest[:DIGITS]}"


def is_cause_id(text: str) -> bool:
    """Whether a text reads like the id of a cause."""
    return _ID.fullmatch(text) is not None


def find_causes(results: Iterable[Result]) -> tuple[Cause, ...]:
    """Every cause of these results, that of the most records first; the order of the results does not matter.

    Those of the same records stand together, a status first: it explains what else of such an answer is otherwise.
    """
    found: dict[Shared, list[Drift]] = defaultdict(list)
    for result in results:
        for finding in result.drifts:
            found[cause_key(result.address.provider, finding)].append(Drift(result.record, finding))
    made = (Cause(shared, tuple(sorted(drifts, key=_order))) for shared, drifts in found.items())
    return tuple(sorted(made, key=_widest_first))


def _widest_first(cause: Cause) -> tuple[int, str, tuple[str, ...], bool, Shared]:
    return -len(cause.records), cause.provider, cause.records, cause.what != "status", cause.shared


def _order(drift: Drift) -> tuple[str, str, str]:
    return drift.record, drift.finding.label, drift.finding.assertion
