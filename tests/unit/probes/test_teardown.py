"""Removal of what an attempt created: what is removable, in which order, and how often it is tried."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import unquote

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.catalog.files.manifest import providers
from catalog_probe.catalog.model import Exchange, Request, Response
from catalog_probe.probes.calls import ASSUMED_ID, Call, Removal, delete, post
from catalog_probe.probes.recipes.book import RecipeError, recipe_book
from catalog_probe.probes.running import journal
from catalog_probe.probes.running.journal import Journal
from catalog_probe.probes.running.teardown import BUSY_PAUSES_S, REMOVAL_S, Fixtures
from catalog_probe.probes.targets.target import Provider
from tests.harness.recipes import load_recipes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from catalog_probe.probes.recipes.recipe import Recipe


CREATE_BATCH: Call = load_recipes("pa").requests.CREATE_BATCH
CONVERSATION: Call = load_recipes("pc").requests.CONVERSATION


def remove_resource(
    statuses: list[int], folder: Path | None, create_call: Call = CONVERSATION, provider: str = "pc"
) -> tuple[list[float], list[int], list[journal.JournalEntry]]:
    """Return the pauses, the unused answers, and the open entries of the journal, if any."""
    pauses: list[float] = []
    answers = list(statuses)

    async def send(call: Call) -> Exchange:
        return exchange_of(call, answers.pop(0))

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    async def attempt() -> None:
        entries = Journal(folder / journal.FILE_NAME, "night", str) if folder else None
        fixtures = Fixtures(f"{provider}/errors/request/conflict", Provider(provider), "inference", entries, sleep)
        fixtures.learn(create_call, exchange_of(create_call, 200), fixtures.announce(create_call))
        await fixtures.remove(send)

    anyio.run(attempt)
    return pauses, answers, journal.read_open_entries(folder / journal.FILE_NAME) if folder else []


def exchange_of(call: Call, status: int) -> Exchange:
    request = Request(call.method, f"https://provider.example{call.path}")
    return Exchange("cleanup", request, Response(status, {}, {"id": "conv_1"}, "json"))


def test_busy_resource_is_removed_once_free(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for busy in range(len(BUSY_PAUSES_S) + 1):
        with subtests.test(busy=busy):
            pauses, unused, entries = remove_resource([409] * busy + [200], tmp_path)
            assert pauses == list(BUSY_PAUSES_S[:busy])
            assert unused == []
            assert entries == []


def test_resource_that_stays_busy_is_left_to_cleanup(tmp_path: Path) -> None:
    pauses, unused, (entry,) = remove_resource([409] * 9, tmp_path)
    assert len(unused) == 9 - len(BUSY_PAUSES_S) - 1
    assert (entry.removal, entry.resource) == ("conversation", "conv_1")
    assert sum(pauses) < REMOVAL_S


@pytest.mark.parametrize("status", [403, 500])
def test_other_refusal_is_not_retried(tmp_path: Path, status: int) -> None:
    pauses, unused, entries = remove_resource([status, 200], tmp_path)
    assert (pauses, unused, len(entries)) == ([], [200], 1)


def test_conflict_of_an_ended_batch_counts_as_removed(tmp_path: Path) -> None:
    assert remove_resource([409, 200], tmp_path, CREATE_BATCH, "pa") == ([], [200], [])


def test_removal_on_a_mock_does_not_wait() -> None:
    assert remove_resource([409, 200], None) == ([], [200], [])


FILE_REMOVAL: Removal = load_recipes("pa").requests.FILE_REMOVAL
UPLOAD: Call = load_recipes("pa").requests.UPLOAD

REMOVALS = {
    f"{name}:{removal.name}": removal for name in providers() for removal in recipe_book(name).removals.values()
}
IDS = st.text(st.sampled_from("aZ9._~-/\\%2e?#@:{}\n \x00é")) | st.sampled_from(
    ["..", ".", "../x", "a/../b", "files/../x", "files/a", "batches/a", "resp_", "resp_1", "%2e%2e", "a\n", "a" * 300]
)


def list_calls(recipe: Recipe) -> Iterator[Call]:
    yield from recipe.calls.values()
    for optional_recipe in recipe.optional.values():
        yield from list_calls(optional_recipe)


def test_each_created_resource_has_a_listed_removal(subtests: pytest.Subtests) -> None:
    """An unlisted removal would stop the attempt at that step."""
    for name in providers():
        with subtests.test(name=name):
            removals = recipe_book(name).removals
            calls = [call for recipe in recipe_book(name).recipes.values() for call in list_calls(recipe)]
            calls += list(recipe_book(name).minimal_requests.values())
            for removal in filter(None, (call.removal for call in calls)):
                assert removals[removal.name] == removal


@pytest.mark.parametrize("removal", REMOVALS.values(), ids=REMOVALS)
@given(resource_id=IDS)
def test_id_names_one_resource_below_the_declared_path(removal: Removal, resource_id: str) -> None:
    if not removal.is_valid_id(resource_id):
        return
    call = removal.make_call(resource_id)
    before, _, after = removal.call.path.partition("{id}")
    assert call.path.startswith(before)
    assert call.path.endswith(after)
    path_id = call.path[len(before) : len(call.path) - len(after)]
    assert path_id == resource_id == unquote(path_id)
    assert not {"", ".", ".."} & set(path_id.split("/"))
    assert not set("?#\\\n @") & set(path_id)
    prefix = removal.id_pattern.removesuffix(ASSUMED_ID)
    assert path_id.removeprefix(prefix).count("/") == 0
    assert (call.method, call.headers, call.query) == (removal.call.method, removal.call.headers, removal.call.query)


def test_answer_without_a_valid_id(subtests: pytest.Subtests) -> None:
    cases: list[object] = [
        None,
        [],
        {},
        "id",
        {"id": None},
        {"id": 7},
        {"id": ["file_1"]},
        {"id": ""},
        {"id": ".."},
        {"id": "a/b"},
    ]
    for body in cases:
        with subtests.test(body=body):
            assert FILE_REMOVAL.find_id(body) is None
            assert FILE_REMOVAL.find_id({"id": "file_1"}) == "file_1"


def test_id_is_inserted_into_path_query_and_body() -> None:
    pattern = r"[^/]+(/[^/]+)?"
    call = post("/v1/{kind}/{id}:end", {"name": "{id}", "all": False}, query=(("of", "{id}"),))
    removal_call = Removal("thing", call, id_pointer="/thing/name", id_pattern=pattern).make_call("a b/{kind}")
    assert removal_call.path == "/v1/{kind}/a%20b/%7Bkind%7D:end"
    assert removal_call == post(removal_call.path, {"name": "a b/{kind}", "all": False}, query=(("of", "a b/{kind}"),))


def test_unlisted_removal_is_refused_before_creation() -> None:
    provider = Provider("pa", addresses={"base_url": "https://api.example"})
    fixtures = Fixtures("pa/endpoints/files/upload_file", provider, "inference", journal=None)
    assert fixtures.announce(UPLOAD) is None
    for removal in (Removal("thing", delete("/v1/things/{id}")), Removal("file", delete("/v1/users/{id}"))):
        with pytest.raises(RecipeError, match=r"which is not listed; put it into REMOVALS in probes/recipes/pa"):
            fixtures.announce(UPLOAD.replace(removal=removal))
