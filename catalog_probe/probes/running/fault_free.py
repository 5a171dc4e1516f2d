"""Sends the fault-free request where a lane answered several faults alike."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Reason
from catalog_probe.probes.judging.control import expect_control
from catalog_probe.probes.judging.inconclusive.evidence import FaultFreeAnswer, FaultFreeResult
from catalog_probe.probes.judging.inconclusive.not_implemented import describe_missing_family, family_of
from catalog_probe.probes.judging.inconclusive.one_answer import MAX_REQUESTS, judge_fault_free, list_suspicions
from catalog_probe.probes.recipes.book import FAULT_FREE
from catalog_probe.probes.recipes.performing import perform_recipe
from catalog_probe.probes.recipes.probe import ProbeStopped
from catalog_probe.probes.running.attempt_probe import AttemptProbe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from catalog_probe.catalog.model import Exchange
    from catalog_probe.catalog.reading.expectations import Expected
    from catalog_probe.catalog.recognition.vocabulary import ProviderVocabulary
    from catalog_probe.probes.judging.inconclusive.evidence import EndpointAnswer, KeyEvidence
    from catalog_probe.probes.running.lane import Lane
    from catalog_probe.probes.running.probing import Task

Send = Callable[[str], Awaitable["Exchange"]]
"""Sends the fault-free request of an endpoint; raises `ProbeStopped` where it may not or cannot be sent."""


async def ask_fault_free(key: KeyEvidence, send: Send, provider: str, vocabulary: ProviderVocabulary) -> None:
    """Send the fault-free request of each answer that too many faults share, and keep what it showed.

    Example: three requests with different faults got `403 Forbidden` from one endpoint. If the request without a fault
    gets it too, nobody looked at the faults, and the three records are inconclusive.
    """
    while suspicions := list_suspicions(key):
        key.fault_free_answers[suspicions[0]] = await _ask(suspicions[0], send, expect_control(provider), vocabulary)


async def _ask(
    suspicion: EndpointAnswer, send: Send, expected: Expected, vocabulary: ProviderVocabulary
) -> FaultFreeAnswer:
    """Send the fault-free request until its answer shows something, at most `MAX_REQUESTS` times."""
    for _ in range(MAX_REQUESTS):
        try:
            exchange = await send(suspicion.endpoint)
        except ProbeStopped as stopped:
            cause = f"{suspicion.endpoint} without a fault: {stopped.reason.code}: {stopped.reason.detail}"
            return FaultFreeAnswer(
                FaultFreeResult.UNKNOWN, f"{cause}; different faults got: {suspicion.fingerprint.message}"
            )
        answer = judge_fault_free(suspicion, exchange, expected, vocabulary)
        if answer.result is not FaultFreeResult.UNKNOWN:
            break
    return answer


async def ask_suspected_families(lane: Lane, send: Send, endpoints: Sequence[str]) -> None:
    """Send the fault-free requests of each family that a compatible server may not have, and keep what they showed.

    A family is there as soon as one of its requests is answered otherwise, so most families need one request.
    """
    key = lane.evidence
    for family in sorted(key.suspected_families - key.asked_families):
        key.asked_families.add(family)
        answers: list[Exchange] = []
        for endpoint in endpoints:
            if family_of(endpoint) != family:
                continue
            with suppress(ProbeStopped):  # it is not allowed here, or needs something made first
                answers.append(await send(endpoint))
            if answers and not describe_missing_family(family, answers, lane.provider.values):
                break
        key.missing_families[family] = describe_missing_family(family, answers, lane.provider.values)


async def send_fault_free(task: Task, lane: Lane, endpoint: str) -> Exchange:
    """Send the fault-free request of an endpoint, and remove what it makes.

    `task` is any task of the lane: all of them find the same request.

    Raises:
        ProbeStopped: the request is not allowed here, or nothing more can be sent.
    """
    recipe = task.fault_free(endpoint)
    if isinstance(recipe, Reason):
        raise ProbeStopped(recipe)
    probe = AttemptProbe(
        endpoint, lane.role, lane, f"{task.run}/{endpoint}/{FAULT_FREE}", task.journal, tokens=recipe.tokens
    )
    async with lane.semaphore:
        lane.reserve(recipe.tokens)
        try:
            await perform_recipe(recipe, probe)
        finally:
            await probe.remove_all()
    return next(exchange for exchange in probe.exchanges if exchange.label == FAULT_FREE)
