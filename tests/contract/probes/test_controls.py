"""The answer to a control proves the provider; a gateway's page does not."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from catalog_probe.catalog.files.manifest import manifest, providers
from catalog_probe.catalog.text.json_values import ABSENT, find_value
from catalog_probe.probes.recipes.book import recipe_book
from catalog_probe.probes.running import controls
from catalog_probe.probes.running.lane import Lane
from catalog_probe.probes.running.limits import Budget
from catalog_probe.probes.wire.redaction import Redactor, redact_exchange

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Exchange
    from catalog_probe.probes.targets.target import Target

CONTROLS = [(name, role) for name in providers() for role in manifest(name).controls]
PROVEN = [(name, role) for name, role in CONTROLS if manifest(name).controls[role].proof]

FOREIGN_BODIES: tuple[Any, ...] = ({"status": "ok"}, {"error": {"message": "no"}}, [], "it works", None)
"""JSON bodies that a gateway or another host might send with 200."""


def ask_control(target: Target, name: str, role: str) -> Exchange:
    async def ask() -> Exchange:
        provider = target.providers[name]
        lane = Lane(provider, role, Redactor.for_target(target), Budget(provider), mock=True)
        try:
            return await controls.confirm(recipe_book(name).controls[role], lane, "control")
        finally:
            await lane.aclose()

    return anyio.run(ask)


@pytest.mark.parametrize(("name", "role"), CONTROLS)
def test_the_controls_answer_has_its_proof(name: str, role: str, mock_target: Target) -> None:
    response = ask_control(mock_target, name, role).response
    assert response is not None
    assert response.status == 200
    missing = [
        pointer for pointer in manifest(name).controls[role].proof if find_value(response.body, pointer) is ABSENT
    ]
    assert missing == []


def test_a_key_in_the_query_is_sent_only_there(mock_target: Target) -> None:
    by_query = replace(mock_target.providers["pb"], key_query="key")
    exchange = ask_control(replace(mock_target, providers={"pb": by_query}), "pb", "inference")
    assert exchange.response is not None
    assert exchange.response.status == 200
    kept = redact_exchange(exchange, Redactor.for_target(mock_target))
    assert kept.request.url.endswith("?key=${PB_INFERENCE_KEY}"), "hidden in what is kept"
    assert by_query.key_header not in exchange.request.headers


def test_a_gateways_answer_lacks_the_proof(subtests: pytest.Subtests) -> None:
    for body in FOREIGN_BODIES:
        for name, role in PROVEN:
            with subtests.test(body=body, name=name):
                assert any(find_value(body, pointer) is ABSENT for pointer in manifest(name).controls[role].proof)


def test_every_provider_has_a_control_that_proves_something() -> None:
    assert {name for name, role in PROVEN if role == "inference"} == set(providers())
