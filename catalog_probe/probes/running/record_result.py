"""Assembles the result of one record from its attempts and its verdict."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence.results import Result
from catalog_probe.catalog.evidence.retention import trim_finding, trim_observation
from catalog_probe.catalog.model import Finding, Outcome, Reason, Record
from catalog_probe.catalog.model.explanations import INCONCLUSIVE, RESTRICTED
from catalog_probe.catalog.model.outcome import FindingCode, ReasonCode
from catalog_probe.probes.judging.verdicts.not_observed import not_observed_finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from catalog_probe.probes.judging.verdicts.verdict import Verdict
    from catalog_probe.probes.recipes.recipe import Recipe
    from catalog_probe.probes.running.task import AttemptHistory, Task
    from catalog_probe.probes.wire.redaction.redactor import Redactor


def make_unprobed_result(record: Record, reason: Reason, recipe: Recipe | None) -> Result:
    """Return the result of a record that is not probed here."""
    return Result(
        record=str(record.address),
        probed_record=record.data,
        outcome=Outcome.INCONCLUSIVE if reason.code in INCONCLUSIVE else Outcome.NOT_PROBED,
        reason=reason,
        lane=recipe.lane if recipe else "",
        cost=str(recipe.cost) if recipe else "",
        trigger=recipe.trigger if recipe else "",
    )


def start_result(task: Task, history: AttemptHistory) -> Result:
    """Return the result of a record without its verdict."""
    labels = {**task.recipe.left_out, **history.missing_labels}
    endpoints = {**task.recipe.endpoint_plan.left_out, **history.missing_endpoints}
    return Result(
        record=str(task.record.address),
        probed_record=task.record.data,
        outcome=Outcome.INCONCLUSIVE,
        findings=tuple(_list_not_observed(labels, endpoints)),
        attempts=tuple(history.attempts),
        observed_at=history.observed_at,
        lane=task.recipe.lane,
        cost=str(task.recipe.cost),
        trigger=task.recipe.trigger,
        not_drawn=task.recipe.endpoint_plan.not_drawn,
    )


def add_verdict(result: Result, verdict: Verdict, *, live: bool) -> Result:
    """Return a result with its verdict.

    On a mock, a record with a lost observation does not conform.
    """
    judged = replace(
        result,
        outcome=verdict.outcome,
        reason=verdict.reason,
        observations=tuple(map(trim_observation, verdict.observations)),
        findings=(*map(trim_finding, verdict.findings), *result.findings),
    )
    loss = None if live else _find_lost_observation(judged)
    return replace(judged, outcome=Outcome.INCONCLUSIVE, reason=loss) if loss is not None else judged


def describe_error(error: Exception, redactor: Redactor) -> str:
    """Describe an error and its line, without a traceback: it may show secrets."""
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    position = ""
    if traceback is not None:
        file_name = traceback.tb_frame.f_code.co_filename.rsplit("/", 1)[-1]
        position = f" at {file_name}:{traceback.tb_lineno}"
    return f"{type(error).__name__}: {redactor.redact_sentence(str(error))}{position}"


def _list_not_observed(labels: Mapping[str, Reason], endpoints: Mapping[str, Reason]) -> Iterator[Finding]:
    """Yield findings for labels and endpoints without an observation."""
    yield from (not_observed_finding(label, reason) for label, reason in labels.items())
    endpoints_by_reason: dict[Reason, list[str]] = defaultdict(list)
    for endpoint, reason in endpoints.items():
        endpoints_by_reason[reason].append(endpoint)
    for reason, names in endpoints_by_reason.items():
        yield not_observed_finding("", reason, *names)


def _find_lost_observation(result: Result) -> Reason | None:
    """Return why a conforming record lacks an observation that was tried.

    None if it lacks none.

    What a target leaves out by its keys, values, costs or revision was not tried. A failed assumption is no loss: the
    request was only guessed. What a later attempt saw is no loss either.
    """
    if result.outcome is not Outcome.CONFORMS:
        return None
    tried = (INCONCLUSIVE.keys() | RESTRICTED.keys()) - {ReasonCode.ANOTHER_REVISION, ReasonCode.ASSUMPTION_FAILED}
    observed = {
        (observation.label, observation.endpoint)
        for observation in result.observations
        if observation.matched or observation.mismatched
    }
    for finding in result.findings:
        is_missing = finding.code == FindingCode.NOT_OBSERVED and not _was_observed(finding, observed)
        if is_missing and finding.observed in tried:
            return Reason(ReasonCode(finding.observed), finding.message)
    return None


def _was_observed(finding: Finding, observed: set[tuple[str, str]]) -> bool:
    """Whether a label was observed on each endpoint of a finding, or anywhere."""
    if finding.endpoints:
        return all((finding.label, endpoint) in observed for endpoint in finding.endpoints)
    return any(label == finding.label for label, _ in observed)
