"""Probes one record: its attempts until each step has a verdict, and its result.

A record is attempted up to three times, until each of its steps has a verdict. Its result stays unfinished until the
other records of its lane were asked too, because their answers may explain its mismatches. Example: a record drifted
with a 403, and so did all others of the lane: then it is inconclusive.
"""

from __future__ import annotations

import time
from collections import defaultdict
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import anyio

from catalog_probe.catalog.evidence.results import Result
from catalog_probe.catalog.evidence.retention import trim_attempt, trim_finding, trim_observation
from catalog_probe.catalog.model import Attempt, Finding, Outcome, Reason, Record
from catalog_probe.catalog.model.clock import format_utc_now, ms_since
from catalog_probe.catalog.model.exchange import UNJUDGED_LABELS
from catalog_probe.catalog.model.explanations import INCONCLUSIVE, RESTRICTED
from catalog_probe.catalog.model.outcome import FindingCode, ReasonCode
from catalog_probe.probes.judging.attempts import (
    TRANSIENT_REASONS,
    conclude_early,
    conclude_record,
    list_open_steps,
)
from catalog_probe.probes.judging.inconclusive.provisional import (
    ProbedRecord,
    ProvisionalVerdict,
    finish_verdict,
    gather_key_evidence,
    list_endpoints_with_another_error,
)
from catalog_probe.probes.judging.judge import judge
from catalog_probe.probes.judging.verdict import Verdict, judge_record, not_observed_finding, retract
from catalog_probe.probes.planning.reach import services_without_control
from catalog_probe.probes.recipes.performing import UnobservedParts, perform_planned_recipe
from catalog_probe.probes.recipes.probe import ProbeStopped
from catalog_probe.probes.running import controls
from catalog_probe.probes.running.attempt_probe import AttemptProbe
from catalog_probe.probes.running.fault_free import check_endpoints, send_fault_free
from catalog_probe.probes.running.lane import Stage
from catalog_probe.probes.wire.redaction import redact_attempt

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from catalog_probe.catalog.model import Exchange
    from catalog_probe.catalog.reading.expectations import Expected
    from catalog_probe.probes.judging.verdict import StepKey
    from catalog_probe.probes.recipes.recipe import PlannedRecipe, Recipe
    from catalog_probe.probes.running.lane import Lane
    from catalog_probe.probes.running.task import Task
    from catalog_probe.probes.wire.redaction import Redactor


@dataclass(slots=True)
class AttemptHistory:
    """What the attempts at a record have shown so far."""

    attempts: list[Attempt] = field(default_factory=list)
    """The attempts as they are kept: redacted, and cut to size."""
    exchanges: list[Exchange] = field(default_factory=list)
    """The exchanges of all attempts, cut to size but not redacted: rules compare them with other answers to the key."""
    observed_at: str = ""
    """When the last attempt began."""
    verdicts: list[Mapping[StepKey, Verdict]] = field(default_factory=list)
    """For each attempt: step -> its verdict, e.g. `("answer", "pa/endpoints/models/list_models")` -> drifted."""
    labels_not_sent: dict[str, Reason] = field(default_factory=dict)
    """Label of an optional step -> why the last attempt that asked it sent nothing, e.g. `"stream"` -> setup-failed."""
    endpoints_not_asked: dict[str, Reason] = field(default_factory=dict)
    """Address of another endpoint -> why the recipe stopped there."""
    other_key_labels: set[str] = field(default_factory=set)
    """Labels of requests that were sent with another key, and not with the lane's."""

    def find_steps_to_ask(self) -> frozenset[StepKey]:
        """Return the steps that another attempt should ask; none if the record is decided.

        The endpoint of a step may be empty: then the label is asked on all its endpoints. Example: "answer" drifted in
        the first attempt, "stream" conforms, and the upload before "download" was answered 503. Then the second attempt
        asks `("answer", "pc/endpoints/files/get_file")` and `("download", "")`.
        """
        undecided = list_open_steps(self.verdicts)
        # An optional step that a transient fault prevented is worth a second attempt, and no third one.
        if len(self.attempts) > 1:
            return undecided
        lost = (label for label, reason in self.labels_not_sent.items() if reason.code in TRANSIENT_REASONS)
        return undecided | {(label, "") for label in lost}

    def note_unsent(self, unsent: Mapping[str, Reason], asked_steps: frozenset[StepKey] | None) -> None:
        """Replace what is known of the labels that an attempt asked (None: of all): they were sent now, or why not."""
        asked_labels = unsent.keys() if asked_steps is None else {label for label, _ in asked_steps}
        still_unsent = {label: reason for label, reason in self.labels_not_sent.items() if label not in asked_labels}
        self.labels_not_sent = still_unsent | {label: unsent[label] for label in unsent if label in asked_labels}


_DIFFERENCES = frozenset({Outcome.DRIFTED, Outcome.FLAKY})


class UnfinishedResult(NamedTuple):
    """A result whose verdict may still change with the answers to other records of its lane.

    It holds no more than that, because there may be thousands.
    """

    result: Result
    """The result without its verdict."""
    provisional: ProvisionalVerdict


async def probe_record(task: Task, lane: Lane) -> Result | UnfinishedResult:
    """Probe one record; never raises for what network, provider or recipe do.

    Example: a success that conforms is a `Result` at once. A documented refusal is an `UnfinishedResult`: if the lane
    refuses everything alike, the refusal shows nothing of this record.
    """
    history = AttemptHistory()
    try:
        verdict = await _attempt_until_decided(task, lane, history)
        if verdict.outcome is Outcome.DRIFTED:
            # If key or host fail during the attempts, everything looks like drift. A success after them rules that out.
            await _confirm_control(task, lane, after=time.perf_counter())
        provisional = gather_key_evidence(
            _describe_probe(task, lane, history), verdict, history.exchanges, lane.evidence
        )
    except ProbeStopped as stopped:
        is_own_fault = stopped.reason.code == ReasonCode.RECIPE_ERROR
        outcome = Outcome.HARNESS_ERROR if is_own_fault else Outcome.INCONCLUSIVE
        provisional = ProvisionalVerdict(Verdict(outcome, stopped.reason))
    result = start_result(task, history)
    if provisional.is_final:
        return add_verdict(result, provisional.verdict, live=lane.live)
    return UnfinishedResult(result, provisional)


def finish_result(unfinished: UnfinishedResult, lane: Lane) -> Result:
    """Return the result of a record, now that all records of its lane were asked.

    Example: a record drifted with a 403, and so did all others of the lane. Its result is then inconclusive.
    """
    return add_verdict(unfinished.result, finish_verdict(unfinished.provisional), live=lane.live)


_ENDED_BEFORE_OTHERS = Reason(
    ReasonCode.LANE_STOPPED, "the run ended before all records of its lane were asked, which might explain a difference"
)


def preview_result(unfinished: UnfinishedResult, lane: Lane) -> Result:
    """Return what is known of a record before all records of its lane were asked.

    A match stays, unless a rule retracts it because of the answers until now. A difference is inconclusive: an answer
    that is still to come might show that the difference is not the provider's. Example: a record drifted with a 403. If
    the run ends here, nobody knows whether all others would have been refused alike.
    """
    step_verdicts = {
        step: retract(verdict, _ENDED_BEFORE_OTHERS) if verdict.outcome in _DIFFERENCES else verdict
        for step, verdict in finish_verdict(unfinished.provisional).step_verdicts.items()
    }
    return add_verdict(unfinished.result, judge_record(step_verdicts), live=lane.live)


def _describe_probe(task: Task, lane: Lane, history: AttemptHistory) -> ProbedRecord:
    """Describe the record's requests for the inconclusive rules."""
    addresses = lane.provider.addresses
    # A lane without a control confirms no address at all: to doubt each would leave its records without any verdict.
    has_confirmed_address = lane.live and task.control is not None
    unconfirmed = services_without_control(task.recipe) if has_confirmed_address else ()
    return ProbedRecord(
        provider=lane.provider.name,
        expected=task.expected,
        vocabulary=task.vocabulary,
        live=lane.live,
        faults=task.faults,
        other_key_labels=history.other_key_labels,
        unconfirmed_hosts={service: addresses[service] for service in unconfirmed if service in addresses},
    )


async def _attempt_until_decided(task: Task, lane: Lane, history: AttemptHistory) -> Verdict:
    """Attempt the record until each step has a verdict, or until the lane admits no other attempt.

    A later attempt asks only the steps without a verdict. It is made after every record of the lane was asked once and
    some time has passed, so that a fault may be over, and after a new success of the control.

    Raises:
        ProbeStopped: the first attempt is not admitted, or the recipe itself is at fault.
    """
    async with lane.semaphore:
        await _admit_attempt(task, lane)
        await _attempt(task, lane, history)
    while steps_to_ask := history.find_steps_to_ask():
        # Not under the semaphore: the lane's other probes need it to be asked.
        lane_asked_at = await lane.barrier.wait_for(Stage.ASKED, str(task.record.address))
        await anyio.sleep(task.reprobe_after_s)
        try:
            await _admit_attempt(task, lane, after=lane_asked_at)
        except ProbeStopped as stopped:
            return conclude_early(history.verdicts, stopped.reason)
        await _check_endpoints(task, lane, history)
        async with lane.semaphore:
            await _attempt(task, lane, history, steps_to_ask)
    return conclude_record(history.verdicts)


async def _check_endpoints(task: Task, lane: Lane, history: AttemptHistory) -> None:
    """Send the fault-free request of each endpoint that answered a fault with another documented error.

    It is sent once for all records of the lane, before their second attempt; the engine sends it again after all of
    them. Example: a 404 in place of a documented 400 is a mismatch only if a request without the fault is accepted.
    """
    if not lane.live:
        return
    probed = _describe_probe(task, lane, history)
    endpoints = list_endpoints_with_another_error(probed, history.verdicts[-1], history.exchanges, lane.evidence)
    async with lane.fault_free_lock:
        unchecked = endpoints - lane.evidence.endpoints_with_another_error
        lane.evidence.endpoints_with_another_error |= unchecked
        await check_endpoints(lane.evidence, unchecked, partial(send_fault_free, task, lane), lane.provider.name)


async def _admit_attempt(task: Task, lane: Lane, *, after: float | None = None) -> None:
    """Check that key and host work, and take the attempt's tokens from the budget.

    Raises:
        ProbeStopped: the control fails, or the budget does not hold so many tokens.
    """
    await _confirm_control(task, lane, after=after)
    lane.reserve(task.recipe.tokens)


async def _confirm_control(task: Task, lane: Lane, *, after: float | None = None) -> None:
    if task.control is not None:
        await controls.confirm(task.control, lane, f"{task.run}/control", task.vocabulary, after=after)


async def _attempt(
    task: Task, lane: Lane, history: AttemptHistory, steps_to_ask: frozenset[StepKey] | None = None
) -> None:
    """Attempt the record once, and add what the attempt showed to the history.

    Without `steps_to_ask` the attempt asks everything, else these steps and what they need.

    Raises:
        ProbeStopped: the recipe itself is at fault.
    """
    address = str(task.record.address)
    session = f"{task.run}/{address}/{len(history.attempts) + 1}"
    role, tokens = task.recipe.credential, task.recipe.tokens
    probe = AttemptProbe(
        address, role, lane, session, task.journal, stops_clock=task.recipe.is_disruptive, tokens=tokens
    )
    asked_steps = None if steps_to_ask is None else _add_dependencies(steps_to_ask, task.expected)
    started_at = format_utc_now()
    unobserved, stopped = await _perform(task.recipe, probe, asked_steps, lane.redactor)
    attempt = Attempt(started_at, ms_since(probe.started), tuple(probe.exchanges))
    history.other_key_labels |= probe.other_key_labels
    history.note_unsent(unobserved.labels, asked_steps)
    history.endpoints_not_asked |= unobserved.endpoints
    verdicts = _judge_attempt(task, history, attempt, asked_steps, stopped)
    # The attempt was judged whole, but only a part of each large body is kept: those of a whole run would not fit into
    # memory. The exchanges keep their secrets for the rules that compare answers, and never leave the process.
    history.verdicts.append({step: verdict.trim() for step, verdict in verdicts.items()})
    history.exchanges += trim_attempt(attempt, task.expected).exchanges
    # The attempts are what results.jsonl shows. A secret may be spread over the events of a stream, so they are
    # redacted while the stream is whole, and cut after that.
    history.attempts.append(trim_attempt(redact_attempt(attempt, lane.redactor), task.expected, task.allowance))
    history.observed_at = started_at
    if stopped is not None and stopped.code == ReasonCode.RECIPE_ERROR:
        raise ProbeStopped(stopped)


async def _perform(
    recipe: PlannedRecipe, probe: AttemptProbe, asked_steps: frozenset[StepKey] | None, redactor: Redactor
) -> tuple[UnobservedParts, Reason | None]:
    """Send what the recipe says and remove what was made; return what stayed unobserved, and why the recipe stopped."""
    try:
        return await perform_planned_recipe(recipe, probe, asked_steps), None
    except ProbeStopped as exception:
        return UnobservedParts(), probe.explain_stop(exception.reason)
    except Exception as error:  # noqa: BLE001 - a recipe's own fault must not take the run down
        return UnobservedParts(), _explain_error(probe, error, describe_error(error, redactor))
    finally:
        await probe.remove_all()


def _add_dependencies(steps: frozenset[StepKey], expected: Iterable[Expected]) -> frozenset[StepKey]:
    """Return the steps, and those that they need in the same attempt and on the same endpoint.

    Example: "gone" depends on "deleted", and "deleted" on "created": `{("gone", "")}` becomes all three.
    """
    dependencies = {
        expectation.label: {
            *expectation.depends_on,
            *(label for relation in expectation.relations for label in relation.of),
        }
        for expectation in expected
    }
    needed = set(steps)
    unvisited = list(steps)
    while unvisited:
        label, endpoint = unvisited.pop()
        added = {(dependency, endpoint) for dependency in dependencies.get(label, ())} - needed
        needed |= added
        unvisited += added
    return frozenset(needed)


def _judge_attempt(
    task: Task,
    history: AttemptHistory,
    attempt: Attempt,
    asked_steps: frozenset[StepKey] | None,
    stopped: Reason | None,
) -> Mapping[StepKey, Verdict]:
    """Return the verdicts of the steps that an attempt asked (None: all), each by its key."""
    expected = [expectation for expectation in task.expected if expectation.label not in history.labels_not_sent]
    if asked_steps is None:
        return judge(expected, attempt, task.vocabulary, stopped).step_verdicts
    # A relation between two steps needs both answers. So the earlier answers of the steps that were not asked are
    # judged once more. Of several answers to one step the judge takes the last.
    earlier = (
        exchange
        for exchange in history.exchanges
        if exchange.label not in UNJUDGED_LABELS and not _is_asked(exchange, asked_steps)
    )
    completed = replace(attempt, exchanges=(*earlier, *attempt.exchanges))
    judged = judge(expected, completed, task.vocabulary, stopped).step_verdicts
    # A coroutine sends all its steps, so the attempt may answer a step that was not asked: that verdict counts too.
    answered = {(exchange.label, exchange.endpoint) for exchange in attempt.exchanges}
    verdicts = {step: verdict for step, verdict in judged.items() if step in asked_steps or step in answered}
    for label, endpoint in list_open_steps(history.verdicts) - verdicts.keys():
        why_not_asked = stopped or history.endpoints_not_asked.get(endpoint) or history.labels_not_sent.get(label)
        reason = why_not_asked or Reason(ReasonCode.ATTEMPTS_DISAGREE, "only an earlier attempt sent this request")
        verdicts[label, endpoint] = Verdict(Outcome.INCONCLUSIVE, reason)
    return verdicts


def _is_asked(exchange: Exchange, asked_steps: frozenset[StepKey]) -> bool:
    """Whether an exchange is of one of these steps; a step with an empty endpoint is asked on all endpoints."""
    return (exchange.label, exchange.endpoint) in asked_steps or (exchange.label, "") in asked_steps


def _explain_error(probe: AttemptProbe, error: Exception, description: str) -> Reason:
    """Return why a recipe raised an exception: an answer misled it, or the recipe is at fault.

    Example: `body["id"]` raises `KeyError` on a gateway's page. The reason is `gateway-page` and not `recipe-error`.
    """
    # Code that takes an answer apart raises these errors if the answer is not as documented.
    is_about_answer = isinstance(error, LookupError | TypeError | AttributeError)
    if is_about_answer and probe.transient_code is not None:
        return Reason(probe.transient_code, description)
    if is_about_answer and probe.last_setup is not None:
        detail = f"{probe.last_setup} was answered otherwise: {description}"
        return Reason(ReasonCode.SETUP_FAILED, detail)
    return Reason(ReasonCode.RECIPE_ERROR, description)


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
    labels = {**task.recipe.left_out, **history.labels_not_sent}
    endpoints = {**task.recipe.endpoint_plan.left_out, **history.endpoints_not_asked}
    return Result(
        record=str(task.record.address),
        probed_record=task.record.data,
        outcome=Outcome.INCONCLUSIVE,  # until `add_verdict`
        findings=tuple(_list_not_observed(labels, endpoints)),
        attempts=tuple(history.attempts),
        observed_at=history.observed_at,
        lane=task.recipe.lane,
        cost=str(task.recipe.cost),
        trigger=task.recipe.trigger,
        not_drawn=task.recipe.endpoint_plan.not_drawn,
        variants_not_drawn=task.recipe.variants_not_drawn,
    )


def add_verdict(result: Result, verdict: Verdict, *, live: bool) -> Result:
    """Return a result with its verdict.

    On a mock, a record does not conform if something that was tried was not observed: nothing can excuse that there.
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


# Reasons for which a request that was tried showed nothing. If a target leaves a request out by its keys, values or
# costs (`NOT_PROBED`) or by its revision, nothing was tried. If an assumption failed, the request was only guessed.
_REASONS_OF_LOSS = (INCONCLUSIVE.keys() | RESTRICTED.keys()) - {
    ReasonCode.ANOTHER_REVISION,
    ReasonCode.ASSUMPTION_FAILED,
}


def _find_lost_observation(result: Result) -> Reason | None:
    """Return why a conforming record lacks an observation that was tried, or None.

    Example: "answer" conforms, and the setup of "stream" was refused -> `setup-failed`.
    """
    if result.outcome is not Outcome.CONFORMS:
        return None
    observed = {
        (observation.label, observation.endpoint)
        for observation in result.observations
        if observation.matched or observation.mismatched
    }
    for finding in result.findings:
        # Such a finding has the code of its reason as the observed value (`not_observed_finding`).
        is_loss = finding.code == FindingCode.NOT_OBSERVED and finding.observed in _REASONS_OF_LOSS
        if is_loss and not _was_observed(finding, observed):  # a later attempt may have observed it
            return Reason(ReasonCode(finding.observed), finding.message)
    return None


def _was_observed(finding: Finding, observed: set[tuple[str, str]]) -> bool:
    """Whether a label was observed on each endpoint that a finding names; if it names none, on any endpoint."""
    if finding.endpoints:
        return all((finding.label, endpoint) in observed for endpoint in finding.endpoints)
    return any(label == finding.label for label, _ in observed)
