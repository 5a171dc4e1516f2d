"""One record, one probe: elicit its behaviour, judge what was seen, and look again where that is not yet settled."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import anyio

from catalog.evidence.kept import kept_attempt, kept_finding, kept_look
from catalog.evidence.results import Result
from catalog.model import Attempt, Finding, Outcome, Reason, Record
from catalog.model.codes import ReasonCode
from probes.elicit.performing import Unseen, perform
from probes.elicit.probe import Stopped
from probes.judging.attempts import conclude, undecided
from probes.judging.judge import judge
from probes.judging.not_looked_at import not_looked_at
from probes.judging.verdict import Verdict
from probes.running import controls
from probes.running.attempt_probe import AttemptProbe

if TYPE_CHECKING:
    from catalog.reading.expected import Expected
    from catalog.recognition.known import Known
    from probes.calls.call import Call
    from probes.elicit.recipe import Recipe
    from probes.running.journal import Journal
    from probes.running.lane import Lane


@dataclass(frozen=True, slots=True)
class Task:
    """Everything that probing one record needs, put together before anything is sent."""

    record: Record
    recipe: Recipe
    expected: tuple[Expected, ...]
    known: Known
    control: Call | None
    run: str
    journal: Journal | None = None
    reprobe_after_s: float = 0.0


async def run(task: Task, lane: Lane) -> Result:
    """Probe one record; never raises for what the network, the provider or the recipe does."""
    attempts: list[Attempt] = []
    verdicts: list[Verdict] = []
    try:
        await _confirm(task, lane)
        while True:
            lane.reserve(task.recipe.tokens)
            attempt, verdict = await _attempt(task, lane, len(attempts) + 1)
            attempts.append(attempt)
            verdicts.append(verdict)
            if not undecided(verdicts):
                break
            await anyio.sleep(task.reprobe_after_s)
        final = conclude(verdicts)
        if final.outcome is Outcome.DRIFTED:
            # A key or a host that fails by now makes everything look like drift: it stands if a later control succeeds.
            await _confirm(task, lane, after=time.perf_counter())
    except Stopped as stopped:
        final = Verdict(Outcome.INCONCLUSIVE, stopped.reason)
    return _result(task, final, attempts)


async def _confirm(task: Task, lane: Lane, *, after: float | None = None) -> None:
    if task.control is not None:
        await controls.confirm(task.control, lane, f"{task.run}/control", task.known, after=after)


def unprobed(record: Record, reason: Reason, recipe: Recipe | None) -> Result:
    """The result of a record that is not probed here."""
    return Result(
        record=str(record.address),
        probed=record.data,
        outcome=Outcome.NOT_PROBED,
        reason=reason,
        lane=recipe.lane if recipe else "",
        cost=str(recipe.cost) if recipe else "",
        elicited=recipe.elicited if recipe else "",
    )


async def _attempt(task: Task, lane: Lane, number: int) -> tuple[Attempt, Verdict]:
    address = str(task.record.address)
    probe = AttemptProbe(address, task.recipe.credential, lane, f"{task.run}/{address}/{number}", task.journal)
    at = now()
    trouble: Verdict | None = None
    unseen = Unseen()
    try:
        unseen = await perform(task.recipe, probe)
    except Stopped as stopped:
        trouble = Verdict(Outcome.INCONCLUSIVE, stopped.reason)
    except Exception as error:  # noqa: BLE001 - a recipe's own fault must not take the run down
        trouble = _broken_off(probe, error, lane.redactor.text(place_of(error)))
    finally:
        await probe.remove_all()
    attempt = Attempt(at, _ms_since(probe.started), tuple(probe.exchanges))
    looked_at = [expected for expected in task.expected if expected.label not in unseen.looks]
    verdict = trouble or judge(looked_at, attempt, task.known)
    verdict = replace(verdict, findings=(*verdict.findings, *_not_looked_at(unseen.looks, unseen.endpoints)))
    # Judged on the whole, kept in part: hundreds of large bodies would not fit into memory until the run ends.
    return kept_attempt(attempt, task.expected), verdict


def _broken_off(probe: AttemptProbe, error: Exception, words: str) -> Verdict:
    """A recipe's own fault, unless it was misled: a setup's success may lack what the next step takes from it."""
    if isinstance(error, LookupError | TypeError) and probe.relied_on is not None:
        return Verdict(
            Outcome.INCONCLUSIVE, Reason(ReasonCode.SETUP_FAILED, f"{probe.relied_on} was answered otherwise: {words}")
        )
    return Verdict(Outcome.HARNESS_ERROR, Reason(ReasonCode.RECIPE_ERROR, words))


def _result(task: Task, final: Verdict, attempts: Sequence[Attempt]) -> Result:
    return Result(
        record=str(task.record.address),
        probed=task.record.data,
        outcome=final.outcome,
        reason=final.reason,
        looks=tuple(map(kept_look, final.looks)),
        findings=(
            *map(kept_finding, final.findings),
            *_not_looked_at(task.recipe.left_out, task.recipe.spread.left_out),
        ),
        attempts=tuple(attempts),
        observed_at=attempts[-1].at if attempts else "",
        lane=task.recipe.lane,
        cost=str(task.recipe.cost),
        elicited=task.recipe.elicited,
        undrawn=task.recipe.spread.undrawn,
    )


def _not_looked_at(looks: Mapping[str, Reason], endpoints: Mapping[str, Reason]) -> Iterator[Finding]:
    """What a record documents besides, by label, or on other endpoints, and nobody looked at, and why."""
    yield from (not_looked_at(label, reason) for label, reason in looks.items())
    alike: dict[Reason, list[str]] = {}
    for endpoint, reason in endpoints.items():
        alike.setdefault(reason, []).append(endpoint)
    yield from (not_looked_at("", reason, *those) for reason, those in alike.items())


def place_of(error: Exception) -> str:
    """The error and the line of the recipe it came from, without a traceback."""
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    where = ""
    if traceback is not None:
        code = traceback.tb_frame.f_code
        where = f" at {code.co_filename.rsplit('/', 1)[-1]}:{traceback.tb_lineno}"
    return f"{type(error).__name__}: {error}{where}"


def now() -> str:
    """The instant as results have it: UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _ms_since(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 3)
