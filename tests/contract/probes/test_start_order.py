"""On a mock the recipe with most requests starts first; live the order is kept."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from catalog_probe.catalog.model import Outcome
from catalog_probe.mockserver.app import create_app
from catalog_probe.probes.recipes import book
from tests.harness.engines import mock_target_at, probe
from tests.harness.serving import serving

if TYPE_CHECKING:
    from collections.abc import Iterator

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
