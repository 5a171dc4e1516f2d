"""Applies the table of inconclusive rules to an observation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Outcome, Reason
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.probes.judging.inconclusive.rule import Rule, RuleScope
from catalog_probe.probes.judging.inconclusive.table import RULES
from catalog_probe.probes.judging.inconclusive.transient import is_requested_limit
from catalog_probe.probes.judging.verdicts.record_verdict import retract

if TYPE_CHECKING:
    from catalog_probe.probes.judging.inconclusive.evidence import Evidence
    from catalog_probe.probes.judging.verdicts.verdict import Verdict


def apply_rules(evidence: Evidence, scope: RuleScope, rules: Iterable[Rule] = RULES) -> Verdict:
    """Return the verdict after all rules of one scope.

    A rule that retracts for good wins over one that postpones. Of two alike, the first in the table gives the reason.
    """
    final: list[tuple[Rule, Reason]] = []
    postponed: list[tuple[Rule, Reason]] = []
    for rule in rules:
        reason = _find_reason(rule, evidence) if rule.scope is scope else None
        if reason is None:
            continue
        is_limit = is_requested_limit(evidence, reason)
        if is_limit and evidence.verdict.outcome is Outcome.CONFORMS:
            continue
        (postponed if rule.postpones or is_limit else final).append((rule, reason))
    if not final and not postponed:
        return evidence.verdict
    rule, reason = (final or postponed)[0]
    return _make_inconclusive(rule, reason, evidence, postpones=not final)


def find_reason(evidence: Evidence, rules: Iterable[Rule]) -> Reason | None:
    """Return the first reason for which an answer shows nothing, or None. For controls, look-ups and setups."""
    return next((reason for rule in rules if (reason := _find_reason(rule, evidence)) is not None), None)


def _find_reason(rule: Rule, evidence: Evidence) -> Reason | None:
    if rule.live_only and not evidence.live:
        return None
    if evidence.verdict.outcome is Outcome.CONFORMS and not rule.also_matches:
        return None
    return rule.find(evidence)


def _make_inconclusive(rule: Rule, reason: Reason, evidence: Evidence, *, postpones: bool) -> Verdict:
    if rule.scope is not RuleScope.KEY:  # name the request, so that a person can repeat it
        request = f"{evidence.request.method} {evidence.request.url}"
        reason = Reason(reason.code, f"{request}: {reason.detail}" if reason.detail else request)
    if postpones:
        return replace(evidence.verdict, outcome=Outcome.INCONCLUSIVE, reason=reason)
    outcome = Outcome.RESTRICTED if reason.code == ReasonCode.PROBE_REFUSED else Outcome.INCONCLUSIVE
    return replace(retract(evidence.verdict, reason), outcome=outcome, has_unknown_trigger=rule.leaves_no_gap)
