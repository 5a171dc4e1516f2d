"""Sends the look-ups of a run's beginning: each list once, page by page, on its key's lane, outside all budgets.

What got lost on the way is asked for once more, as the steps of a probe are.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

import anyio

from catalog_probe.catalog.model import Reason
from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.catalog.model.labels import SETUP
from catalog_probe.probes.calls.call import get
from catalog_probe.probes.calls.placeholders import fill_path
from catalog_probe.probes.judging.control import explain_silence
from catalog_probe.probes.judging.verdicts.attempts import PASSING
from catalog_probe.probes.recipes.probe import Stopped
from catalog_probe.probes.running.lane import Lane
from catalog_probe.probes.running.pacing.budget import Budget
from catalog_probe.probes.targets.look_ups import (
    AGAIN,
    LookedUp,
    Rule,
    choose,
    ending,
    following,
    is_empty,
    joined,
    listed,
)
from catalog_probe.probes.wire.redaction.evidence import redact_exchange, redact_reason

if TYPE_CHECKING:
    from collections.abc import Iterable

    from catalog_probe.catalog.model import Exchange, Json
    from catalog_probe.probes.planning.look_ups import LookUps
    from catalog_probe.probes.targets.target import Target
    from catalog_probe.probes.wire.redaction.redactor import Redactor

SESSION = "look-ups"

MODEL = "_model"
"""How values end that are names of models."""

_Key = tuple[str, str, str]
"""Role, address and path of one request."""


def look_up(wanted: LookUps, target: Target, redactor: Redactor) -> tuple[LookedUp, ...]:
    """Follow these rules; what an answer does not tell is not found. Starts and ends a loop of its own."""
    return anyio.run(_all, wanted, target, redactor) if wanted else ()


def found_in(looked_up: Iterable[LookedUp]) -> dict[str, dict[str, str]]:
    """What was found, by provider and value."""
    found: dict[str, dict[str, str]] = {}
    for each in looked_up:
        found.setdefault(each.provider, {}).update(each.values)
    return found


def unanswered_in(looked_up: Iterable[LookedUp]) -> dict[str, dict[str, Reason]]:
    """What could not be looked up and why, by provider and value."""
    found: dict[str, dict[str, Reason]] = {}
    for each in looked_up:
        found.setdefault(each.provider, {}).update(each.unanswered)
    return found


async def _all(wanted: LookUps, target: Target, redactor: Redactor) -> tuple[LookedUp, ...]:
    told: dict[str, tuple[LookedUp, ...]] = {}

    async def of(name: str, rules: tuple[Rule, ...]) -> None:
        told[name] = await _OfProvider(target, name, redactor).follow(rules)

    async with anyio.create_task_group() as group:
        for name, rules in wanted.items():
            group.start_soon(of, name, rules)
    return tuple(each for name in wanted for each in told[name])


class _OfProvider:
    """The look-ups of one provider, one after another: some rest on what others found."""

    def __init__(self, target: Target, name: str, redactor: Redactor) -> None:
        self._provider = target.providers[name]
        self._redactor = redactor
        self._mock = not target.live
        self._again_after_s = target.reprobe_after_s
        self._lanes: dict[str, Lane] = {}
        self._told: dict[_Key, LookedUp] = {}
        self._bodies: dict[_Key, Json] = {}
        self._unanswered: dict[_Key, Reason] = {}
        self._left_open: dict[str, _Key] = {}

    async def follow(self, rules: Iterable[Rule]) -> tuple[LookedUp, ...]:
        values = dict(self._provider.values)
        try:
            for rule in rules:
                if rule.rests_on <= values.keys():
                    await self._follow(rule, values)
                elif left_open := sorted(rule.rests_on & self._left_open.keys()):
                    self._leave_open(rule, self._left_open[left_open[0]])
        finally:
            for lane in self._lanes.values():
                await lane.aclose()
        return tuple(self._told.values())

    async def _follow(self, rule: Rule, values: dict[str, str]) -> None:
        key = (rule.role, rule.address, fill_path(rule.ask, values))
        if key not in self._told:
            self._told[key] = await self._ask(key, rule)
        body = self._bodies.get(key)
        if rule.value in self._provider.values:
            await self._vouch(rule, key, body)
        elif rule.value not in values:
            found = choose(rule, body, values, self._provider.rules)
            if found is None:
                if key in self._unanswered:
                    self._leave_open(rule, key)
                elif rule.value.endswith(MODEL) and is_empty(rule, body):
                    self._unanswered[key] = self._no_models(rule)
                    self._leave_open(rule, key)
                return
            values[rule.value] = found
            self._told[key] = replace(self._told[key], values={**self._told[key].values, rule.value: found})
        end = ending(rule, body, values[rule.value])
        if end is not None:
            self._told[key] = replace(self._told[key], expirations={**self._told[key].expirations, rule.value: end})

    def _no_models(self, rule: Rule) -> Reason:
        """Why nothing is known where an account lists no model at all: no provider is without, but a key may be."""
        key = self._provider.called(rule.role)
        return Reason(ReasonCode.ACCOUNT_TROUBLE, f"GET {rule.ask} lists no model at all; look at the account of {key}")

    async def _vouch(self, rule: Rule, key: _Key, body: Json) -> None:
        """Note whether the account has a value that somebody has set: in the list, or when asked for it by itself."""
        value = self._provider.values[rule.value]
        if not listed(rule, body, value) and rule.one:
            key = (rule.role, rule.address, fill_path(rule.one, self._provider.values))
            if key not in self._told:
                told = await self._ask(key, replace(rule, next=""))
                answered = key not in self._unanswered
                self._told[key] = replace(told, refused=frozenset({rule.value} if told.trouble and answered else ()))
            there = not self._told[key].trouble
        else:
            there = listed(rule, body, value)
        if there:
            self._told[key] = replace(self._told[key], values={**self._told[key].values, rule.value: value})

    def _leave_open(self, rule: Rule, key: _Key) -> None:
        """Keep that nothing is known of a value because this request got no answer that speaks of the account."""
        told = self._told[key]
        self._left_open[rule.value] = key
        self._told[key] = replace(told, unanswered={**told.unanswered, rule.value: self._unanswered[key]})

    async def _ask(self, key: _Key, rule: Rule) -> LookedUp:
        """Ask for the list, page by page; what was told before one that was refused counts."""
        role, address, ask = key
        path, _, query_text = ask.partition("?")
        told = LookedUp(self._provider.name, f"GET {ask}")
        query = tuple(parse_qsl(query_text, keep_blank_values=True))
        lane = self._lanes.setdefault(
            role, Lane(self._provider, role, self._redactor, Budget(self._provider), mock=self._mock)
        )
        pages: list[Json] = []
        again = AGAIN
        cursor: tuple[tuple[str, str], ...] = ()
        while True:
            try:
                call = get(path, query=query + cursor, service=address)
                # Redacted at once: an answer is not judged here, but values are taken from it and shown.
                exchange = redact_exchange(await lane.send(call, SETUP, SESSION, 0.0, unbudgeted=True), self._redactor)
            except Stopped as stopped:
                reason = redact_reason(stopped.reason, self._redactor)
                self._unanswered[key] = reason
                return replace(told, trouble=f"{reason.code}: {reason.detail}")
            why = _unanswered(exchange, self._provider.name)
            if again and why is not None and why.code in PASSING:
                again -= 1
                await anyio.sleep(self._again_after_s)
                continue
            if exchange.failure is not None:  # the next would only repeat it
                lane.stop(exchange.failure)
            trouble = _trouble(exchange)
            if why is not None:
                self._unanswered[key] = why
            if trouble or exchange.response is None:
                return replace(told, trouble=trouble)
            pages.append(exchange.response.body)
            self._bodies[key] = joined(rule, pages)
            following_page = following(rule, pages)
            if following_page is None:
                return told
            cursor = ((rule.next_as, following_page),)


def _unanswered(exchange: Exchange, provider: str) -> Reason | None:
    """Why this tells nothing of the account at all, as a gateway's page; None where it does, if only to refuse."""
    if exchange.failure is not None:
        why: Reason | None = Reason(exchange.failure.code, exchange.failure.detail)
    else:
        why = explain_silence(exchange, provider) if exchange.response is not None else None
    request = exchange.request
    return Reason(why.code, f"the look-up {request.method} {request.url}: {why.detail}") if why is not None else None


def _trouble(exchange: Exchange) -> str:
    if exchange.response is None:
        return exchange.failure.code if exchange.failure is not None else "no answer"
    if exchange.response.status != 200:
        return f"HTTP {exchange.response.status}"
    return "" if exchange.response.body_type == "json" else f"{exchange.response.body_type} in place of JSON"
