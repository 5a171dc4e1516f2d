"""Misspelt options of calls and recipes are refused by Python and by mypy.

mypy refuses each `type: ignore` here that it does not need, so this file is no longer clean once an option is
accepted that does not exist (`warn_unused_ignores`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from catalog_probe.probes.calls import converse, delete, get, invoke, post
from catalog_probe.probes.recipes.recipe import Family, declare_steps

if TYPE_CHECKING:
    from catalog_probe.probes.recipes.probe import Probe

GENERAL = Family("pa/errors/general")


def test_a_misspelt_option_of_a_call_is_refused() -> None:
    with pytest.raises(TypeError, match="credentials"):
        get("/v1/models", credentials="tight")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="header"):
        post("/v1/models", {}, header={})  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="scenario"):
        delete("/v1/models", scenario="overloaded")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="timeout"):
        invoke("/pd_api.Models/ListLanguageModels", timeout=1.0)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="steps"):
        converse("/v1/responses", steps=())  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="json"):
        get("/v1/models").replace(json={})  # type: ignore[call-arg]


def test_a_misspelt_option_of_a_recipe_is_refused() -> None:
    with pytest.raises(TypeError, match="costs"):
        GENERAL.recipe("x", get("/"), costs="free")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="need"):
        declare_steps(requests=2, need={"small_model"})  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="request"):
        declare_steps(request=2)  # type: ignore[call-arg]


def test_a_change_without_one_call_is_refused() -> None:
    with pytest.raises(TypeError, match="pa/errors/general/x: a change needs one call"):
        GENERAL.recipe("x", {"a": get("/"), "b": get("/")}, lambda call: call)


def test_steps_after_steps_are_refused() -> None:
    @declare_steps(requests=1)
    async def send(probe: Probe) -> None:
        await probe.send(get("/"), "answer")

    assert GENERAL.recipe("x", {"a": get("/")}, then=send).steps is send
    assert GENERAL.recipe("x", send).steps is send
    with pytest.raises(TypeError, match="pa/errors/general/x: `then` follows calls; write one coroutine for all steps"):
        GENERAL.recipe("x", send, then=send)


def test_an_option_of_another_type_is_refused_by_mypy_alone() -> None:
    """Python takes them; without the types it would be the provider, or the bill, that tells."""
    assert GENERAL.recipe("x", get("/"), tokens="many").tokens  # type: ignore[arg-type]
    assert get("/", query={"a": "b"}).query  # type: ignore[arg-type]
