"""The verdict on a record, from those on its cells: each label on each endpoint that was asked."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Outcome, Reason, Severity
from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.probes.judging.comparison.merged import merged
from catalog_probe.probes.judging.verdicts.not_observed import not_observed
from catalog_probe.probes.judging.verdicts.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from catalog_probe.catalog.model import Finding
    from catalog_probe.catalog.model.observation import Observation
    from catalog_probe.probes.judging.verdicts.cells import Place

_WITHOUT_VERDICT = (Outcome.INCONCLUSIVE, Outcome.RESTRICTED)
"""What a label that conforms nowhere makes of its record, the gravest first."""

ONLY_ASSUMED = Reason(ReasonCode.NOTHING_OBSERVED, "all that was seen as stated is assumed")

_SEEN = frozenset({Outcome.CONFORMS, Outcome.DRIFTED})


def record_verdict(cells: Mapping[Place, Verdict]) -> Verdict:
    """A drift of one cell is the record's; a label that conforms on one endpoint was looked at.

    Beside a drift, what no attempt confirmed in another cell is no finding of it: it was not seen.
    """
    outcome, reason = _together(cells)
    told = {place: _unconfirmed(each) if outcome in _SEEN else each for place, each in cells.items()}
    findings = merged((_endpoint(place, each), each.findings) for place, each in told.items())
    beside = tuple(_unseen_beside(cells)) if outcome in _SEEN else ()
    observations = tuple(observation for each in told.values() for observation in each.observations)
    return Verdict(outcome, reason, (*findings, *beside), observations, cells)


def take_back(verdict: Verdict, reason: Reason) -> Verdict:
    """Return a verdict that observed nothing for this reason; what is told beside the statements stays."""
    notes = tuple(each for each in verdict.findings if each.severity is Severity.INFO and not each.assertion)
    observations = tuple(_blank(observation, str(reason.code)) for observation in verdict.observations)
    return Verdict(Outcome.INCONCLUSIVE, reason, notes, observations)


def _together(cells: Mapping[Place, Verdict]) -> tuple[Outcome, Reason | None]:
    broken = next((each for each in cells.values() if each.outcome is Outcome.HARNESS_ERROR), None)
    if broken is not None:
        return broken.outcome, broken.reason
    if any(each.outcome is Outcome.DRIFTED for each in cells.values()):
        return Outcome.DRIFTED, None
    conforming = {label for (label, _), each in cells.items() if each.outcome is Outcome.CONFORMS}
    left = [each for (label, _), each in cells.items() if label not in conforming]
    if conforming:
        left = [each for each in left if not _is_no_gap(each)]
    left += [each for each in cells.values() if each.outcome is Outcome.FLAKY]
    for outcome in (Outcome.FLAKY, *_WITHOUT_VERDICT):
        found = next((each for each in left if each.outcome is outcome), None)
        if found is not None:
            return outcome, found.reason
    if not any(each.outcome is Outcome.CONFORMS and each.shows_documented for each in cells.values()):
        return Outcome.INCONCLUSIVE, ONLY_ASSUMED
    return Outcome.CONFORMS, None


def _is_no_gap(verdict: Verdict) -> bool:
    """Whether no run like this one can see the label: it is of another revision, or we do not know what provokes it."""
    of_another_revision = verdict.reason is not None and verdict.reason.code == ReasonCode.ANOTHER_REVISION
    return verdict.untriggered or of_another_revision


def _unconfirmed(verdict: Verdict) -> Verdict:
    """A verdict that says what was seen has no reason."""
    return verdict if verdict.reason is None else take_back(verdict, verdict.reason)


def _unseen_beside(cells: Mapping[Place, Verdict]) -> Iterator[Finding]:
    """The cells without a verdict, where the same label has one on another endpoint."""
    seen = {label for (label, _), each in cells.items() if each.outcome in _SEEN}
    for (label, endpoint), each in cells.items():
        if each.reason is not None and (label in seen or _is_no_gap(each)):
            yield not_observed(label, each.reason, *filter(None, [endpoint]))


def _endpoint(place: Place, verdict: Verdict) -> str:
    return verdict.observations[0].endpoint if verdict.observations else place[1]


def _blank(observation: Observation, code: str) -> Observation:
    keys = (*observation.matched, *observation.mismatched)
    return replace(
        observation, matched=(), mismatched={}, not_observed={**observation.not_observed, **dict.fromkeys(keys, code)}
    )
