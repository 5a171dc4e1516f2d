"""Applies the table of inconclusive rules to an observation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Outcome, Reason
from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.probes.judging.inconclusive.moments import is_about_a_limit
from catalog_probe.probes.judging.inconclusive.rule import Rule, Sees
from catalog_probe.probes.judging.inconclusive.table import RULES
from catalog_probe.probes.judging.verdicts.record_verdict import retract

if TYPE_CHECKING:
    from catalog_probe.probes.judging.inconclusive.evidence import Evidence
    from catalog_probe.probes.judging.verdicts.verdict import Verdict

_WITHIN_ATTEMPT = frozenset({Sees.ANSWER, Sees.ATTEMPT})


def apply_rules(evidence: Evidence, sees: Sees, rules: Iterable[Rule] = RULES) -> Verdict:
    """Return the verdict that is left once the rules that need to see so much were asked.

    A rule that takes back for good wins over one that postpones. Between two of a kind the first in the table tells the
    reason.
    """
    found = [
        (rule, reason) for rule in rules if rule.sees is sees and (reason := _find_reason(rule, evidence)) is not None
    ]
    if not found:
        return evidence.verdict
    rule, reason = next((each for each in found if not each[0].postpones), found[0])
    return _call_inconclusive(rule, reason, evidence)


def find_reason(evidence: Evidence, rules: Iterable[Rule]) -> Reason | None:
    """Return the first reason for which an answer says nothing, or None: for controls, look-ups and setups."""
    return next((reason for rule in rules if (reason := _find_reason(rule, evidence)) is not None), None)


def _find_reason(rule: Rule, evidence: Evidence) -> Reason | None:
    if rule.live_only and not evidence.live:
        return None
    if evidence.verdict.outcome is Outcome.CONFORMS and not rule.also_matches:
        return None
    reason = rule.find(evidence)
    return None if reason is None or is_about_a_limit(evidence, reason) else reason


def _call_inconclusive(rule: Rule, reason: Reason, evidence: Evidence) -> Verdict:
    if rule.sees in _WITHIN_ATTEMPT:  # so that a person can repeat the request
        where = f"{evidence.request.method} {evidence.request.url}"
        reason = Reason(reason.code, f"{where}: {reason.detail}" if reason.detail else where)
    if rule.postpones:
        return replace(evidence.verdict, outcome=Outcome.INCONCLUSIVE, reason=reason)
    outcome = Outcome.RESTRICTED if reason.code == ReasonCode.PROBE_REFUSED else Outcome.INCONCLUSIVE
    return replace(retract(evidence.verdict, reason), outcome=outcome, has_unknown_trigger=rule.is_no_gap)
