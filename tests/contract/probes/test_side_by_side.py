"""Parts of an attempt of which none rests on another: side by side on a mock, in turn on an account, told in order."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import anyio

from catalog.model import Reason
from catalog.model.codes import ReasonCode
from catalog.model.labels import ANSWER, CLEANUP
from probes.calls.call import get
from probes.elicit.performing import perform
from probes.elicit.probe import Probe, Stopped
from probes.elicit.recipe import Family, each_apart
from probes.recipes.pa.endpoints import UPLOAD
from probes.running.attempt_probe import AttemptProbe
from probes.running.budget import Budget
from probes.running.lane import Lane
from tests.harness.declared import hiding

if TYPE_CHECKING:
    from probes.target.target import Provider, Target

FAMILY = Family("pa/endpoints/models")
MODELS = get("/v1/models")
SESSION = "x-mock-session"

Steps = Callable[[AttemptProbe], Awaitable[None]]


def attempted(target: Target, steps: Steps, *, live: bool = False, **changes: int) -> AttemptProbe:
    """What an attempt exchanged by these steps, with its clean-up."""

    async def attempt() -> AttemptProbe:
        provider: Provider = replace(target.providers["pa"], **changes)  # type: ignore[arg-type]
        lane = Lane(provider, "inference", hiding(target), Budget(provider), mock=not live)
        probe = AttemptProbe("pa/x/y/z", "inference", lane, "run/pa/x/y/z/1")
        try:
            await steps(probe)
        finally:
            await probe.remove_all()
            await lane.aclose()
        return probe

    return anyio.run(attempt)


def in_which_order(target: Target, *, live: bool = False, **changes: int) -> list[str]:
    """What two parts come to, each of which lets the other go on where it may."""
    come: list[str] = []

    async def part(name: str, _: Probe) -> None:
        come.append(f"{name} begins")
        await anyio.lowlevel.checkpoint()
        come.append(f"{name} ends")

    async def steps(probe: AttemptProbe) -> None:
        await probe.side_by_side([partial(part, "one"), partial(part, "two")])

    attempted(target, steps, live=live, **changes)
    return come


IN_TURN = ["one begins", "one ends", "two begins", "two ends"]


def test_parts_go_side_by_side_on_a_mock_alone_and_where_more_than_one_may(mock_target: Target) -> None:
    assert in_which_order(mock_target) == ["one begins", "two begins", "one ends", "two ends"]
    assert in_which_order(mock_target, live=True) == IN_TURN
    assert in_which_order(mock_target, concurrency=1) == IN_TURN


def test_what_parts_exchange_is_told_in_their_order_as_of_their_endpoint(mock_target: Target) -> None:
    first_may_go = anyio.Event()

    async def first(probe: Probe) -> None:
        await first_may_go.wait()
        await probe.send(MODELS, "first")

    async def second(probe: Probe) -> None:
        await probe.send(MODELS, "second")
        first_may_go.set()

    async def steps(probe: AttemptProbe) -> None:
        probe.endpoint = "pa/endpoints/models/list_models"
        await probe.side_by_side([first, second])
        await probe.send(MODELS, "third")

    exchanges = attempted(mock_target, steps).exchanges
    assert [each.label for each in exchanges] == ["first", "second", "third"]
    assert {each.endpoint for each in exchanges} == {"pa/endpoints/models/list_models"}
    assert {each.request.headers[SESSION] for each in exchanges} == {"run/pa/x/y/z/1"}


def test_what_is_apart_has_a_session_by_name_and_removes_there_what_it_made(mock_target: Target) -> None:
    looks = {name: FAMILY.recipe("list_models", MODELS, label=name) for name in ("one", "two")}
    apart = each_apart({**looks, "made": FAMILY.recipe("list_models", UPLOAD, label="made")})
    apart["two"] = replace(apart["two"], apart="one")
    recipe = FAMILY.recipe("list_models", MODELS, optional=apart)

    async def steps(probe: AttemptProbe) -> None:
        await perform(recipe, probe)

    seen = [(each.label, each.request.headers[SESSION]) for each in attempted(mock_target, steps).exchanges]
    alone = "run/pa/x/y/z/1"
    apart_from_it = [("one", f"{alone}+0"), ("two", f"{alone}+0"), ("made", f"{alone}+1"), (CLEANUP, f"{alone}+1")]
    assert seen == [(ANSWER, alone), *apart_from_it]


def test_the_first_part_that_stops_is_why_the_attempt_does(mock_target: Target) -> None:
    async def stops(name: str, probe: Probe) -> None:
        await probe.send(MODELS, name)
        raise Stopped(Reason(ReasonCode.SETUP_FAILED, name))

    seen: list[str] = []

    async def steps(probe: AttemptProbe) -> None:
        try:
            await probe.side_by_side([partial(stops, "one"), partial(stops, "two")])
        except Stopped as ended:
            seen.append(ended.reason.detail)

    assert [each.label for each in attempted(mock_target, steps).exchanges] == ["one", "two"]
    assert seen == ["one"]
