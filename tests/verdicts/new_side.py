"""Probe what the old side serves with the judge and the recipes of this tree."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING, Any
from unittest import mock

from catalog_probe.catalog.evidence.causes import observed_class
from catalog_probe.catalog.model import Aspect, Finding, Outcome, Severity
from catalog_probe.probes.planning.plan import Depth, Rotation
from catalog_probe.probes.recipes.book import recipe_book
from catalog_probe.probes.targets import target_file as targets
from catalog_probe.probes.targets.target import RunLimits
from tests.harness import captures
from tests.harness.engines import probe
from tests.verdicts.table import TableError, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from catalog_probe.catalog.model import Record

STALL_S = 2.0
"""Seconds until a silent WebSocket is given up, in place of 15: under mutants and faults hundreds are silent."""

NARROWED = frozenset({Aspect.HEADER, Aspect.BODY, Aspect.EVENT, Aspect.RELATION})
"""The aspects of which a cause also names the place."""

LONGEST = 100
"""Characters of an observed value in a cause."""


@dataclass(frozen=True, slots=True)
class InFull(Rotation):
    """All endpoints of some records, the first endpoint of the others."""

    records: frozenset[str] = frozenset()

    def includes(self, record: Record, endpoint: str) -> bool:
        return str(record.address) in self.records


def probe_served(reply: Mapping[str, Any]) -> dict[str, Verdict]:
    """Probe the records that the old side names; those that this tree has no longer are left out."""
    target = targets.load("mock").with_addresses(reply["addresses"]).with_values(reply.get("values", {}))
    settings = reply.get("settings", {})
    limits = {name: value for name, value in settings.items() if name in RunLimits.__dataclass_fields__}
    others = {name: value for name, value in settings.items() if name not in limits}
    changed = {
        name: replace(provider, limits=replace(provider.limits, **limits), **others)
        for name, provider in target.providers.items()
    }
    drawing = InFull(Depth.QUICK, date.min, frozenset(reply["in_full"]))
    records = [address for address in reply["records"] if has_recipe(address)]
    with mock.patch("catalog_probe.probes.wire.websocket.STALL_S", STALL_S):
        results = probe(replace(target, providers=changed), records, drawing=drawing)
    return {
        address: describe_verdict(result.outcome, result.reason.code if result.reason else "", result.findings)
        for address, result in results.items()
    }


def has_recipe(address: str) -> bool:
    """Whether this tree has the record, and a recipe that provokes it."""
    return address in recipe_book(address.partition("/")[0]).recipes


def judge_capture(identity: str) -> dict[str, Verdict]:
    """Judge a recorded answer as an answer to each label of the records of its row.

    Raises:
        TableError: there is no such answer any more.
    """
    capture = next((capture for capture in captures.list_answers() if capture["id"] == identity), None)
    if capture is None:
        raise TableError(f"capture:{identity}: {captures.CAPTURES.name} has no such answer; restore it")
    return {
        f"{record.address}#{expected.label}": describe_verdict(outcome, "", findings)
        for record in captures.find_records(capture)
        for expected, outcome, findings in captures.judge_capture(record, capture)
    }


def list_captures() -> list[str]:
    """The cases of recorded answers; empty where the file beside the checkout is missing."""
    return [f"capture:{capture['id']}" for capture in captures.list_answers()]


def describe_verdict(outcome: Outcome, reason: str, findings: Iterable[Finding]) -> Verdict:
    """Reduce a result to what the table keeps: findings of severity `info` are no part of what was detected."""
    causes = {_describe_cause(finding) for finding in findings if finding.severity is not Severity.INFO}
    return Verdict(str(outcome), reason, tuple(sorted(causes)))


def _describe_cause(finding: Finding) -> str:
    mark = "should " if finding.severity is Severity.SHOULD else ""
    observed = observed_class(finding).encode("unicode_escape").decode().replace(";", ",")[:LONGEST]
    place = f":{finding.location}" if finding.location and finding.aspect in NARROWED else ""
    return f"{mark}{finding.aspect}{place} {finding.code} {observed}".strip()
