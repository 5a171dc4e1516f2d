"""Hooks and what takes their place, and that a replacement reaches whatever is built from the original."""

from __future__ import annotations

import importlib
import re
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from tests.harness.mutants import instead
from tests.harness.mutants.hooks import GONE, Hook, Unresolved
from tests.harness.mutants.instead import ExplainedReach
from tests.harness.mutants.mutated import imported_anew
from tests.harness.mutants.tables import COLUMNS, Mutant, Refused, mutants, refusals

NOWHERE = Path("nowhere.tsv")

TOPIC = """
from catalog_probe.mockserver.pd.errors import EXHAUSTED

def other_kind(original):
    def refuse(*args, **options):
        raise EXHAUSTED.with_message(original.__name__)()
    return refuse
"""


def original(text: str) -> Any:
    hook = Hook.parse(text)
    return hook.original(importlib.import_module(hook.module))


def read_anew(hook: str, stands: str, module: str, name: str, topic: Path = NOWHERE) -> Any:
    """What a module has under a name in a mock with something else in the place of the hook."""
    parsed = Hook.parse(hook)
    with imported_anew(parsed, lambda value: instead.stands_in(stands, topic, value, ExplainedReach())):
        return vars(importlib.import_module(module))[name]


@pytest.mark.parametrize(
    ("hook", "value"),
    [
        ("pd.errors:INVALID_ARGUMENT.status", 400),
        ("pd.errors:GRPC_NUMBERS[404]", 5),
        ("pd.routes:ROUTES[GET /v1/api-key].path", "/v1/api-key"),
        ("pd.routes:ROUTES[0].method", "GET"),
        ("pd.keys:KEYS[mock-pd-blocked].blocked", True),
    ],
)
def test_a_hook_leads_to_a_value(hook: str, value: object) -> None:
    assert original(hook) == value


@pytest.mark.parametrize(
    ("hook", "said"),
    [
        ("pd.errors", "is no hook"),
        ("pd.keys:_TABLE", "is private"),
        ("pd.keys:NO_SUCH", "has no 'NO_SUCH'"),
        ("pd.errors:INVALID_ARGUMENT.stature", "has no 'stature'"),
        ("pd.errors:GRPC_NUMBERS[418]", "no items"),
        ("pd.routes:ROUTES[GET].path", "several items"),
        ("pd.errors:INVALID_ARGUMENT[0]", "has no items"),
        ("pd.errors:INVALID_ARGUMENT()", "is no function"),
    ],
)
def test_a_hook_that_leads_nowhere_is_refused(hook: str, said: str) -> None:
    with pytest.raises(Unresolved, match=said):
        original(hook)


def test_what_imports_it_by_name_has_the_replacement() -> None:
    row = read_anew("pd.errors:UNKNOWN_PATH.status", "410", "catalog_probe.mockserver.pd.gateway", "UNKNOWN_PATH")
    assert row.status == 410


def test_what_is_built_of_it_has_the_replacement() -> None:
    row = read_anew("pd.errors:NOT_FOUND.status", "410", "catalog_probe.mockserver.pd.errors", "UNKNOWN_PATH")
    assert row.status == 410


def test_at_an_import_that_module_alone_has_the_replacement() -> None:
    hook, stands = "pd.gateway:UNKNOWN_PATH", "=pd.errors:EXHAUSTED"
    assert read_anew(hook, stands, "catalog_probe.mockserver.pd.gateway", "UNKNOWN_PATH").status == 429
    assert read_anew(hook, stands, "catalog_probe.mockserver.pd.errors", "UNKNOWN_PATH").status == 404


def test_what_a_table_calls_has_the_replacement(tmp_path: Path) -> None:
    (tmp_path / "topic.py").write_text(TOPIC, encoding="utf-8")
    hook = Hook.parse("pd.endpoints.lookups:tokenize_text")
    with imported_anew(
        hook, lambda value: instead.stands_in("@other_kind", tmp_path / "topic.tsv", value, ExplainedReach())
    ):
        routes = importlib.import_module("catalog_probe.mockserver.pd.routes").ROUTES
        handler = next(route.handler for route in routes if route.path == "/v1/tokenize-text")
        refusal = importlib.import_module("catalog_probe.mockserver.core.errors").Refusal
        with pytest.raises(refusal, match="tokenize_text"):
            handler(None)


def test_an_item_is_taken_out() -> None:
    routes = read_anew(
        "pd.routes:ROUTES[GET /v1/api-key]",
        "-",
        "catalog_probe.mockserver.pd.routes",
        "ROUTES",
    )
    assert len(routes) == len(original("pd.routes:ROUTES")) - 1


def test_a_default_of_a_dataclass_is_replaced() -> None:
    team = read_anew(
        "pd.keys:Team.zero_data_retention",
        "true",
        "catalog_probe.mockserver.pd.keys",
        "Team",
    )
    assert (team("a").zero_data_retention, team("a", zero_data_retention=False).zero_data_retention) == (True, False)


def test_a_property_and_a_method_answer_a_literal() -> None:
    broke = read_anew("pd.keys:Team.can_pay", "true", "catalog_probe.mockserver.pd.keys", "BROKE")
    assert broke.can_pay is True
    keys = read_anew("pd.keys:Key.allows", "false", "catalog_probe.mockserver.pd.keys", "KEYS")
    assert keys["mock-pd-inference"].allows("any", "thing") is False


def test_what_a_function_returns_is_changed_where_the_steps_lead_into_it() -> None:
    described = read_anew(
        "pd.endpoints.lookups:describe_key()[acls]",
        "-",
        "catalog_probe.mockserver.pd.endpoints.lookups",
        "describe_key",
    )
    key = original("pd.keys:KEYS[mock-pd-blocked]")
    assert original("pd.endpoints.lookups:describe_key")(key).keys() - described(key).keys() == {"acls"}
    elsewhere = read_anew(
        "pd.endpoints.lookups:describe_key()[none]",
        "1",
        "catalog_probe.mockserver.pd.endpoints.lookups",
        "describe_key",
    )
    assert elsewhere(key) == original("pd.endpoints.lookups:describe_key")(key)


@pytest.mark.parametrize(
    ("stands", "like", "value"),
    [
        ("[1, 2]", (3,), (1, 2)),
        ('["a"]', frozenset({"b"}), frozenset({"a"})),
        ("[[1, 2]]", ((3, 4),), ((1, 2),)),
        ("-", 1, GONE),
        ("null", "text", None),
    ],
)
def test_a_literal_has_the_type_of_what_it_replaces(stands: str, like: object, value: object) -> None:
    assert instead.stands_in(stands, NOWHERE, like, ExplainedReach()) == value


@pytest.mark.parametrize("stands", ["410 Gone", "@nothing", "=pd.errors:NO_SUCH", "@_private"])
def test_what_means_nothing_is_refused(stands: str) -> None:
    with pytest.raises(Unresolved):
        instead.check(stands, NOWHERE, None)


def refused(body: object, *, extra: bool = False) -> None: ...


@pytest.mark.parametrize(
    ("made", "said"),
    [
        ("lambda body, **named: None", ""),
        ("lambda *given, extra: None", ""),
        ("lambda body: None", "takes no 'extra', as refused does"),
        ("lambda extra=False: None", ""),
        ("lambda *, extra: None", "takes 0 arguments, and refused needs 1"),
    ],
)
def test_a_function_that_takes_less_than_the_original_is_refused(made: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "topic.py").write_text(f"def narrower(original):\n    return {made}\n")
    with pytest.raises(Unresolved, match=said) if said else nullcontext():
        instead.check("@narrower", tmp_path / "topic.tsv", refused)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    (tmp_path / "pd").mkdir()
    return tmp_path / "pd" / "topic.tsv"


GOOD = ("slug", "pd-2.7.6-400_bad_url-1", "pd.errors:NOT_FOUND.status", "410", "pd/errors/*")


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({}, ""),
        ({0: "Not a slug"}, "is no slug"),
        ({1: "pd-9-none-1"}, "is no fact of pd"),
        ({1: "pd-2.7.6-zero_invoiced_limit_rejection-2"}, "no effect on the wire|is no fact"),
        ({1: ""}, "breaks no fact"),
        ({2: "pd.errors:NO_SUCH"}, "has no 'NO_SUCH'"),
        ({2: "pd.nowhere:NO_SUCH"}, "No module named"),
        ({3: "many words"}, "is no JSON"),
        ({4: ""}, "nobody notices"),
        ({4: "pd/errors/none/such"}, "is no record"),
    ],
)
def test_a_row_that_means_nothing_is_refused_with_one_line(table: Path, changed: dict[int, str], said: str) -> None:
    cells = [changed.get(index, cell) for index, cell in enumerate(GOOD)]
    table.write_text("\t".join(COLUMNS) + "\n" + "\t".join(cells) + "\n", encoding="utf-8")
    lines = list(refusals(mutants(["pd"], table.parents[1])))
    assert [bool(re.search(said, line)) for line in lines] == ([True] if said else [])


def test_two_rows_with_one_slug_are_refused() -> None:
    row = Mutant(NOWHERE.parent / "pd" / "x.tsv", 2, *GOOD[:1], (GOOD[1],), GOOD[2], GOOD[3], (GOOD[4],))
    assert [line.rpartition(": ")[2] for line in refusals([row, row])] == ["another row has this slug"]


@pytest.mark.parametrize("text", ["mutant\tfacts\n", "\t".join(COLUMNS) + "\nslug\ttoo few\n"])
def test_a_table_of_another_shape_is_refused(table: Path, text: str) -> None:
    table.write_text(text, encoding="utf-8")
    with pytest.raises(Refused, match=r"columns|cells"):
        mutants(["pd"], table.parents[1])
