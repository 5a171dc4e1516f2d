"""What a plan lists, how a budget is spent, what one more variable gains."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from functools import cache
from typing import TYPE_CHECKING

from catalog_probe.catalog.files.manifest import providers
from catalog_probe.catalog.model.assertion import Reach
from catalog_probe.probes.calls import get
from catalog_probe.probes.coverage import missing_variables
from catalog_probe.probes.coverage.reach_table import (
    BEYOND_A_CLIENT,
    ProviderRecords,
    count_records,
    format_reach_table,
)
from catalog_probe.probes.planning import plan_text
from catalog_probe.probes.planning.plan import Depth, Rotation, count_facts, make_plan, plan_budget
from catalog_probe.probes.recipes.recipe import PlannedRecipe
from catalog_probe.probes.targets import target_file as targets
from catalog_probe.probes.targets.target import Cost, Provider, RunLimits
from tests.harness.command import CHECKOUT
from tests.harness.engines import catalog
from tests.harness.reference_pages import describe_variables

if TYPE_CHECKING:
    import pytest

EVERY = frozenset(Cost)
NIGHT = Rotation(Depth.ROTATE, date(2026, 11, 21))


@cache
def plan_lines(allow: frozenset[Cost] = frozenset({Cost.FREE}), **environ: str) -> list[str]:
    target = targets.load("live", environ).with_placeholder_values()
    addresses = [str(record.address) for record in catalog().records]
    return plan_text.format_plan(
        make_plan(catalog(), target, allow, addresses, NIGHT), targets.load("live", environ), catalog()
    )


def test_a_plan_lists_each_request_with_its_label_cost_and_credential() -> None:
    lines = plan_lines(PA_API_KEY="key-of-nobody", PA_COMPLIANCE_KEY="key-of-nobody-else")
    assert lines.count("pa GET /v1/models?limit=1000 look-up free inference, at most 8 requests") == 1
    assert "pa GET /v1/models control free inference" in lines
    assert "pa POST /v1/messages answer free inference pa/errors/invalid_request/empty_messages" in lines
    assert "pa GET /v1/models answer free wrong pa/errors/general/key_malformed" in lines
    assert not [line for line in lines if " billable " in line]
    assert any(re.match(r"pa steps, at most \d+ requests \S+ free compliance pa/", line) for line in lines)
    bound = (
        r"pa: \d+ probes \(\d+ free\); at most \d+ requests, \d+ tokens; "
        r"\d+ of \d+ other endpoints, \d+ of \d+ variants"
    )
    assert any(re.fullmatch(bound, line) for line in lines)


def test_a_plan_names_probes_beyond_its_budget() -> None:
    text = "\n".join(plan_lines(EVERY, PB_API_KEY="key-of-nobody", PD_API_KEY="key-of-nobody"))
    assert re.search(r"pd: at most \d+ tokens exceed the budget max_tokens = 20000; each probe once fits", text)
    assert re.search(r"not probed, beyond-budget: \d+ \(pb/errors/general/oversized_context", text)
    assert "left out first" not in text
    assert not re.search(r"^pa: \d", text, re.MULTILINE)


def reach_table(provider: str, **environ: str) -> tuple[ProviderRecords, list[str]]:
    target = targets.load("live", environ).with_placeholder_values()
    addresses = [str(record.address) for record in catalog().select(provider)]
    plan = make_plan(catalog(), target, target.allow, addresses)
    (records,) = count_records(plan, target, catalog(), target.allow)
    gains = missing_variables.list_gains(catalog(), target, target.allow, addresses)
    return records, list(format_reach_table(records, gains))


def test_the_table_of_reach_puts_each_record_into_one_row() -> None:
    records, lines = reach_table("pa", PA_API_KEY="key-of-nobody")
    assert records.total == len(list(catalog().select("pa")))
    rows = [int(line.split()[0]) for line in lines if re.match(r" {2,5}\d", line)]
    assert sum(rows) == records.total
    assert records.chance > 0
    assert f"{records.in_part} of them in part (such as steps without a key" in lines[1]
    assert any(line.split() == [f"+{records.costs[Cost.BILLABLE]}", "--allow", "billable"] for line in lines)
    key = r" +\+\d+ +PA_COMPLIANCE_KEY \(credentials\.compliance\), \d+ further steps"
    assert any(re.fullmatch(key, line) for line in lines)
    assert any("traffic only: what a live model asks of its server tool is its own choice" in line for line in lines)


def test_without_a_key_nothing_is_shown_and_the_table_names_the_first_key() -> None:
    records, lines = reach_table("pc")
    with_key, _ = reach_table("pc", PC_API_KEY="key-of-nobody")
    gain = with_key.shown + with_key.chance
    assert lines == [f"pc: 0 of {records.total} records; +{gain} PC_API_KEY (credentials.inference)"]


def test_the_readme_counts_records_as_the_table_of_one_key_does() -> None:
    """By row of its table, and by provider for one key."""
    tables = {name: reach_table(name, **{f"{name.upper()}_API_KEY": "key-of-nobody"})[0] for name in providers()}
    readme = " ".join((CHECKOUT / "README.md").read_text(encoding="utf-8").split())
    counts = {reach: sum(table.count_beyond(reach) for table in tables.values()) for reach in BEYOND_A_CLIENT}
    counts[Reach.ONE_KEY] = sum(table.shown for table in tables.values())
    counts[Reach.MORE] = sum(table.chance + sum(table.more.values()) for table in tables.values())
    for reach, count in counts.items():
        assert f"| {reach} | {count} |" in readme
    for name, table in tables.items():
        share = rf"\b{table.shown} of {table.total}( records)? of {name.upper()}\b"
        assert re.search(share, readme), share


def test_a_plan_names_the_default_hosts_that_are_not_asked() -> None:
    """With the main address replaced, nothing goes to another default host, whatever keys there are."""
    lines = plan_lines(
        EVERY, PC_API_KEY="key-of-nobody", PC_BASE_URL="http://127.0.0.1:1", PC_AUTH_URL="https://a.example"
    )
    advice = "set PC_MTLS_AUTH_URL; its default is not asked while PC_BASE_URL names another server"
    assert [line for line in lines if line.startswith("not asked")] == [f"not asked, pc mtls_auth_url: {advice}"]
    (withheld,) = [line for line in lines if line.startswith("not probed, address-missing")]
    assert "pc/errors/permission/mutual_tls_host" in withheld
    assert not [line for line in lines if line.startswith("pc GET /oauth/token")]


def test_a_plan_names_what_is_left_out_first() -> None:
    target = targets.load("live", {"PD_API_KEY": "key-of-nobody"}).with_placeholder_values()
    small = replace(target, providers={"pd": replace(target.providers["pd"], limits=RunLimits(max_tokens=10_000))})
    addresses = [str(record.address) for record in catalog().select("pd")]
    chosen = make_plan(catalog(), small, EVERY, addresses, NIGHT)
    (line,) = [line for line in plan_text.format_plan(chosen, small, catalog()) if "left out first" in line]
    addresses_left_out = re.findall(r"pd/[\w/]+", line)
    assert addresses_left_out
    assert all(chosen.probed[address].tokens for address in addresses_left_out)


def test_a_budget_that_holds_everything_changes_no_order() -> None:
    rows = [row("pa/endpoints/models/list_models", 5), row("pa/endpoints/models/get_model", 9)]
    plan = plan_budget(rows, Provider("pa", limits=RunLimits(max_tokens=14)), catalog())
    assert plan.order == tuple(recipe.address for recipe in rows)
    assert plan.left_out == ()
    assert plan_budget(rows, Provider("pa"), catalog()).left_out == ()


def row(address: str, tokens: int) -> PlannedRecipe:
    return PlannedRecipe(address=address, calls={"answer": get("/x")}, tokens=tokens)


def test_a_budget_is_spent_on_free_probes_then_on_most_facts_per_token() -> None:
    facts = count_facts("pa", catalog())
    most = max(facts, key=lambda address: (facts[address], address))
    least = min((address for address in facts if facts[address] == 1), default="")
    assert facts[most] > 5
    rows = [row(least, 10), row(most, 10), row("pa/endpoints/models/list_models", 0)]
    plan = plan_budget(rows, Provider("pa", limits=RunLimits(max_tokens=15)), catalog())
    assert plan.order == ("pa/endpoints/models/list_models", most, least)
    assert plan.left_out == (least,)
    dear = [row(least, 1), row(most, 1000)]
    assert plan_budget(dear, Provider("pa", limits=RunLimits(max_tokens=1000)), catalog()).left_out == (most,)


def test_a_probe_larger_than_the_budget_is_not_tried(subtests: pytest.Subtests) -> None:
    cases: list[tuple[int, str | None]] = [(999, "beyond-budget"), (1000, None)]
    for limit, code in cases:
        with subtests.test(limit=limit):
            from catalog_probe.probes.planning.reach import find_obstacle

            target = targets.load("live", {"PA_API_KEY": "key-of-nobody"})
            bounded = replace(
                target, providers={"pa": replace(target.providers["pa"], limits=RunLimits(max_tokens=limit))}
            )
            reason = find_obstacle(row("pa/endpoints/models/list_models", 1000), bounded, EVERY)
            assert (reason.code if reason else None) == code


def test_the_site_says_which_variable_enables_how_many_more_records() -> None:
    """The table is generated with the site, so it is never outdated."""
    assert "\n".join(missing_variables.format_gains_table(catalog(), "live")) in describe_variables()


def test_a_provider_without_its_first_key_gains_only_by_that_key(subtests: pytest.Subtests) -> None:
    """The number includes values that can then be looked up."""
    cases: list[tuple[str, dict[str, str]]] = [("set and empty", {"PA_API_KEY": ""}), ("not set", {})]
    for case, environ in cases:
        with subtests.test(case=case):
            target = targets.load("live", environ)
            (first,) = [
                gain for gain in missing_variables.list_gains(catalog(), target, target.allow) if gain.provider == "pa"
            ]
            target = targets.load("live", {"PA_API_KEY": "key-of-nobody"}).with_placeholder_values()
            addresses = [str(record.address) for record in catalog().select("pa")]
            assert (first.variable, first.records) == (
                "PA_API_KEY",
                len(make_plan(catalog(), target, target.allow, addresses).probed),
            )


def test_a_gain_equals_the_records_that_the_variable_adds() -> None:
    before = {"PA_API_KEY": "key-of-nobody", "PA_COMPLIANCE_KEY": "key-of-nobody-else"}
    target = targets.load("live", before).with_placeholder_values()
    (best, *_) = [
        gain for gain in missing_variables.list_gains(catalog(), target, target.allow) if gain.provider == "pa"
    ]
    addresses = [str(record.address) for record in catalog().select("pa")]
    after = targets.load("live", {**before, best.variable: "value-of-nobody"}).with_placeholder_values()
    before_plan, after_plan = (
        set(make_plan(catalog(), recipe, target.allow, addresses).probed) for recipe in (target, after)
    )
    assert best.records > 0
    assert len(after_plan - before_plan) == best.records


def test_a_keys_gain_includes_values_that_it_can_look_up(subtests: pytest.Subtests) -> None:
    """Nothing more: what the first key's listing did not show is there for no other key."""
    cases: list[str] = ["PA_COMPLIANCE_KEY", "PA_ADMIN_KEY", "PA_SMALL_MODEL", "PC_REVOKED_KEY"]
    for variable in cases:
        with subtests.test(variable=variable):
            keys = {"PA_API_KEY": "key-of-nobody", "PC_API_KEY": "key-of-nobody"}
            target = targets.load("live", keys)
            (gain,) = [
                gain
                for gain in missing_variables.list_gains(catalog(), target, target.allow)
                if gain.variable == variable
            ]
            after = targets.load("live", {**keys, variable: "value-of-nobody"})
            newly = {
                rule.value: "found"
                for rule in after.providers["pa"].rules_to_follow
                if rule.role in ("compliance", "admin")
            }
            able = {name for name in newly if after.providers["pa"].find_rule(name)}
            after = after.with_values({"pa": {name: newly[name] for name in able}})
            addresses = [str(record.address) for record in catalog().select(gain.provider)]
            before_plan, after_plan = (
                len(make_plan(catalog(), recipe, target.allow, addresses).probed) for recipe in (target, after)
            )
            assert gain.records == after_plan - before_plan > 0


def plan_with_one_key(provider: str, address: str) -> PlannedRecipe:
    target = targets.load("live", {f"{provider.upper()}_API_KEY": "key-of-nobody"}).with_placeholder_values()
    return make_plan(catalog(), target, target.allow, [address]).probed[address]


def test_a_record_is_planned_with_the_steps_that_are_in_reach() -> None:
    """The commonest 404 of all needs one key; two other causes of it need more."""
    planned = plan_with_one_key("pc", "pc/errors/not_found/model")
    assert planned.own_labels == {"absent"}
    assert {label: reason.code for label, reason in planned.left_out.items()} == {
        "denied_by_project": "credential-missing",
        "not_enabled": "value-missing",
    }
    for endpoint_recipe in planned.endpoint_plan.recipes.values():
        assert endpoint_recipe.own_labels == {"absent"}


def test_a_step_without_a_key_of_the_account_runs_on_any_lane_and_is_free() -> None:
    refused = plan_with_one_key("pa", "pa/errors/compliance/request_not_authenticated")
    assert (refused.lane, refused.left_out, refused.control) == ("pa:inference", {}, None)
    created = plan_with_one_key("pa", "pa/endpoints/messages/create_message")
    assert {"wrong_credential"} <= created.own_labels
    assert (created.cost, created.tokens) == (Cost.FREE, 0)
    assert created.left_out["success"].code == "cost-not-allowed"


def test_a_plan_states_what_is_waited_for_and_what_is_looked_up() -> None:
    lines = plan_lines(EVERY, PA_API_KEY="key-of-nobody")
    steps = (
        r"pa steps, at most 24 requests, waiting up to 1200 s \S+ billable inference "
        r"pa/endpoints/batches/get_batch_results"
    )
    assert any(re.fullmatch(steps, line) for line in lines)
    (choice,) = [line for line in lines if line.startswith("pa value no_geo_model: ")]
    assert choice.startswith(
        "pa value no_geo_model: looked up, GET /v1/models?limit=1000: the oldest like *haiku*, then "
    )


def test_unknown_tokens_are_not_counted_as_none() -> None:
    undeclared = replace(row("pa/endpoints/models/list_models", 0), cost=Cost.BILLABLE)
    planned = PlannedRecipe.from_recipe(undeclared, {})
    (line,) = plan_text.format_provider_bounds(Provider("pa"), [planned], targets.load("mock"), catalog())
    assert "0 tokens and those of 1 billable probe that declare none" in line
