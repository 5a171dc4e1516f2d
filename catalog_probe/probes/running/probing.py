"""Probes one record: its task, its attempts until settled, and its result."""

from __future__ import annotations

import time
from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import anyio

from catalog_probe.catalog.evidence.results import Result
from catalog_probe.catalog.evidence.retention import RetentionBudget, trim_attempt, trim_finding, trim_observation
from catalog_probe.catalog.model import Attempt, Finding, Outcome, Reason, Record
from catalog_probe.catalog.model.clock import format_utc_now, ms_since
from catalog_probe.catalog.model.exchange import UNJUDGED_LABELS
from catalog_probe.catalog.model.explanations import INCONCLUSIVE, RESTRICTED
from catalog_probe.catalog.model.outcome import FindingCode, ReasonCode
from catalog_probe.probes.judging.attempts import (
    TRANSIENT_REASONS,
    conclude_record,
    has_transient_step,
    list_open_steps,
)
from catalog_probe.probes.judging.inconclusive.settling import (
    PendingRecord,
    ProbedRecord,
    add_record,
    no_success,
    settle_record,
)
from catalog_probe.probes.judging.judge import judge
from catalog_probe.probes.judging.verdict import Verdict, judge_record, not_observed_finding
from catalog_probe.probes.planning.reach import services_without_control
from catalog_probe.probes.recipes.book import fault_free_request
from catalog_probe.probes.recipes.performing import UnobservedParts, perform_recipe
from catalog_probe.probes.recipes.probe import ProbeStopped
from catalog_probe.probes.running import controls
from catalog_probe.probes.running.attempt_probe import AttemptProbe
from catalog_probe.probes.running.lane import Stage
from catalog_probe.probes.wire.redaction import redact_attempt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from catalog_probe.catalog.model import Exchange
    from catalog_probe.catalog.reading.expectations import Expected
    from catalog_probe.catalog.recognition.vocabulary import ProviderVocabulary
    from catalog_probe.probes.calls import Call
    from catalog_probe.probes.judging.verdict import StepKey
    from catalog_probe.probes.recipes.recipe import Recipe
    from catalog_probe.probes.running.journal import Journal
    from catalog_probe.probes.running.lane import Lane
    from catalog_probe.probes.wire.redaction import Redactor


@dataclass(frozen=True, slots=True)
class Task:
    """Everything that probing one record needs, put together before anything is sent."""

    record: Record
    recipe: Recipe
    expected: tuple[Expected, ...]
    vocabulary: ProviderVocabulary
    control: Call | None
    run: str
    journal: Journal | None = None
    reprobe_after_s: float = 0.0
    faults: Mapping[str, str] = field(default_factory=dict)
    """The fault of the request under each label that should be refused: the documents' row about it."""
    allowance: RetentionBudget = field(default_factory=RetentionBudget)
    """What the run may still keep of large answers."""
    fault_free: Callable[[str], Recipe | Reason] = fault_free_request
    """Returns the fault-free request of an endpoint, or why it cannot be sent here."""
    success: Callable[[str], Expected | None] = no_success
    """Returns what is documented of an endpoint's success."""


@dataclass(slots=True)
class AttemptHistory:
    """What the attempts at a record have shown so far."""

    attempts: list[Attempt] = field(default_factory=list)
    """As they are kept: redacted, and cut to size."""
    exchanges: list[Exchange] = field(default_factory=list)
    """Those of all attempts, unredacted: they are compared with what other probes of the lane saw."""
    observed_at: str = ""
    """When the last attempt began."""
    verdicts: list[Mapping[StepKey, Verdict]] = field(default_factory=list)
    """One an attempt, by label and endpoint."""
    missing_labels: dict[str, Reason] = field(default_factory=dict)
    """Optional steps without an answer, and why."""
    lost_labels: frozenset[str] = frozenset()
    """Those of them to ask again: a transient fault took away a step before them."""
    missing_endpoints: dict[str, Reason] = field(default_factory=dict)
    """Other endpoints on which the recipe stopped, and why."""
    other_key_labels: set[str] = field(default_factory=set)
    """Labels under which another key was sent than the lane's."""


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


class UnsettledResult(NamedTuple):
    """A result whose verdict waits for the other records of its lane.

    It holds no more than that, because there may be thousands.
    """

    result: Result
    """The result without its verdict."""
    pending: PendingRecord


async def probe_record(task: Task, lane: Lane) -> Result | UnsettledResult:
    """Probe one record; never raises for what network, provider or recipe do."""
    history = AttemptHistory()
    try:
        verdict = await _probe_until_settled(task, lane, history)
        if verdict.outcome is Outcome.DRIFTED:
            # If the key or the host fails by now, everything looks like drift. A later success rules that out.
            await _confirm_control(task, lane, after=time.perf_counter())
        pending = add_record(_describe_probe(task, lane, history), verdict, history.exchanges, lane.evidence)
    except ProbeStopped as stopped:
        pending = PendingRecord(Verdict(Outcome.INCONCLUSIVE, stopped.reason))
    result = start_result(task, history)
    if pending.is_pending:
        return UnsettledResult(result, pending)
    return add_verdict(result, pending.verdict, live=lane.live)


def settle(unsettled: UnsettledResult, lane: Lane) -> Result:
    """Return the result of a record once all records of its lane are judged."""
    return add_verdict(unsettled.result, settle_record(unsettled.pending), live=lane.live)


def _describe_probe(task: Task, lane: Lane, history: AttemptHistory) -> ProbedRecord:
    """Describe the record's requests for the inconclusive rules."""
    addresses = lane.provider.addresses
    unproven = services_without_control(task.recipe) if lane.live and task.control is not None else ()
    return ProbedRecord(
        provider=lane.provider.name,
        expected=task.expected,
        vocabulary=task.vocabulary,
        live=lane.live,
        record=task.record,
        faults=task.faults,
        other_key_labels=history.other_key_labels,
        success=task.success,
        unconfirmed_hosts={service: addresses[service] for service in unproven if service in addresses},
    )


async def _probe_until_settled(task: Task, lane: Lane, history: AttemptHistory) -> Verdict:
    """Attempt the record until no other attempt could settle a step.

    After a transient fault the record is asked again once all others of the lane have been asked, if a control shows
    by then that it is worth while.

    Raises:
        ProbeStopped: nothing more can be sent, or the control says that nothing should be.
    """
    lost_control: ProbeStopped | None = None
    while True:
        verdict: Verdict | None = None
        try:
            async with lane.semaphore:
                verdict = await _probe_while_open(task, lane, history)
        except ProbeStopped as stopped:
            is_transient = stopped.reason.code in TRANSIENT_REASONS
            if history.attempts or lost_control is not None or lane.stopped is not None or not is_transient:
                raise
            # This probe happened to ask first, and the lane's control was lost on the way: try once more, later.
            lost_control = stopped
        if verdict is not None:
            return verdict
        if not await _is_worth_asking_again(task, lane):
            if lost_control is not None and not history.verdicts:
                raise lost_control
            return conclude_record(history.verdicts)
        await anyio.sleep(task.reprobe_after_s)


async def _probe_while_open(task: Task, lane: Lane, history: AttemptHistory) -> Verdict | None:
    """Attempt the record until the rest should be asked later, or is settled.

    Returns the verdict if everything is settled, else None.

    Raises:
        ProbeStopped: nothing more can be sent, or the control says that nothing should be.
    """
    if not history.attempts:
        await _confirm_control(task, lane)
    while True:
        lane.reserve(task.recipe.tokens)
        verdict = await _attempt(task, lane, history)
        if not verdict.step_verdicts or verdict.outcome is Outcome.HARNESS_ERROR:
            return verdict
        history.verdicts.append(verdict.step_verdicts)
        if not list_open_steps(history.verdicts) and not history.lost_labels:
            return conclude_record(history.verdicts) if len(history.verdicts) > 1 else verdict
        if has_transient_step(history.verdicts) or history.lost_labels:
            return None
        await anyio.sleep(task.reprobe_after_s)


async def _is_worth_asking_again(task: Task, lane: Lane) -> bool:
    """Wait for the whole lane, then return whether key and host work."""
    since = await lane.barrier.wait_for(Stage.ASKED, str(task.record.address))
    try:
        await _confirm_control(task, lane, after=since)
    except ProbeStopped:
        return False
    return True


async def _confirm_control(task: Task, lane: Lane, *, after: float | None = None) -> None:
    if task.control is not None:
        await controls.confirm(task.control, lane, f"{task.run}/control", task.vocabulary, after=after)


async def _attempt(task: Task, lane: Lane, history: AttemptHistory) -> Verdict:
    """Attempt the record once, and add that to the history.

    The first attempt asks everything, a later one what is open and what that needs.
    """
    address = str(task.record.address)
    number = len(history.attempts) + 1
    session = f"{task.run}/{address}/{number}"
    role, tokens = task.recipe.credential, task.recipe.tokens
    probe = AttemptProbe(address, role, lane, session, task.journal, still=task.recipe.is_disruptive, tokens=tokens)
    needed = _find_needed_places(task, history) if history.verdicts else None
    history.missing_labels = {
        label: reason for label, reason in history.missing_labels.items() if label not in history.lost_labels
    }
    started_at = format_utc_now()
    stopped: Reason | None = None
    error_verdict: Verdict | None = None
    missing = UnobservedParts()
    try:
        missing = await perform_recipe(task.recipe, probe, needed)
    except ProbeStopped as exception:
        stopped = probe.explain_stop(exception.reason)
    except Exception as error:  # noqa: BLE001 - a recipe's own fault must not take the run down
        error_verdict = _judge_error(probe, error, describe_error(error, lane.redactor))
    finally:
        await probe.remove_all()
    history.other_key_labels |= probe.other_key_labels
    attempt = Attempt(started_at, ms_since(probe.started), tuple(probe.exchanges))
    history.missing_labels |= missing.labels
    is_first = needed is None
    history.lost_labels = frozenset(
        label for label, reason in missing.labels.items() if is_first and reason.code in TRANSIENT_REASONS
    )
    history.missing_endpoints |= missing.endpoints
    verdict = (error_verdict or _judge_attempt(task, history, attempt, needed, stopped)).trim()
    # Judged whole and kept in part: the large bodies of a whole run would not fit into memory.
    history.exchanges += trim_attempt(attempt, task.expected).exchanges
    # Redacted before it is cut: afterwards the strings of a stream cannot be told apart.
    history.attempts.append(trim_attempt(redact_attempt(attempt, lane.redactor), task.expected, task.allowance))
    history.observed_at = started_at
    return verdict


def _judge_attempt(
    task: Task, history: AttemptHistory, attempt: Attempt, needed: frozenset[StepKey] | None, stopped: Reason | None
) -> Verdict:
    """Judge the steps that the attempt asked; earlier exchanges complete it."""
    expected = [expected for expected in task.expected if expected.label not in history.missing_labels]
    earlier = {
        (exchange.label, exchange.endpoint): exchange
        for exchange in history.exchanges
        if needed is not None
        and needed.isdisjoint({(exchange.label, exchange.endpoint), (exchange.label, "")})
        and exchange.label not in UNJUDGED_LABELS
    }
    completed = replace(attempt, exchanges=(*earlier.values(), *attempt.exchanges))
    verdict = judge(expected, completed, task.vocabulary, stopped)
    if not history.verdicts:
        return verdict
    asked = {(exchange.label, exchange.endpoint) for exchange in attempt.exchanges}
    # A step that a failed setup kept from being asked counts for this attempt only if it was to be asked again.
    step_verdicts = {
        step_key: step_verdict
        for step_key, step_verdict in verdict.step_verdicts.items()
        if step_key in asked or (step_key not in earlier and (needed is None or step_key in needed))
    }
    for step_key in list_open_steps(history.verdicts) - step_verdicts.keys():
        _, endpoint = step_key
        reason = stopped or history.missing_endpoints.get(endpoint)
        reason = reason or Reason(ReasonCode.ATTEMPTS_DISAGREE, "it was not asked again")
        step_verdicts[step_key] = Verdict(Outcome.INCONCLUSIVE, reason)
    return judge_record(step_verdicts)


def _find_needed_places(task: Task, history: AttemptHistory) -> frozenset[StepKey]:
    """Return the open steps, and those that they need in the same attempt."""
    dependencies = {
        expected.label: {*expected.depends_on, *(label for relation in expected.relations for label in relation.of)}
        for expected in task.expected
    }
    needed = list_open_steps(history.verdicts) | {(label, "") for label in history.lost_labels}
    while True:
        extended = needed | {
            (dependency, endpoint) for label, endpoint in needed for dependency in dependencies.get(label, ())
        }
        if extended == needed:
            return needed
        needed = extended


def _judge_error(probe: AttemptProbe, error: Exception, description: str) -> Verdict:
    """Judge an exception of a recipe: its own fault, unless an answer misled it.

    A setup's success may lack what the next step takes from it, and a transient fault may have taken an answer away.
    """
    transient_code = probe.transient_code
    if isinstance(error, LookupError | TypeError | AttributeError) and transient_code is not None:
        return Verdict(Outcome.INCONCLUSIVE, Reason(transient_code, description))
    if isinstance(error, LookupError | TypeError) and probe.last_setup is not None:
        detail = f"{probe.last_setup} was answered otherwise: {description}"
        return Verdict(Outcome.INCONCLUSIVE, Reason(ReasonCode.SETUP_FAILED, detail))
    return Verdict(Outcome.HARNESS_ERROR, Reason(ReasonCode.RECIPE_ERROR, description))
