"""Sends the look-ups before a run, each once and outside all budgets."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

import anyio

from catalog_probe.catalog.model import Reason
from catalog_probe.catalog.model.exchange import SETUP
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.probes.calls import fill_path, get
from catalog_probe.probes.judging.attempts import TRANSIENT_REASONS
from catalog_probe.probes.judging.control import explain_silence
from catalog_probe.probes.recipes.probe import ProbeStopped
from catalog_probe.probes.running.lane import Lane
from catalog_probe.probes.running.limits import Budget
from catalog_probe.probes.targets.look_ups import (
    MAX_REPEATS,
    LookUpResult,
    LookUpRule,
    choose_value,
    find_end_day,
    find_next_cursor,
    is_empty,
    join_pages,
    lists_value,
)
from catalog_probe.probes.targets.target import MODEL_SUFFIX
from catalog_probe.probes.wire.redaction import redact_exchange, redact_reason

if TYPE_CHECKING:
    from collections.abc import Iterable

    from catalog_probe.catalog.model import Exchange, Json
    from catalog_probe.probes.planning.look_ups import LookUps
    from catalog_probe.probes.targets.target import Target
    from catalog_probe.probes.wire.redaction import Redactor

SESSION = "look-ups"

_Request = tuple[str, str, str]
"""Role, address and path of one request."""


def look_up(look_ups: LookUps, target: Target, redactor: Redactor) -> tuple[LookUpResult, ...]:
    """Look up the values of each provider by its rules, in an event loop of its own.

    Example: the rule of `small_model` sends `GET /v1/models`, and the smallest model of the list is the value.
    """
    return anyio.run(_look_up_all, look_ups, target, redactor) if look_ups else ()


def collect_values(looked_up: Iterable[LookUpResult]) -> dict[str, dict[str, str]]:
    """Join the values that were found: `{"pa": {"small_model": "mock-small"}}`."""
    values: dict[str, dict[str, str]] = {}
    for answer in looked_up:
        values.setdefault(answer.provider, {}).update(answer.values)
    return values


def collect_unanswered(looked_up: Iterable[LookUpResult]) -> dict[str, dict[str, Reason]]:
    """Join why values could not be looked up: `{"pa": {"small_model": Reason("read-timeout", …)}}`."""
    reasons: dict[str, dict[str, Reason]] = {}
    for answer in looked_up:
        reasons.setdefault(answer.provider, {}).update(answer.unanswered)
    return reasons


async def _look_up_all(look_ups: LookUps, target: Target, redactor: Redactor) -> tuple[LookUpResult, ...]:
    answers: dict[str, tuple[LookUpResult, ...]] = {}

    async def follow(provider: str, rules: tuple[LookUpRule, ...]) -> None:
        answers[provider] = await _ProviderLookUps(target, provider, redactor).follow(rules)

    async with anyio.create_task_group() as group:
        for provider, rules in look_ups.items():
            group.start_soon(follow, provider, rules)
    return tuple(answer for provider in look_ups for answer in answers[provider])


class _ProviderLookUps:
    """The look-ups of one provider, in turn: some need values of others."""

    def __init__(self, target: Target, name: str, redactor: Redactor) -> None:
        self._provider = target.providers[name]
        self._redactor = redactor
        self._mock = not target.live
        self._retry_after_s = target.reprobe_after_s
        self._lanes: dict[str, Lane] = {}
        self._answers: dict[_Request, LookUpResult] = {}
        self._bodies: dict[_Request, Json] = {}
        self._unanswered: dict[_Request, Reason] = {}
        self._unknown_values: dict[str, _Request] = {}
        """Values of which nothing is known, and the request that should have shown them."""

    async def follow(self, rules: Iterable[LookUpRule]) -> tuple[LookUpResult, ...]:
        values = dict(self._provider.values)
        try:
            for rule in rules:
                if rule.rests_on <= values.keys():
                    await self._follow_rule(rule, values)
                elif unknown_values := sorted(rule.rests_on & self._unknown_values.keys()):
                    self._note_unknown_value(rule, self._unknown_values[unknown_values[0]])
        finally:
            for lane in self._lanes.values():
                await lane.aclose()
        return tuple(self._answers.values())

    async def _follow_rule(self, rule: LookUpRule, values: dict[str, str]) -> None:
        """Look up the value of a rule, or confirm the one that the target sets."""
        request = (rule.role, rule.address, fill_path(rule.ask, values))
        if request not in self._answers:
            self._answers[request] = await self._ask(request, rule)
        body = self._bodies.get(request)
        if rule.value in self._provider.values:
            await self._confirm_set_value(rule, request, body)
        elif rule.value not in values:
            value = choose_value(rule, body, values, self._provider.rules)
            if value is None:
                self._note_missing_value(rule, request, body)
                return
            values[rule.value] = value
            self._add_value(request, rule.value, value)
        end = find_end_day(rule, body, values[rule.value])
        if end is not None:
            answer = self._answers[request]
            self._answers[request] = replace(answer, expirations={**answer.expirations, rule.value: end})

    def _add_value(self, request: _Request, name: str, value: str) -> None:
        answer = self._answers[request]
        self._answers[request] = replace(answer, values={**answer.values, name: value})

    def _note_missing_value(self, rule: LookUpRule, request: _Request, body: Json) -> None:
        """Note that a value is unknown, if its request was not answered.

        An empty list of models counts as no answer: every provider has models, so the account has trouble.
        """
        if request not in self._unanswered and rule.value.endswith(MODEL_SUFFIX) and is_empty(rule, body):
            key = self._provider.key_name(rule.role)
            self._unanswered[request] = Reason.with_advice(
                ReasonCode.ACCOUNT_TROUBLE, f"GET {rule.ask} lists no model at all", f"look at the account of {key}"
            )
        if request in self._unanswered:
            self._note_unknown_value(rule, request)

    async def _confirm_set_value(self, rule: LookUpRule, request: _Request, body: Json) -> None:
        """Note whether the account has a value that the target sets: it is in the list, or has a page of its own.

        Example: the target sets `small_model = "mock-small"`. `GET /v1/models` does not list it, so `GET
        /v1/models/mock-small` is sent: 200 confirms the value, and 404 refuses it.
        """
        value = self._provider.values[rule.value]
        is_listed = lists_value(rule, body, value)
        if is_listed or not rule.one:
            is_confirmed = is_listed
        else:
            request = (rule.role, rule.address, fill_path(rule.one, self._provider.values))
            if request not in self._answers:
                answer = await self._ask(request, replace(rule, next=""))
                is_refused = bool(answer.trouble) and request not in self._unanswered
                self._answers[request] = replace(answer, refused=frozenset({rule.value} if is_refused else ()))
            is_confirmed = not self._answers[request].trouble
        if is_confirmed:
            self._add_value(request, rule.value, value)

    def _note_unknown_value(self, rule: LookUpRule, request: _Request) -> None:
        """Note that a value is unknown, because its request was not answered."""
        answer = self._answers[request]
        self._unknown_values[rule.value] = request
        unanswered = {**answer.unanswered, rule.value: self._unanswered[request]}
        self._answers[request] = replace(answer, unanswered=unanswered)

    async def _ask(self, request: _Request, rule: LookUpRule) -> LookUpResult:
        """Ask for a list, page by page; the pages before a refused one count."""
        role, address, path_and_query = request
        path, _, query_text = path_and_query.partition("?")
        answer = LookUpResult(self._provider.name, f"GET {path_and_query}")
        query = tuple(parse_qsl(query_text, keep_blank_values=True))
        lane = self._lanes.setdefault(
            role, Lane(self._provider, role, self._redactor, Budget(self._provider), mock=self._mock)
        )
        pages: list[Json] = []
        retries = MAX_REPEATS
        cursor: tuple[tuple[str, str], ...] = ()
        while True:
            try:
                call = get(path, query=query + cursor, service=address)
                # Redacted at once: the answer is not judged, but values are taken from it and shown.
                exchange = redact_exchange(await lane.send(call, SETUP, SESSION, 0.0, unbudgeted=True), self._redactor)
            except ProbeStopped as stopped:
                reason = redact_reason(stopped.reason, self._redactor)
                self._unanswered[request] = reason
                return replace(answer, trouble=f"{reason.code}: {reason.detail}")
            unanswered = _explain_no_answer(exchange, self._provider.name)
            if retries and unanswered is not None and unanswered.code in TRANSIENT_REASONS:
                retries -= 1
                await anyio.sleep(self._retry_after_s)
                continue
            if exchange.failure is not None:  # other requests would only repeat it
                lane.stop(exchange.failure)
            if unanswered is not None:
                self._unanswered[request] = unanswered
            trouble = _describe_trouble(exchange)
            if trouble or exchange.response is None:
                return replace(answer, trouble=trouble)
            pages.append(exchange.response.body)
            self._bodies[request] = join_pages(rule, pages)
            next_cursor = find_next_cursor(rule, pages)
            if next_cursor is None:
                return answer
            cursor = ((rule.next_as, next_cursor),)


def _explain_no_answer(exchange: Exchange, provider: str) -> Reason | None:
    """Return why an exchange says nothing about the account, such as a reset or a gateway's page; or None."""
    reason = exchange.failure
    if reason is None and exchange.response is not None:
        reason = explain_silence(exchange, provider)
    if reason is None:
        return None
    request = exchange.request
    return Reason(reason.code, f"the look-up {request.method} {request.url}: {reason.detail}")


def _describe_trouble(exchange: Exchange) -> str:
    if exchange.response is None:
        return exchange.failure.code if exchange.failure is not None else "no answer"
    if exchange.response.status != 200:
        return f"HTTP {exchange.response.status}"
    return "" if exchange.response.body_type == "json" else f"{exchange.response.body_type} in place of JSON"
