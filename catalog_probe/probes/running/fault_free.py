"""Sends the request without its fault, where several faults were answered alike on a lane."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Reason
from catalog_probe.probes.judging.control import expect_control
from catalog_probe.probes.judging.inconclusive.key_evidence import FaultFreeAnswer, Shows
from catalog_probe.probes.judging.inconclusive.one_answer import REQUESTS, judge_fault_free, list_suspicions
from catalog_probe.probes.recipes.fault_free import TWIN
from catalog_probe.probes.recipes.performing import perform
from catalog_probe.probes.recipes.probe import Stopped
from catalog_probe.probes.running.attempt_probe import AttemptProbe

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Exchange
    from catalog_probe.catalog.reading.expected import Expected
    from catalog_probe.catalog.recognition.known import Known
    from catalog_probe.probes.judging.inconclusive.key_evidence import AnswerOn, KeyEvidence
    from catalog_probe.probes.running.lane import Lane
    from catalog_probe.probes.running.task import Task

Send = Callable[[str], Awaitable["Exchange"]]
"""Sends the request of an endpoint without its fault; raises `Stopped` where it may not or cannot."""


async def ask_fault_free(key: KeyEvidence, send: Send, provider: str, known: Known) -> None:
    """Learn what the answers are worth that too many faults share."""
    while suspicions := list_suspicions(key):
        key.fault_free[suspicions[0]] = await _ask(suspicions[0], send, expect_control(provider), known)


async def _ask(suspicion: AnswerOn, send: Send, expected: Expected, known: Known) -> FaultFreeAnswer:
    """Ask until an answer shows something, or was lost too often."""
    for _ in range(REQUESTS):
        try:
            exchange = await send(suspicion.endpoint)
        except Stopped as stopped:
            where = f"{suspicion.endpoint} without a fault: {stopped.reason.code}: {stopped.reason.detail}"
            return FaultFreeAnswer(Shows.NOTHING, f"{where}; different faults got: {suspicion.words.message}")
        answer = judge_fault_free(suspicion, exchange, expected, known)
        if answer.shows is not Shows.NOTHING:
            break
    return answer


async def send_fault_free(task: Task, lane: Lane, endpoint: str) -> Exchange:
    """Send the request of an endpoint without a fault; what it makes is removed. `task` is any of the lane's.

    Raises:
        Stopped: it is not allowed here, or nothing more can be sent.
    """
    recipe = task.twin(endpoint)
    if isinstance(recipe, Reason):
        raise Stopped(recipe)
    probe = AttemptProbe(endpoint, lane.role, lane, f"{task.run}/{endpoint}/{TWIN}", task.journal, tokens=recipe.tokens)
    async with lane.places:
        lane.reserve(recipe.tokens)
        try:
            await perform(recipe, probe)
        finally:
            await probe.remove_all()
    return next(exchange for exchange in probe.exchanges if exchange.label == TWIN)
