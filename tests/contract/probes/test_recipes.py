"""Recipes: declarations, obstacles, and how they fit and cover the records."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.catalog.files.manifest import providers
from catalog_probe.catalog.files.store import Catalog
from catalog_probe.catalog.model import Address, Reason, Record
from catalog_probe.catalog.model.assertion import Reach
from catalog_probe.catalog.model.explanations import NOT_PROBED
from catalog_probe.probes.calls import fill_placeholders, get, post
from catalog_probe.probes.coverage import completeness as fit
from catalog_probe.probes.coverage import records_and_facts
from catalog_probe.probes.planning.plan import make_plan
from catalog_probe.probes.planning.plan_text import upper_bounds
from catalog_probe.probes.planning.reach import ProviderReach, find_obstacle, provider_reaches
from catalog_probe.probes.recipes.book import RecipeBook, recipe_book
from catalog_probe.probes.recipes.recipe import Family, Recipe, declare_steps
from catalog_probe.probes.targets import target_file as targets
from catalog_probe.probes.targets.target import Cost, Credential, Provider, Target, Variables
from tests.harness.engines import catalog

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pytest

    from catalog_probe.probes.recipes.probe import Probe

ADDRESS = "pa/errors/general/x"
GENERAL = Family("pa/errors/general")


def test_a_call_knows_every_value_it_needs() -> None:
    call = post("/v1/{a}", {"b": ["{b}", {"c": "x {c}"}], "{d}": 1}, headers={"h": "{e}"}, query=(("q", "{f}"),))
    assert call.placeholders >= {"a", "b", "c", "e", "f"}
    assert post("/v1/x", {"text": "{Not} {} { a } {1a}"}).placeholders == frozenset()


@given(st.dictionaries(st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True), st.text(), max_size=4))
def test_known_placeholders_are_filled_and_others_stay(values: Mapping[str, str]) -> None:
    names = [*values, "no_such_value"]
    asked = {"list": [f"<{{{name}}}>" for name in names], "number": 3, "null": None, "pair": tuple(names)}
    listed = [*(f"<{value}>" for value in values.values()), "<{no_such_value}>"]
    assert fill_placeholders(asked, values) == {**asked, "list": listed}


def test_a_changed_call_leaves_the_first_alone() -> None:
    first = get("/v1/models", headers={"pa-version": "1"})
    second = first.with_headers(pa_version=None, pa_beta="x").replace(credential=None)
    assert first == get("/v1/models", headers={"pa-version": "1"})
    assert second.headers == {"pa-version": None, "pa-beta": "x"}
    assert second.credential is None


def test_a_recipe_knows_its_requests_and_needs() -> None:
    row = GENERAL.recipe("x", {"a": get("/v1/{one}"), "b": get("/v1/{two}").with_scenario("overloaded")})
    assert (row.requests, set(row.needs), set(row.labels)) == (2, {"one", "two"}, {"a", "b"})
    assert (row.trigger, row.lane, row.cost) == ("scenario", "pa:inference", Cost.FREE)
    assert GENERAL.recipe("x", get("/v1/x")).trigger == "request"


def test_steps_declare_what_cannot_be_read_off_them() -> None:
    @declare_steps("a", "b", requests=5, needs=["model"])
    async def steps(probe: Probe) -> None:
        """Never run here."""

    row = GENERAL.recipe("x", steps, credential="admin")
    assert (row.requests, set(row.needs), set(row.labels), row.lane) == (5, {"model"}, {"a", "b"}, "pa:admin")


def test_one_call_and_steps_without_labels_are_the_answer() -> None:
    @declare_steps(requests=1)
    async def steps(probe: Probe) -> None:
        """Never run here."""

    rows = (GENERAL.recipe("x", get("/")), GENERAL.recipe("x", steps))
    assert {row.address for row in rows} == {ADDRESS}
    assert {row.labels for row in rows} == {frozenset({"answer"})}


def test_calls_that_steps_follow_add_to_what_the_steps_declare() -> None:
    @declare_steps("b", requests=2, needs={"two"})
    async def steps(probe: Probe) -> None:
        """Never run here."""

    row = GENERAL.recipe("x", {"a": get("/{one}")}, then=steps)
    assert (row.requests, set(row.labels), set(row.needs)) == (3, {"a", "b"}, {"one", "two"})


def test_optional_parts_cost_what_the_recipe_costs_unless_they_say_another() -> None:
    together = {"one": get("/1"), "again": get("/2")}
    row = GENERAL.recipe("x", get("/"), cost=Cost.BILLABLE, tokens=4, credential="admin").with_optional(
        {"alike": get("/{x}"), "one": together}
    )
    free = row.with_optional({"free": get("/")}, cost=Cost.FREE, tokens=0)
    assert [(name, sorted(part.labels), part.cost, part.tokens, part.lane) for name, part in free.optional.items()] == [
        ("alike", ["alike"], Cost.BILLABLE, 4, "pa:admin"),
        ("one", ["again", "one"], Cost.BILLABLE, 4, "pa:admin"),
        ("free", ["free"], Cost.FREE, 0, "pa:admin"),
    ]
    assert (row.requests, sorted(row.labels), set(row.needs)) == (1, ["again", "alike", "answer", "one"], set())


def provider(**changes: Any) -> Provider:
    known = Provider(
        "pa",
        addresses={"base_url": "https://pa.example"},
        credentials={
            "inference": Credential("inference", "key-1234", "PA_KEY"),
            "admin": Credential("admin", None, "PA_ADMIN"),
        },
        values={"small_model": "small"},
        variables=Variables(unset={"credentials.admin": "PA_ADMIN"}),
    )
    return replace(known, **changes)


def target(*, live: bool = True, **changes: Any) -> Target:
    return Target("t", live, frozenset({Cost.FREE}), {"pa": provider(**changes)})


FREE = GENERAL.recipe("x", get("/v1/models"))
SIMULATED = GENERAL.recipe("x", get("/v1/models").with_scenario("overloaded"))


@declare_steps(requests=1, roles={"admin"})
async def send_as_admin(probe: Probe) -> None:
    """Never run here."""


def test_obstacles_of_a_recipe(subtests: pytest.Subtests) -> None:
    cases: list[tuple[Recipe, Target, tuple[str, str] | None]] = [
        (FREE, target(), None),
        (FREE, replace(target(), providers={}), ("provider-not-configured", "target 't' has no [providers.pa]")),
        (FREE, target(addresses={}), ("provider-not-configured", "add providers.pa.base_url to target 't'")),
        (replace(FREE, not_live=("no-documented-setup", "why")), target(), ("no-documented-setup", "why")),
        (replace(FREE, not_live=("no-documented-setup", "why")), target(live=False), None),
        (SIMULATED, target(), ("provider-only-cause", "no request can provoke it")),
        (SIMULATED, target(live=False), None),
        (replace(FREE, cost=Cost.BILLABLE), target(), ("cost-not-allowed", "--allow billable")),
        (replace(FREE, credential="admin"), target(), ("credential-missing", "set PA_ADMIN")),
        (
            GENERAL.recipe("x", send_as_admin),
            target(),
            ("credential-missing", "set PA_ADMIN"),
        ),
        (
            GENERAL.recipe("x", get("/v1/x", credential="tight")),
            target(),
            ("credential-missing", "add providers.pa.credentials.tight to target 't'"),
        ),
        (GENERAL.recipe("x", get("/v1/x", credential="wrong")), target(), None),
        (GENERAL.recipe("x", get("/v1/x", credential=None)), target(), None),
        (
            GENERAL.recipe("x", get("/v1/x", service="auth_url")),
            target(),
            ("address-missing", "add providers.pa.auth_url to target 't'"),
        ),
        (GENERAL.recipe("x", get("/v1/{small_model}")), target(), None),
        (
            GENERAL.recipe("x", get("/v1/{large_model}")),
            target(),
            ("value-missing", "add providers.pa.values.large_model to target 't'"),
        ),
    ]
    for probed, where, reason in cases:
        with subtests.test(probed=probed):
            found = find_obstacle(probed, where, where.allow)
            assert (None if found is None else (found.code, found.detail)) == reason
            assert found is None or found.code in NOT_PROBED


def test_a_plan_bounds_every_attempt_and_one_control_a_lane() -> None:
    three_calls = dict.fromkeys(("a", "b", "c"), get("/v1/models"))
    rows = [replace(FREE, calls=three_calls, tokens=5), replace(FREE, credential="admin")]
    assert upper_bounds(rows) == (2 + 3 * 4, 15)
    assert upper_bounds(rows, [replace(FREE, tokens=2)] * 2) == (2 + 3 * 4 + 2, 15 + 4)


def looked_at() -> Catalog:
    """The shipped endpoints and errors."""
    return Catalog(catalog().root, [record for record in catalog().records if record.kind != "rate_limits"])


def test_shipped_records_and_recipes_fit() -> None:
    books = {name: recipe_book(name) for name in providers()}
    assert [line for line in fit.find_misfits(looked_at(), books) if "/rate_limits/" not in line] == []


def small_catalog() -> Catalog:
    """One error and one endpoint that names it."""
    error = {
        "surface": "pa", "http_status": 404, "type": "not_found_error", "source": "2:7.3#row; 1:5.1#other",
        "status": ["DOCUMENTED", "LIVE_VERIFIED"], "observed": {"verified_at": "2026-01-30"},
    }  # fmt: skip
    endpoint = {
        "surface": "json", "response": {"status": 200}, "auth": {"wrong": ADDRESS}, "sources": ["1:4.1#row"],
        "status": ["DOCUMENTED"], "verification": {"verified_at": "2025-06-01"},
    }  # fmt: skip
    records = (Record(Address.parse(ADDRESS), error), Record(Address.parse("pa/endpoints/models/list"), endpoint))
    return Catalog(catalog().root, records)


LIST, LISTS = "pa/endpoints/models/list", Family("pa/endpoints/models")
GOOD = {ADDRESS: FREE, LIST: LISTS.recipe("list", {"success": get("/"), "wrong_credential": get("/")})}


ONLY_LIST = {LIST: GOOD[LIST]}
STRAY = "pa/errors/general/y"
WHY = ("no-documented-setup", "why")
MISFITS: list[tuple[dict[str, Recipe], dict[str, Reason], str]] = [
    (GOOD, {}, ""),
    (ONLY_LIST, {ADDRESS: Reason("not-on-the-wire", "why")}, ""),
    (ONLY_LIST, {}, f"{ADDRESS}: no recipe and no reason; add one in probes/recipes/pa, or a reason to UNPROBED"),
    (
        ONLY_LIST,
        {ADDRESS: Reason("not-on-the-wire")},
        f"{ADDRESS}: the reason 'not-on-the-wire' needs a detail that a person can act on",
    ),
    (
        ONLY_LIST,
        {ADDRESS: Reason("lazy", "why")},
        f"{ADDRESS}: 'lazy' is no reason of the closed list; choose from {', '.join(NOT_PROBED)}",
    ),
    (
        {**GOOD, STRAY: FREE},
        {},
        f"{STRAY}: a recipe or reason for no record; write one, or remove it in probes/recipes/pa",
    ),
    (
        {**GOOD, LIST: LISTS.recipe("list", {"success": get("/")})},
        {},
        f"{LIST}: its recipe sends nothing labelled 'wrong_credential', which the record documents",
    ),
    (
        {**GOOD, LIST: LISTS.recipe("list", {"wrong_credential": get("/")}).with_optional({"success": get("/")})},
        {},
        f"{LIST}: the record is about 'success', which its recipe may leave out; move it out of `optional`",
    ),
    (
        {**GOOD, ADDRESS: GENERAL.recipe("x", {"answer": get("/"), "more": get("/")})},
        {},
        f"{ADDRESS}: its recipe sends 'more', which the record does not document",
    ),
    (
        {**GOOD, ADDRESS: GENERAL.recipe("x", get("/"), credential="tihgt")},
        {},
        f"{ADDRESS}: its recipe uses the credential 'tihgt', which catalog/providers/pa.toml does not name; "
        "did you mean tight?",
    ),
    (
        {**GOOD, ADDRESS: GENERAL.recipe("x", get("/", credential="nobody"))},
        {},
        f"{ADDRESS}: its recipe uses the credential 'nobody', which catalog/providers/pa.toml does not name; "
        "add it to $.roles there, or change it in probes/recipes/pa",
    ),
    ({**GOOD, ADDRESS: GENERAL.recipe("x", get("/", credential="wrong"))}, {}, ""),
]


def test_a_misfit_is_reported_with_its_mend(subtests: pytest.Subtests) -> None:
    for recipes, unprobed, line in MISFITS:
        with subtests.test(recipes=recipes):
            assert "".join(fit.find_misfits(small_catalog(), {"pa": RecipeBook(recipes, unprobed, {})})) == line


def test_a_reference_to_no_record_is_reported() -> None:
    found = small_catalog()
    broken = Record(Address.parse(LIST), {**found[LIST].data, "auth": {"wrong": "pa/errors/general/none"}})
    lines = fit.find_misfits(Catalog(found.root, (found[ADDRESS], broken)), {"pa": RecipeBook(GOOD, {}, {})})
    assert [line.split(": ")[0] for line in lines] == [LIST]


def test_coverage_counts_by_kind() -> None:
    own = RecipeBook({ADDRESS: SIMULATED}, {LIST: Reason("not-on-the-wire", "why")}, {})
    today = date(2026, 1, 31)
    records = records_and_facts.list_record_coverage(
        small_catalog(), {"pa": ProviderReach.for_target(own, "pa", target())}, target(live=False)
    )
    kinds = records_and_facts.count_by_kind(records, today)
    assert set(kinds) == {"pa errors", "pa endpoints", "total"}
    assert kinds["pa errors"] == records_and_facts.RecordCounts(records=1, traffic_only=1, here=1, verified=1)
    assert kinds["pa endpoints"] == records_and_facts.RecordCounts(records=1, off_the_wire=1, stale=1)
    assert kinds["total"] == records_and_facts.RecordCounts(
        records=2, traffic_only=1, off_the_wire=1, here=1, verified=1, stale=1
    )
    assert len(records_and_facts.format_tallies(kinds, records_and_facts.RecordCounts)) == 4
    assert records_and_facts.format_unchecked(records) == [
        f"traffic only {ADDRESS}: no request can provoke it",
        f"off the wire {LIST}: why",
    ]


def test_coverage_of_the_shipped_records_adds_up() -> None:
    live = targets.load("live", {})
    books = {name: recipe_book(name) for name in providers()}
    total = records_and_facts.count_by_kind(
        records_and_facts.list_record_coverage(looked_at(), provider_reaches(books, live), live), date(2026, 1, 31)
    )["total"]
    assert total.records == len(looked_at())
    reached = (total.one_key, total.more, total.traffic_only, total.mock_only, total.off_the_wire)
    assert sum(reached) == total.records
    assert total.one_key + total.more > total.traffic_only + total.mock_only
    assert total.here == 0, "no key is set"


def test_a_plan_with_one_key_probes_the_records_of_that_reach() -> None:
    keys = {f"{name.upper()}_API_KEY": "key-of-nobody" for name in ("pa", "pb", "pc", "pd")}
    live = targets.load("live", keys).with_placeholder_values()
    reaches = provider_reaches({name: recipe_book(name) for name in providers()}, targets.load("live", {}))
    addresses = [str(record.address) for record in catalog().records]
    probed = make_plan(catalog(), live, live.allow, addresses).probed
    found = {
        address: reaches[catalog()[address].provider].record_reach(catalog()[address], catalog()).reach
        for address in addresses
    }
    assert {address for address, reach in found.items() if reach is Reach.ONE_KEY} <= probed.keys()
    assert {found[address] for address in probed} == {Reach.ONE_KEY, Reach.MORE}, "more: what need not come"
