"""Looking up values on an account: which entry a rule takes, which rules depend on others, and expirations."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.probes.calls import get
from catalog_probe.probes.planning.look_ups import distinct_requests, find_expirations, list_look_ups
from catalog_probe.probes.recipes.recipe import PlannedRecipe
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
    import pytest

    from catalog_probe.probes.targets.target import Target


def make_rule(**changes: Any) -> LookUpRule:
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


PAGED = make_rule(next="/last_id", next_as="after_id", more="/has_more")


def make_page(*ids: str, **fields: Any) -> dict[str, Any]:
    return {"data": [{"id": item_id} for item_id in ids], **fields}


def test_next_cursor(subtests: pytest.Subtests) -> None:
    cases: list[tuple[list[Any], str | None]] = [
        ([make_page("a", last_id="a", has_more=True)], "a"),
        ([make_page("a", last_id="a")], "a"),
        ([make_page("a", last_id="a", has_more=True), make_page("b", last_id="b", has_more=True)], "b"),
        ([make_page("a", last_id="a", has_more=False)], None),
        ([make_page(last_id="a", has_more=True)], None),
        ([make_page("a", has_more=True)], None),
        ([make_page("a", last_id=None, has_more=True)], None),
        ([make_page("a", last_id="", has_more=True)], None),
        ([make_page("a", last_id="a", has_more=True)] * 2, None),
        ([make_page(str(n), last_id=str(n), has_more=True) for n in range(MAX_PAGES)], None),
        ([None], None),
    ]
    for pages, cursor in cases:
        with subtests.test(pages=pages):
            assert find_next_cursor(PAGED, pages) == cursor
            assert find_next_cursor(make_rule(), pages) is None


def test_pages_are_joined() -> None:
    pages = [make_page("large-1", last_id="large-1"), make_page("mini-1")]
    assert choose_value(make_rule(like=("*mini*",)), join_pages(PAGED, pages), {}, {}) == "mini-1"
    assert join_pages(PAGED, pages[:1]) is pages[0]


def test_rule_chooses_its_entry(subtests: pytest.Subtests) -> None:
    cases: list[tuple[LookUpRule, str | None]] = [
        (make_rule(), "large-1"),
        (make_rule(like=("*nano*", "*mini*")), "Mini-1"),
        (make_rule(like=("*mini*",), newest="/created_at"), "mini-2"),
        (make_rule(like=("*mini*",), oldest="/created_at"), "mini-0"),
        (make_rule(like=("*mini*",), newest="/created_at", unless={"/state": ("retired",)}), "Mini-1"),
        (make_rule(where={"/can": ("draw",)}), "mini-2"),
        (make_rule(where={"/state": ("retired", "deprecated")}), "mini-2"),
        (make_rule(where={"/goes": ("*",)}), "Mini-1"),
        (make_rule(unless={"/goes": ("*",)}), "large-1"),
        (make_rule(unlike=("large*", "mini*")), None),
        (make_rule(like=("*nano*",)), None),
        (make_rule(take="/max"), "9"),
        (make_rule(take="/id", after="large-"), "1"),
        (make_rule(entries="/models"), None),
        (make_rule(take="/name"), "nameless"),
    ]
    for rule, value in cases:
        with subtests.test(rule=rule):
            assert choose_value(rule, LISTING, {}, {}) == value


def test_rule_reads_the_entry_of_another_value() -> None:
    small, most = make_rule(like=("*mini*",)), make_rule(value="most", of="small_model", take="/max")
    rules = {rule.value: rule for rule in (small, most)}
    assert choose_value(most, LISTING, {"small_model": "Mini-1"}, rules) == "5"
    assert choose_value(most, LISTING, {"small_model": "large-1"}, rules) == "9"
    assert choose_value(most, LISTING, {"small_model": "unheard-of"}, rules) is None


def test_end_day_of_an_entry(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, date | None]] = [
        ("Mini-1", date(2026, 12, 3)),
        ("mini-0", date(2026, 12, 1)),
        ("large-1", None),
        ("unheard-of", None),
    ]
    for value, day in cases:
        with subtests.test(value=value):
            assert find_end_day(make_rule(ends="/goes"), LISTING, value) == day
            assert find_end_day(make_rule(), LISTING, value) is None


@given(
    body=st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=4),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["data", "id", "goes"]), inner, max_size=3)
        ),
    )
)
def test_any_body_is_read(body: Any) -> None:
    value = choose_value(make_rule(like=("*a*", "*"), newest="/goes", where={"/id": ("*",)}), body, {}, {})
    assert value is None or isinstance(value, str)
    assert find_end_day(make_rule(ends="/goes"), body, value or "") is None or isinstance(value, str)


def test_rules_are_ordered_by_dependency_and_cycles_dropped() -> None:
    user = make_rule(value="user", ask="/{organization}/users")
    organization = make_rule(value="organization", ask="/organizations")
    circle = (make_rule(value="a", ask="/{b}"), make_rule(value="b", ask="/{a}"))
    assert [rule.value for rule in order_rules([user, *circle, organization])] == ["organization", "user"]


def load_live_target(**environ: str) -> Target:
    return targets.load("live", environ)


MESSAGES = "pa/errors/invalid_request/empty_messages"


def make_recipe(*names: str, role: str = "inference") -> PlannedRecipe:
    calls = {name: get(f"/v1/{{{name}}}") for name in names}
    return PlannedRecipe(address=MESSAGES, calls=calls, credential=role)


def test_needed_values_are_looked_up_with_one_request_each() -> None:
    target = load_live_target(PA_API_KEY="key-of-pa", PA_COMPLIANCE_KEY="key-of-compliance")
    look_ups = list_look_ups(
        [make_recipe("small_model", "max_tokens_of_small_model"), make_recipe("user", role="compliance")], target
    )
    assert [rule.value for rule in look_ups["pa"]] == [
        "small_model",
        "organization",
        "max_tokens_of_small_model",
        "user",
    ]
    assert [rule.ask for rule in distinct_requests(look_ups["pa"])] == [
        "/v1/models?limit=1000",
        "/v1/compliance/organizations",
        "/v1/compliance/organizations/{organization}/users",
    ]
    assert list_look_ups([make_recipe("chat", role="compliance")], load_live_target(PA_API_KEY="key-of-pa")) == {}, (
        "no key of that role"
    )


def test_set_values_are_looked_up_too() -> None:
    look_ups = list_look_ups(
        [make_recipe("small_model", "retired_model", "max_tokens_of_small_model")],
        load_live_target(
            PA_API_KEY="key-of-pa", PA_SMALL_MODEL="m", PA_RETIRED_MODEL="r", PA_MAX_TOKENS_OF_SMALL_MODEL="5"
        ),
    )
    assert [rule.value for rule in look_ups["pa"]] == ["small_model", "retired_model"]


def test_set_value_is_listed_by_the_account(subtests: pytest.Subtests) -> None:
    """The preferences of the rule do not matter for a value that is set."""
    cases: list[tuple[LookUpRule, str, bool]] = [
        (make_rule(), "mini-2", True),
        (make_rule(), "mini", False),
        (make_rule(unless={"/state": ("retired",)}), "mini-2", False),
        (make_rule(like=("large-*",), unlike=("mini-*",)), "mini-2", True),
        (make_rule(of="small_model", take="/max"), "9", False),
        (make_rule(entries="/models"), "mini-2", False),
    ]
    for rule, value, is_listed in cases:
        with subtests.test(rule=rule):
            assert lists_value(rule, LISTING, value) is is_listed


def test_expiration_counts_dependent_records() -> None:
    target = load_live_target(PA_API_KEY="key-of-pa").with_values({"pa": {"small_model": "m"}})
    result = LookUpResult("pa", "GET /v1/models", {"small_model": "m"}, {"small_model": date(2026, 12, 3)})
    (expiration,) = find_expirations(
        target, [result], [make_recipe("small_model"), make_recipe("small_model"), make_recipe("geo_model")]
    )
    assert (expiration.what, expiration.records, expiration.mend) == ("`small_model` (m)", 2, "set PA_SMALL_MODEL")
    assert find_expirations(target, [result], [make_recipe("geo_model")]) == []
    set_target = load_live_target(PA_API_KEY="key-of-pa", PA_SMALL_MODEL="m")
    (expiration,) = find_expirations(set_target, [replace(result, values={})], [make_recipe("small_model")])
    assert expiration.mend == "name another in PA_SMALL_MODEL"


def test_look_up_result_hides_account_ids() -> None:
    line = LookUpResult("pa", "GET /x", {"small_model": "m", "user": "user_0123456789"}).to_json()
    assert line["values"] == {"small_model": "m", "user": "found"}
