"""One record, one probe: elicit its behaviour, judge what was seen, and look again where that is not yet settled."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

import anyio

from catalog.envelopes.envelope import envelope
from catalog.envelopes.grpc_statuses import status_of
from catalog.evidence.results import Result
from catalog.model import Aspect, Attempt, Exchange, Finding, Outcome, Reason, Record, Response, Severity
from catalog.model.labels import ANSWER, CLEANUP, CONTROL, SETUP
from catalog.reading.expected import Expected
from catalog.recognition.known import Known
from probes.calls.call import Call
from probes.elicit.probe import Stopped
from probes.elicit.recipe import Recipe
from probes.judging.judge import Verdict, conclude, judge, unasked, undecided
from probes.running.journal import Journal
from probes.running.lane import Lane
from probes.running.teardown import Fixtures

BAD_CREDENTIAL = (401,)
REFUSED = (403,)
GREEN = Expected(CONTROL, "", envelope("json"), 200)
"""What a control must be answered with."""


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


class Probe:
    """What a recipe's steps use: it sends calls and keeps every exchange of this attempt."""

    def __init__(self, task: Task, lane: Lane, session: str) -> None:
        self.recipe = task.recipe
        self.values = lane.provider.values
        self.exchanges: list[Exchange] = []
        self.relied_on: str | None = None
        self._lane = lane
        self._session = session
        self._fixtures = Fixtures(str(task.record.address), lane.provider, task.recipe.credential, task.journal)
        self.started = time.perf_counter()

    async def send(self, call: Call, label: str = ANSWER) -> Exchange:
        """Send a call whose exchange is judged under `label`. What it makes is removed when the attempt ends."""
        made = self._fixtures.about_to(call)
        try:
            exchange = await self._send(call, label)
        except Stopped:
            self._fixtures.not_sent(made)
            raise
        self._fixtures.learn(call, exchange, made)
        return exchange

    async def remove_all(self) -> None:
        """Remove what this attempt made and has not removed itself; what resists is in the journal."""
        with suppress(Stopped):
            await self._fixtures.remove(lambda call: self._send(call, CLEANUP, owed=True))

    async def _send(self, call: Call, label: str, *, owed: bool = False) -> Exchange:
        role = self.recipe.credential
        exchange = await self._lane.send(call, label, self._session, self.started, role, owed=owed)
        self.exchanges.append(exchange)
        return exchange

    async def setup(self, call: Call, *statuses: int, label: str = SETUP) -> Response:
        """Send a call that the probe relies on; any answer but a success (or one of `statuses`) ends the attempt.

        A conversation is a success when everything was heard that its script waits for.

        Raises:
            Stopped: with reason `setup-failed`: no verdict on the record.
        """
        exchange = await self.send(call, label)
        response = exchange.response
        status = status_of(response) if response is not None else None
        if response is not None and status is not None:
            unheard = call.unheard(event.event for event in response.events or () if not event.sent)
            accepted = statuses or ((101,) if call.websocket else range(200, 300))
            if status in accepted and not unheard:
                self.relied_on = f"{call.method} {call.path}"
                return response
            seen = f"HTTP {status}" + (f", no {unheard[0]}" if unheard else "")
        else:
            seen = exchange.failure.code if exchange.failure else "no answer"
        raise Stopped(Reason("setup-failed", f"{call.method} {call.path}: {seen}"))


async def run(task: Task, lane: Lane) -> Result:
    """Probe one record; never raises for what the network, the provider or the recipe does."""
    attempts: list[Attempt] = []
    verdicts: list[Verdict] = []
    green = True
    try:
        control = await _control(task, lane)
        green = control is None or (control.response is not None and status_of(control.response) == 200)
        while True:
            lane.reserve(task.recipe.tokens)
            attempt, verdict = await _attempt(task, lane, len(attempts) + 1)
            attempts.append(attempt)
            verdicts.append(verdict)
            if not undecided(verdicts):
                break
            await anyio.sleep(task.reprobe_after_s)
        final = conclude(verdicts, control_green=green)
    except Stopped as stopped:
        restricted = stopped.reason.code == "permission-refused"
        outcome = Outcome.RESTRICTED if restricted else Outcome.INCONCLUSIVE
        final = Verdict(outcome, stopped.reason)
    return _result(task, final, attempts)


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


async def _control(task: Task, lane: Lane) -> Exchange | None:
    return None if task.control is None else await green(task.control, lane, f"{task.run}/control")


async def green(control: Call, lane: Lane, session: str) -> Exchange:
    """Make sure that the key and the host work, so that an error means something.

    Raises:
        Stopped: they do not. A documented bad-credential answer ends the lane and names the variable.
    """
    exchange = await lane.control(control, session, time.perf_counter())
    if exchange.failure is not None:
        where = f"{exchange.request.method} {exchange.request.url}"
        raise Stopped(Reason(exchange.failure.code, f"the control {where}: {exchange.failure.detail}"))
    status = status_of(exchange.response) if exchange.response else None
    if status == 200:
        return exchange
    trouble = unasked(GREEN, exchange.response) if exchange.response else None
    if trouble is not None:
        where = f"{exchange.request.method} {exchange.request.url}"
        raise Stopped(Reason(trouble.code, f"the control {where}: {trouble.detail}"))
    credential = lane.provider.credential(lane.role)
    name = credential.variable or f"credential {lane.role!r} of {lane.provider.name}"
    detail = f"the control {exchange.request.method} {exchange.request.url} was answered {status}; look at {name}"
    if status in BAD_CREDENTIAL:
        lane.stop(Reason("control-failed", detail))
    code = "permission-refused" if status in REFUSED else "control-failed"
    raise Stopped(Reason(code, detail))


async def _attempt(task: Task, lane: Lane, number: int) -> tuple[Attempt, Verdict]:
    probe = Probe(task, lane, f"{task.run}/{task.record.address}/{number}")
    at = _now()
    trouble: Verdict | None = None
    try:
        await _elicit(task.recipe, probe)
    except Stopped as stopped:
        trouble = Verdict(Outcome.INCONCLUSIVE, stopped.reason)
    except Exception as error:  # noqa: BLE001 - a recipe's own fault must not take the run down
        trouble = _broken_off(probe, error, lane.redactor.text(place_of(error)))
    finally:
        await probe.remove_all()
    attempt = Attempt(at, _ms_since(probe.started), tuple(probe.exchanges))
    return attempt, trouble or judge(task.expected, attempt, task.known)


def _broken_off(probe: Probe, error: Exception, words: str) -> Verdict:
    """A recipe's own fault, unless it was misled: a setup's success may lack what the next step takes from it."""
    if isinstance(error, LookupError | TypeError) and probe.relied_on is not None:
        return Verdict(
            Outcome.INCONCLUSIVE, Reason("setup-failed", f"{probe.relied_on} was answered otherwise: {words}")
        )
    return Verdict(Outcome.HARNESS_ERROR, Reason("recipe-error", words))


async def _elicit(recipe: Recipe, probe: Probe) -> None:
    for label, call in recipe.calls.items():
        await (probe.setup(call) if label == SETUP else probe.send(call, label))
    if recipe.steps is not None:
        await recipe.steps(probe)
    for look in recipe.optional.values():
        await _elicit(look, probe)


def _result(task: Task, final: Verdict, attempts: Sequence[Attempt]) -> Result:
    return Result(
        record=str(task.record.address),
        probed=task.record.data,
        outcome=final.outcome,
        reason=final.reason,
        findings=(*final.findings, *_left_out(task.recipe)),
        attempts=tuple(attempts),
        observed_at=attempts[-1].at if attempts else "",
        lane=task.recipe.lane,
        cost=str(task.recipe.cost),
        elicited=task.recipe.elicited,
    )


def _left_out(recipe: Recipe) -> Iterator[Finding]:
    """What a record documents besides and this target could not look at."""
    for label, reason in recipe.left_out.items():
        yield Finding(
            code="not-looked-at",
            aspect=Aspect.STATE,
            severity=Severity.INFO,
            message=f"{label}: {reason.code}: {reason.detail}",
            label=label,
            at=label,
            observed=reason.code,
        )


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


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _ms_since(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 3)
