"""How what recipes make is removed again: declared by name, with an id that stands for one thing and no other."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.catalog.files.manifest import providers
from catalog_probe.probes.calls.call import ASSUMED_ID, Call, Removal, delete, post
from catalog_probe.probes.recipes.book import recipe_book
from catalog_probe.probes.recipes.loading import RecipeError
from catalog_probe.probes.running.teardown import Fixtures
from catalog_probe.probes.targets.target import Provider
from tests.harness.recipes import load_recipes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from catalog_probe.probes.recipes.recipe import Recipe

FILE_REMOVAL: Removal = load_recipes("pa").requests.FILE_REMOVAL
UPLOAD: Call = load_recipes("pa").requests.UPLOAD

DECLARED = {f"{name}:{each.name}": each for name in providers() for each in recipe_book(name).removals.values()}
IDS = st.text(st.sampled_from("aZ9._~-/\\%2e?#@:{}\n \x00é")) | st.sampled_from(
    ["..", ".", "../x", "a/../b", "files/../x", "files/a", "batches/a", "resp_", "resp_1", "%2e%2e", "a\n", "a" * 300]
)


def calls_of(recipe: Recipe) -> Iterator[Call]:
    yield from recipe.calls.values()
    for look in recipe.optional.values():
        yield from calls_of(look)


@pytest.mark.parametrize("name", providers())
def test_what_the_tables_make_has_a_removal_that_is_listed(name: str) -> None:
    """Steps are asked when they are performed: a removal that is not listed ends the attempt there."""
    listed = recipe_book(name).removals
    calls = [call for recipe in recipe_book(name).recipes.values() for call in calls_of(recipe)]
    calls += list(recipe_book(name).minimal_requests.values())
    for removal in filter(None, (call.removal for call in calls)):
        assert listed[removal.name] == removal


@pytest.mark.parametrize("removal", DECLARED.values(), ids=DECLARED)
@given(resource_id=IDS)
def test_an_id_stands_for_one_thing_below_the_path_that_is_declared(removal: Removal, resource_id: str) -> None:
    if not removal.is_valid_id(resource_id):
        return
    call = removal.make_call(resource_id)
    before, _, after = removal.call.path.partition("{id}")
    assert call.path.startswith(before)
    assert call.path.endswith(after)
    named = call.path[len(before) : len(call.path) - len(after)]
    assert named == resource_id == unquote(named)
    assert not {"", ".", ".."} & set(named.split("/"))
    assert not set("?#\\\n @") & set(named)
    kind = removal.id_pattern.removesuffix(ASSUMED_ID)
    assert named.removeprefix(kind).count("/") == 0
    assert (call.method, call.headers, call.query) == (removal.call.method, removal.call.headers, removal.call.query)


@pytest.mark.parametrize(
    "body", [None, [], {}, "id", {"id": None}, {"id": 7}, {"id": ["file_1"]}, {"id": ""}, {"id": ".."}, {"id": "a/b"}]
)
def test_an_answer_that_names_nothing_that_can_be_removed(body: object) -> None:
    assert FILE_REMOVAL.find_id(body) is None
    assert FILE_REMOVAL.find_id({"id": "file_1"}) == "file_1"


def test_an_id_stands_in_path_query_and_body_as_the_declaration_says() -> None:
    pattern = r"[^/]+(/[^/]+)?"
    call = post("/v1/{kind}/{id}:end", {"name": "{id}", "all": False}, query=(("of", "{id}"),))
    removed = Removal("thing", call, id_pointer="/thing/name", id_pattern=pattern).make_call("a b/{kind}")
    assert removed.path == "/v1/{kind}/a%20b/%7Bkind%7D:end"
    assert removed == post(removed.path, {"name": "a b/{kind}", "all": False}, query=(("of", "a b/{kind}"),))


def test_what_is_not_listed_is_not_made() -> None:
    provider = Provider("pa", addresses={"base_url": "https://api.example"})
    fixtures = Fixtures("pa/endpoints/files/upload_file", provider, "inference", journal=None)
    assert fixtures.announce(UPLOAD) is None
    for removal in (Removal("thing", delete("/v1/things/{id}")), Removal("file", delete("/v1/users/{id}"))):
        with pytest.raises(RecipeError, match=r"which is not listed; put it into REMOVALS in probes/recipes/pa"):
            fixtures.announce(UPLOAD.replace(removal=removal))
