"""Using a limit up: no request more than was bounded, and none after the refusal that was sought but the judged one."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

import anyio
import pytest

from catalog_probe.catalog.model import Exchange, Reason, Request, Response
from catalog_probe.catalog.model.labels import ANSWER, LIMITED, SETUP
from catalog_probe.probes.calls.call import Call, get
from catalog_probe.probes.recipes.exhausting import (
    exhaust_limit,
    send_one_more_than,
    send_until_limited,
    send_until_refused,
)
from catalog_probe.probes.recipes.probe import ProbeStopped

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

CALL = get("/v1/models")
REMAINING = "x-remaining"


class Scripted:
    """A probe whose provider answers with these statuses in turn; None is no answer."""

    def __init__(self, *statuses: int | None, headers: Mapping[str, str] | None = None) -> None:
        self.provider = "pd"
        self.values: Mapping[str, str] = {}
        self.exchanges: list[Exchange] = []
        self.endpoint = ""
        self._statuses = list(statuses)
        self._headers = headers or {}

    async def send(self, call: Call, label: str = ANSWER) -> Exchange:
        status = self._statuses.pop(0)
        response = None if status is None else Response(status=status, headers=self._headers)
        exchange = Exchange(label=label, request=Request(call.method, call.path, {}), response=response)
        self.exchanges.append(exchange)
        return exchange

    async def setup(self, call: Call, *statuses: int, label: str = SETUP) -> Response:
        response = (await self.send(call, label)).response
        if response is None or response.status != 200:
            raise ProbeStopped(Reason("setup-failed", call.path))
        return response

    def explain_stop(self, reason: Reason) -> Reason:
        return reason

    def use_mock_session(self, name: str) -> AbstractContextManager[None]:
        return nullcontext()

    @property
    def sent(self) -> Sequence[str]:
        return [exchange.label for exchange in self.exchanges]


def after(probe: Scripted, steps: Callable[[Scripted], Awaitable[None]]) -> Sequence[str]:
    """The labels of what was sent."""
    anyio.run(steps, probe)
    return probe.sent


@pytest.mark.parametrize(
    "statuses, labels",
    [
        ((200, 200, 429, 429), [SETUP, SETUP, SETUP, LIMITED]),
        ((429, 429), [SETUP, LIMITED]),
        ((None, 200, 429, 429), [SETUP, SETUP, SETUP, LIMITED]),
        ((200,) * 6, [SETUP] * 5 + [LIMITED]),
    ],
    ids=["refused in time", "at once", "lost on the way", "never"],
)
def test_exhausting_ends_at_the_refusal_or_the_bound(statuses: tuple[int | None, ...], labels: list[str]) -> None:
    assert after(Scripted(*statuses), lambda probe: exhaust_limit(probe, CALL, 5, label=LIMITED)) == labels


def test_a_limit_out_of_reach_is_not_tried() -> None:
    probe = Scripted(*(200,) * 9, headers={REMAINING: "999"})
    with pytest.raises(ProbeStopped, match="x-remaining says 999, and at most 5 requests"):
        after(probe, lambda probe: exhaust_limit(probe, CALL, 5, remaining=REMAINING))
    assert probe.sent == [SETUP]


def test_a_limit_within_reach_is_tried() -> None:
    probe = Scripted(200, 429, 429, headers={REMAINING: "1"})
    assert after(probe, lambda probe: exhaust_limit(probe, CALL, 5, remaining=REMAINING)) == [SETUP, SETUP, ANSWER]


@pytest.mark.parametrize(
    "statuses, ordinary, sent",
    [((200, 200, 429), 200, 3), ((400, 429), 400, 2), ((None,), 200, 1), ((200,) * 4, 200, 4)],
    ids=["refused", "ordinary failures count too", "no answer", "never"],
)
def test_each_try_is_judged_until_one_is_refused(statuses: tuple[int | None, ...], ordinary: int, sent: int) -> None:
    labels = after(Scripted(*statuses), lambda probe: send_until_refused(probe, CALL, 4, ordinary=ordinary))
    assert labels == [ANSWER] * sent


@pytest.mark.parametrize(
    "statuses, sent",
    [((429,), 1), ((200, 404, 429), 3), ((None, 429), 1), ((200,) * 4, 4)],
    ids=["used up", "it filled up on the way", "no answer", "never"],
)
def test_a_limit_that_was_used_up_is_met_again(statuses: tuple[int | None, ...], sent: int) -> None:
    assert after(Scripted(*statuses), lambda probe: send_until_limited(probe, CALL, 4)) == [ANSWER] * sent


def test_one_more_is_sent_than_is_allowed() -> None:
    assert after(Scripted(200, 200, 429), lambda probe: send_one_more_than(probe, CALL, 2)) == [SETUP, SETUP, ANSWER]


def test_what_is_refused_too_early_proves_nothing() -> None:
    with pytest.raises(ProbeStopped, match="setup-failed"):
        after(Scripted(200, 429), lambda probe: send_one_more_than(probe, CALL, 2))
