"""On a mock: order of the recipes, sessions, and limits whatever the clock."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from itertools import count
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from catalog_probe.catalog.model import Outcome
from catalog_probe.catalog.model.exchange import ANSWER, CLEANUP, SETUP
from catalog_probe.mockserver.app import create_app
from catalog_probe.mockserver.core import world
from catalog_probe.probes.calls import get
from catalog_probe.probes.recipes import book
from catalog_probe.probes.recipes.book import recipe_book
from catalog_probe.probes.recipes.performing import perform_recipe
from catalog_probe.probes.recipes.probe import ProbeStopped
from catalog_probe.probes.recipes.recipe import Family
from catalog_probe.probes.running.attempt_probe import AttemptProbe
from catalog_probe.probes.running.lane import Lane
from catalog_probe.probes.running.limits import Budget
from tests.harness.declared import make_redactor
from tests.harness.engines import mock_target_at, probe
from tests.harness.recipes import load_recipes
from tests.harness.serving import serving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from catalog_probe.probes.calls import Call
    from catalog_probe.probes.recipes.recipe import Recipe
    from catalog_probe.probes.targets.target import Target


FEW, MOST = "pa/endpoints/models/list_models", "pa/endpoints/messages/count_tokens"
PATHS = ("/v1/models", "/v1/messages/count_tokens")


class RecordingMock:
    """A mock that records the requested paths in order."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self._app = create_app()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve one request."""
        self.asked.append(scope["path"].removeprefix("/pa"))
        await self._app(scope, receive, send)


@pytest.fixture(scope="module")
def recording_mock() -> Iterator[tuple[RecordingMock, str]]:
    app = RecordingMock()
    with serving(app) as base:
        yield app, base


@pytest.mark.parametrize(("live", "first"), [(False, MOST), (True, FEW)])
def test_the_longest_recipe_starts_first_on_a_mock_only(
    recording_mock: tuple[RecordingMock, str], *, live: bool, first: str
) -> None:
    app, base = recording_mock
    recipes = book.recipe_book("pa").recipes
    assert recipes[FEW].requests < recipes[MOST].requests
    app.asked.clear()
    results = probe(replace(mock_target_at(base, concurrency=1), live=live, reprobe_after_s=0.0), [FEW, MOST])
    assert {result.outcome for result in results.values()} == {Outcome.CONFORMS}
    after_the_control = [path for path in app.asked[1:] if path in PATHS]
    assert after_the_control[0] == dict(zip((FEW, MOST), PATHS, strict=True))[first]


UPLOAD: Call = load_recipes("pa").requests.UPLOAD

FAMILY = Family("pa/endpoints/models")
MODELS = get("/v1/models")
SESSION = "run/pa/x/y/z/1"


def perform(target: Target, recipe: Recipe) -> list[tuple[str, str]]:
    """Return label and session of each request of an attempt, clean-up included."""
    sessions: list[tuple[str, str]] = []

    async def attempt() -> None:
        provider = target.providers["pa"]
        lane = Lane(provider, "inference", make_redactor(target), Budget(provider), mock=True)
        probe = AttemptProbe("pa/x/y/z", "inference", lane, SESSION)
        try:
            await perform_recipe(recipe, probe)
        finally:
            await probe.remove_all()
            await lane.aclose()
        sessions.extend((exchange.label, exchange.request.headers["x-mock-session"]) for exchange in probe.exchanges)

    anyio.run(attempt)
    return sessions


def test_a_success_without_a_behaviour_that_may_not_come_is_not_judged_live(mock_target: Target) -> None:
    """Nor is a refusal kept from the judge: that is no missing behaviour."""
    absent = MODELS.replace(may_not_come="no-such-text")
    sent: dict[str, tuple[list[str], str]] = {}

    async def send(name: str, call: Call, *, mock: bool) -> None:
        provider = mock_target.providers["pa"]
        lane = Lane(provider, "inference", make_redactor(mock_target), Budget(provider), mock=mock)
        probe = AttemptProbe("pa/x/y/z", "inference", lane, SESSION)
        stop = ""
        try:
            await probe.send(call)
        except ProbeStopped as stopped:
            stop = stopped.reason.code
        finally:
            await lane.aclose()
        sent[name] = ([exchange.label for exchange in probe.exchanges], stop)

    anyio.run(partial(send, "absent", absent, mock=False))
    anyio.run(partial(send, "refused", absent.replace(credential="wrong"), mock=False))
    anyio.run(partial(send, "present", MODELS.replace(may_not_come="mock-small"), mock=False))
    anyio.run(partial(send, "absent on the mock", absent, mock=True))
    assert sent == {
        "absent": ([SETUP], "assumption-failed"),
        "refused": ([ANSWER], ""),
        "present": ([ANSWER], ""),
        "absent on the mock": ([ANSWER], ""),
    }


def test_optional_parts_use_and_clean_up_their_own_session(mock_target: Target) -> None:
    together = {"one": MODELS, "two": MODELS}
    recipe = FAMILY.recipe("list_models", MODELS).with_optional({"one": together, "made": UPLOAD})
    assert perform(mock_target, recipe) == [
        (ANSWER, SESSION),
        ("one", f"{SESSION}+one"),
        ("two", f"{SESSION}+one"),
        ("made", f"{SESSION}+made"),
        (CLEANUP, f"{SESSION}+made"),
    ]


STEP_S = 7
"""Seconds that pass between two requests; a bucket of 60 a minute has seven more by then."""


@pytest.mark.parametrize("provider", ["pa", "pb", "pd"])
def test_a_limit_does_not_fill_again_while_it_is_used_up(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    start_s, steps = time.time(), count()
    monkeypatch.setattr(world, "time", SimpleNamespace(time=lambda: start_s + STEP_S * next(steps)))
    # No header of gRPC stops the mock's clock, and PD's rate limits are asked by gRPC as well.
    by_grpc = ("/grpc/", "pd/rate_limits/")
    recipes = recipe_book(provider).recipes.items()
    http_recipes = [recipe for address, recipe in recipes if not any(part in address for part in by_grpc)]
    chosen = [recipe.address for recipe in http_recipes if recipe.is_disruptive and not recipe.needs_scenario]
    with serving(create_app(only=[provider])) as base:
        results = probe(mock_target_at(base), chosen)
    assert len(results) >= 2
    others = {result.record: result.reason for result in results.values() if result.outcome is not Outcome.CONFORMS}
    assert not others
