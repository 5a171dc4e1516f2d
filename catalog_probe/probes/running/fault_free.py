"""Sends the fault-free request where a lane answered several faults alike, or a fault with the error of another one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Reason
from catalog_probe.catalog.reading.expectations import http_status_of
from catalog_probe.probes.judging.comparison.basis import is_no_refusal
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
    from catalog_probe.probes.running.task import Task

Send = Callable[[str], Awaitable["Exchange"]]
"""Sends the fault-free request of an endpoint; raises `ProbeStopped` where it may not or cannot be sent."""


async def ask_fault_free(key: KeyEvidence, send: Send, provider: str, vocabulary: ProviderVocabulary) -> None:
    """Send the fault-free request of each answer that too many faults share, and keep what it showed.

    Example: three requests with different faults got `403 Forbidden` from one endpoint. If the request without a fault
    gets it too, nobody looked at the faults, and the three records are inconclusive.
    """
    while suspicions := list_suspicions(key):
        key.fault_free_answers[suspicions[0]] = await _ask(suspicions[0], send, expect_control(provider), vocabulary)


async def check_endpoints(key: KeyEvidence, endpoints: Iterable[str], send: Send, provider: str) -> None:
    """Send the fault-free request of each endpoint that gave another documented error, and keep why it did not succeed.

    Example: a message without a fault is answered 404 too. Then a 404 in place of a documented 400 is no mismatch.
    """
    for endpoint in sorted(set(endpoints) - key.fault_free_troubles.keys()):
        trouble = await _find_trouble(endpoint, send, provider)
        if trouble:
            key.fault_free_troubles[endpoint] = trouble


async def _find_trouble(endpoint: str, send: Send, provider: str) -> str:
    """Return why a fault-free request did not succeed, in at most `MAX_REQUESTS` times; empty if it did."""
    trouble = ""
    for _ in range(MAX_REQUESTS):
        try:
            exchange = await send(endpoint)
        except ProbeStopped as stopped:
            return f"another documented error came, and {_describe_stop(endpoint, stopped)}"
        status = http_status_of(exchange.response, provider)
        if is_no_refusal(status):
            return ""
        request = f"{exchange.request.method} {exchange.request.url}"
        trouble = f"another documented error came, and {request} without a fault was answered {status or 'nothing'}"
    return trouble


def _describe_stop(endpoint: str, stopped: ProbeStopped) -> str:
    return f"{endpoint} without a fault: {stopped.reason.code}: {stopped.reason.detail}"


async def _ask(
    suspicion: EndpointAnswer, send: Send, expected: Expected, vocabulary: ProviderVocabulary
) -> FaultFreeAnswer:
    """Send the fault-free request until its answer shows something, at most `MAX_REQUESTS` times."""
    for _ in range(MAX_REQUESTS):
        try:
            exchange = await send(suspicion.endpoint)
        except ProbeStopped as stopped:
            cause = _describe_stop(suspicion.endpoint, stopped)
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
