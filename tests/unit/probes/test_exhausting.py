"""Recipes that send several requests: until a limit, page by page."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

import anyio
import pytest

from catalog_probe.catalog.model import Exchange, Reason, Request, Response
from catalog_probe.catalog.model.exchange import ANSWER, LIMITED, SETUP
from catalog_probe.probes.calls import Call, get
from catalog_probe.probes.recipes.performing import perform_planned_recipe
from catalog_probe.probes.recipes.probe import Probe, ProbeStopped
from catalog_probe.probes.recipes.rate_limits import (
    exhaust_limit,
    send_one_more_than,
    send_until_limited,
    send_until_refused,
)
from catalog_probe.probes.recipes.recipe import EndpointPlan, Family, PlannedRecipe, Recipe, declare_steps
from tests.harness.recipes import load_recipes

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence


CALL = get("/v1/models")
REMAINING = "x-remaining"


class ScriptedProbe:
    """A probe whose provider answers with these statuses in turn; None is no answer."""

    def __init__(self, *statuses: int | None, headers: Mapping[str, str] | None = None) -> None:
        self.provider = "pd"
        self.values: Mapping[str, str] = {}
        self.exchanges: list[Exchange] = []
        self.endpoint = ""
        self.sessions: list[str] = []
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

    async def wait(self, seconds: float) -> None:
        raise NotImplementedError

    def explain_stop(self, reason: Reason) -> Reason:
        return reason

    def use_mock_session(self, name: str) -> AbstractContextManager[None]:
        self.sessions.append(name)
        return nullcontext()

    @property
    def sent(self) -> Sequence[str]:
        return [exchange.label for exchange in self.exchanges]


def list_sent_labels(probe: ScriptedProbe, steps: Callable[[ScriptedProbe], Awaitable[None]]) -> Sequence[str]:
    """Run the steps, and return the labels of the requests."""
    anyio.run(steps, probe)
    return probe.sent


def test_exhausting_ends_at_the_refusal_or_the_bound(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, tuple[int | None, ...], list[str]]] = [
        ("refused in time", (200, 200, 429), [SETUP, LIMITED, LIMITED]),
        ("at once", (429, 429), [SETUP, LIMITED]),
        ("at once, and it fills again", (429, 200, 200, 429), [SETUP, LIMITED, LIMITED, LIMITED]),
        ("lost on the way", (None, 200, 429), [SETUP, LIMITED, LIMITED]),
        ("never", (200,) * 6, [SETUP] + [LIMITED] * 5),
    ]
    for case, statuses, labels in cases:
        with subtests.test(case=case):
            assert (
                list_sent_labels(ScriptedProbe(*statuses), lambda probe: exhaust_limit(probe, CALL, 5, label=LIMITED))
                == labels
            )


def test_limit_out_of_reach_stops_the_probe() -> None:
    probe = ScriptedProbe(*(200,) * 9, headers={REMAINING: "999"})
    with pytest.raises(ProbeStopped, match="x-remaining says 999, and at most 5 more requests"):
        list_sent_labels(probe, lambda probe: exhaust_limit(probe, CALL, 5, remaining=REMAINING))
    assert probe.sent == [SETUP]


@pytest.mark.parametrize(("left", "is_within_reach"), [(1, True), (4, True), (5, False)])
def test_limit_within_reach_is_exhausted(left: int, is_within_reach: bool) -> None:
    probe = ScriptedProbe(200, 429, headers={REMAINING: str(left)})
    with nullcontext() if is_within_reach else pytest.raises(ProbeStopped):
        list_sent_labels(probe, lambda probe: exhaust_limit(probe, CALL, 5, remaining=REMAINING))
    assert probe.sent == ([SETUP, ANSWER] if is_within_reach else [SETUP])


@pytest.mark.parametrize(
    "statuses, ordinary, count",
    [((200, 200, 429), 200, 3), ((400, 429), 400, 2), ((None,), 200, 1), ((200,) * 4, 200, 4)],
    ids=["refused", "ordinary failures count too", "no answer", "never"],
)
def test_send_until_refused(statuses: tuple[int | None, ...], ordinary: int, count: int) -> None:
    labels = list_sent_labels(
        ScriptedProbe(*statuses), lambda probe: send_until_refused(probe, CALL, 4, ordinary=ordinary)
    )
    assert labels == [ANSWER] * count


def test_send_until_limited(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, tuple[int | None, ...], int]] = [
        ("used up", (429,), 1),
        ("it filled up on the way", (200, 404, 429), 3),
        ("no answer", (None, 429), 1),
        ("never", (200,) * 4, 4),
    ]
    for case, statuses, count in cases:
        with subtests.test(case=case):
            assert (
                list_sent_labels(ScriptedProbe(*statuses), lambda probe: send_until_limited(probe, CALL, 4))
                == [ANSWER] * count
            )


def test_one_more_than_allowed_is_sent() -> None:
    assert list_sent_labels(ScriptedProbe(200, 200, 429), lambda probe: send_one_more_than(probe, CALL, 2)) == [
        SETUP,
        SETUP,
        ANSWER,
    ]


def test_early_refusal_stops_the_probe() -> None:
    with pytest.raises(ProbeStopped, match="setup-failed"):
        list_sent_labels(ScriptedProbe(200, 429), lambda probe: send_one_more_than(probe, CALL, 2))


read_cursor = load_recipes("pa").walking.read_cursor


def make_page(body: object) -> Exchange:
    return Exchange("page_1", Request("GET", "https://provider.example/list"), Response(200, {}, body, "json"))


def test_cursor_is_opaque(subtests: pytest.Subtests) -> None:
    cases: list[tuple[object, str]] = [("page_x", "page_x"), (17, "17")]
    for value, copied in cases:
        with subtests.test(value=value):
            assert read_cursor(make_page({"next_page": value}), "next_page") == copied


def test_missing_cursor_stops_the_probe(subtests: pytest.Subtests) -> None:
    cases: list[object] = [{}, {"next_page": None}, {"next_page": True}, {"next_page": ["x"]}, [], None]
    for body in cases:
        with subtests.test(body=body), pytest.raises(ProbeStopped, match="the page has no next_page to walk by"):
            read_cursor(make_page(body), "next_page")


@declare_steps(requests=1)
async def use_up(probe: Probe) -> None:
    await probe.send(CALL)


def test_other_endpoint_has_its_own_session_unless_it_relies_on_earlier_requests(subtests: pytest.Subtests) -> None:
    general, other = Family("pd/errors/general"), "pd/endpoints/models/get_model"
    one_call, steps = general.recipe("x", CALL), general.recipe("x", use_up)
    cases: list[tuple[str, Recipe, Recipe, str]] = [
        ("calls", one_call, one_call, other),
        ("the recipe makes something first", general.recipe("x", {SETUP: CALL, ANSWER: CALL}), one_call, ""),
        ("the recipe has steps", steps, one_call, ""),
        ("the other endpoint has steps", one_call, steps, ""),
    ]
    for case, recipe, endpoint_recipe, session in cases:
        with subtests.test(case=case):
            planned = PlannedRecipe.from_recipe(recipe, {}, EndpointPlan({other: endpoint_recipe}))
            probe = ScriptedProbe(200, 200, 200)
            anyio.run(perform_planned_recipe, planned, probe)
            assert probe.sessions == [session]
            assert len(probe.sent) == planned.requests
