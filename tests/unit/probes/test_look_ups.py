"""Looking up on an account what no variable names: which entry a rule takes, what rests on what, and what is told."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.probes.planning.expirations import find_expirations
from catalog_probe.probes.planning.look_ups import distinct_requests, list_look_ups
from catalog_probe.probes.recipes.recipe import recipe
from catalog_probe.probes.targets import target_file as targets
from catalog_probe.probes.targets.look_ups import (
    MAX_PAGES,
    LookUpResult,
    LookUpRule,
    choose_value,
    find_end_day,
    find_next_cursor,
    join_pages,
    lists_value,
    order_rules,
)

if TYPE_CHECKING:
    from catalog_probe.probes.targets.target import Target


def rule(**changes: Any) -> LookUpRule:
    return LookUpRule(**{"value": "small_model", "ask": "/v1/models", **changes})


LISTING = {
    "data": [
        {"id": "large-1", "created_at": "2026-01-01", "state": "active", "goes": None, "can": ["talk"], "max": 9},
        {"id": "Mini-1", "created_at": "2025-01-01", "state": "active", "goes": "2026-12-03T00:00:00Z", "max": 5},
        {"id": "mini-2", "created_at": "2026-05-01", "state": "retired", "goes": "2026-02-01", "can": ["talk", "draw"]},
        {"id": "mini-0", "created_at": "2024-05-01", "state": "active", "goes": 1796083200},
        {"name": "nameless"},
    ]
}


PAGED = rule(next="/last_id", next_as="after_id", more="/has_more")


def page(*ids: str, **told: Any) -> dict[str, Any]:
    return {"data": [{"id": each} for each in ids], **told}


@pytest.mark.parametrize(
    ("pages", "cursor"),
    [
        ([page("a", last_id="a", has_more=True)], "a"),
        ([page("a", last_id="a")], "a"),
        ([page("a", last_id="a", has_more=True), page("b", last_id="b", has_more=True)], "b"),
        ([page("a", last_id="a", has_more=False)], None),
        ([page(last_id="a", has_more=True)], None),
        ([page("a", has_more=True)], None),
        ([page("a", last_id=None, has_more=True)], None),
        ([page("a", last_id="", has_more=True)], None),
        ([page("a", last_id="a", has_more=True)] * 2, None),
        ([page(str(n), last_id=str(n), has_more=True) for n in range(MAX_PAGES)], None),
        ([None], None),
    ],
)
def test_a_list_goes_on_where_there_is_another_page(pages: list[Any], cursor: str | None) -> None:
    assert find_next_cursor(PAGED, pages) == cursor
    assert find_next_cursor(rule(), pages) is None


def test_the_entries_of_all_pages_are_one_list() -> None:
    pages = [page("large-1", last_id="large-1"), page("mini-1")]
    assert choose_value(rule(like=("*mini*",)), join_pages(PAGED, pages), {}, {}) == "mini-1"
    assert join_pages(PAGED, pages[:1]) is pages[0]


@pytest.mark.parametrize(
    ("found_by", "taken"),
    [
        (rule(), "large-1"),
        (rule(like=("*nano*", "*mini*")), "Mini-1"),
        (rule(like=("*mini*",), newest="/created_at"), "mini-2"),
        (rule(like=("*mini*",), newest="/created_at", unless={"/state": ("retired",)}), "Mini-1"),
        (rule(where={"/can": ("draw",)}), "mini-2"),
        (rule(where={"/state": ("retired", "deprecated")}), "mini-2"),
        (rule(where={"/goes": ("*",)}), "Mini-1"),
        (rule(unless={"/goes": ("*",)}), "large-1"),
        (rule(unlike=("large*", "mini*")), None),
        (rule(like=("*nano*",)), None),
        (rule(take="/max"), "9"),
        (rule(take="/id", after="large-"), "1"),
        (rule(entries="/models"), None),
        (rule(take="/name"), "nameless"),
    ],
)
def test_a_rule_takes_the_entry_that_it_describes(found_by: LookUpRule, taken: str | None) -> None:
    assert choose_value(found_by, LISTING, {}, {}) == taken


def test_another_value_s_entry_is_taken_whoever_named_that_one() -> None:
    small, most = rule(like=("*mini*",)), rule(value="most", of="small_model", take="/max")
    rules = {each.value: each for each in (small, most)}
    assert choose_value(most, LISTING, {"small_model": "Mini-1"}, rules) == "5"
    assert choose_value(most, LISTING, {"small_model": "large-1"}, rules) == "9"
    assert choose_value(most, LISTING, {"small_model": "unheard-of"}, rules) is None


@pytest.mark.parametrize(
    ("value", "day"),
    [("Mini-1", date(2026, 12, 3)), ("mini-0", date(2026, 12, 1)), ("large-1", None), ("unheard-of", None)],
)
def test_an_end_is_read_of_the_entry_itself(value: str, day: date | None) -> None:
    assert find_end_day(rule(ends="/goes"), LISTING, value) == day
    assert find_end_day(rule(), LISTING, value) is None


@given(
    body=st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=4),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["data", "id", "goes"]), inner, max_size=3)
        ),
    )
)
def test_no_answer_is_too_odd_to_be_read(body: Any) -> None:
    found = choose_value(rule(like=("*a*", "*"), newest="/goes", where={"/id": ("*",)}), body, {}, {})
    assert found is None or isinstance(found, str)
    assert find_end_day(rule(ends="/goes"), body, found or "") is None or isinstance(found, str)


def test_what_rests_on_another_comes_after_it_and_what_rests_on_itself_never() -> None:
    user = rule(value="user", ask="/{organization}/users")
    organization = rule(value="organization", ask="/organizations")
    circle = (rule(value="a", ask="/{b}"), rule(value="b", ask="/{a}"))
    assert [each.value for each in order_rules([user, *circle, organization])] == ["organization", "user"]


def live(**environ: str) -> Target:
    return targets.load("live", environ)


MESSAGES = "pa/errors/invalid_request/empty_messages"


def needing(*names: str, role: str = "inference") -> Any:
    return recipe(MESSAGES, needs=names, credential=role)


def test_only_what_the_records_need_is_asked_each_request_once() -> None:
    target = live(PA_API_KEY="key-of-pa", PA_COMPLIANCE_KEY="key-of-compliance")
    wanted = list_look_ups(
        [needing("small_model", "max_tokens_of_small_model"), needing("user", role="compliance")], target
    )
    assert [each.value for each in wanted["pa"]] == [
        "small_model",
        "organization",
        "max_tokens_of_small_model",
        "user",
    ]
    assert [each.ask for each in distinct_requests(wanted["pa"])] == [
        "/v1/models?limit=1000",
        "/v1/compliance/organizations",
        "/v1/compliance/organizations/{organization}/users",
    ]
    assert list_look_ups([needing("chat", role="compliance")], live(PA_API_KEY="key-of-pa")) == {}, (
        "no key of that role"
    )


def test_a_value_that_is_set_is_looked_up_for_its_end_and_whether_it_is_there() -> None:
    wanted = list_look_ups(
        [needing("small_model", "retired_model", "max_tokens_of_small_model")],
        live(PA_API_KEY="key-of-pa", PA_SMALL_MODEL="m", PA_RETIRED_MODEL="r", PA_MAX_TOKENS_OF_SMALL_MODEL="5"),
    )
    assert [each.value for each in wanted["pa"]] == ["small_model", "retired_model"]


@pytest.mark.parametrize(
    ("asked", "value", "there"),
    [
        (rule(), "mini-2", True),
        (rule(), "mini", False),
        (rule(unless={"/state": ("retired",)}), "mini-2", False),
        (rule(like=("large-*",), unlike=("mini-*",)), "mini-2", True),
        (rule(of="small_model", take="/max"), "9", False),
        (rule(entries="/models"), "mini-2", False),
    ],
)
def test_whether_an_account_has_what_somebody_set(asked: LookUpRule, value: str, there: bool) -> None:
    """Which of its names a rule would prefer is no matter then."""
    assert lists_value(asked, LISTING, value) is there


def test_an_end_is_told_with_the_records_that_rest_on_it() -> None:
    target = live(PA_API_KEY="key-of-pa").with_values({"pa": {"small_model": "m"}})
    told = LookUpResult("pa", "GET /v1/models", {"small_model": "m"}, {"small_model": date(2026, 12, 3)})
    (ends,) = find_expirations(target, [told], [needing("small_model"), needing("small_model"), needing("geo_model")])
    assert (ends.what, ends.records, ends.mend) == ("`small_model` (m)", 2, "set PA_SMALL_MODEL")
    assert find_expirations(target, [told], [needing("geo_model")]) == []
    named = live(PA_API_KEY="key-of-pa", PA_SMALL_MODEL="m")
    (ends,) = find_expirations(named, [replace(told, values={})], [needing("small_model")])
    assert ends.mend == "name another in PA_SMALL_MODEL"


def test_the_run_s_line_names_models_and_no_id_of_the_account() -> None:
    told = LookUpResult("pa", "GET /x", {"small_model": "m", "user": "user_0123456789"}).to_json()
    assert told["values"] == {"small_model": "m", "user": "found"}
