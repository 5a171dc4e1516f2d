"""Hooks and replacements of mutants: what they mean, which are refused, and which values are replaced."""

from __future__ import annotations

import re
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from tests.harness.mutants import instead
from tests.harness.mutants.hooks import REMOVED, Hook, HookError, Step
from tests.harness.mutants.instead import EffectCounter
from tests.harness.mutants.mutated import reimported_mock
from tests.harness.mutants.tables import COLUMNS, MockMutant, MutantTableError, find_table_errors, read_mutants

NOWHERE = Path("nowhere.tsv")

TOPIC = """
from catalog_probe.mockserver.pd.errors import EXHAUSTED

def other_kind(original):
    def refuse(*args, **options):
        raise EXHAUSTED.with_message(original.__name__)()
    return refuse
"""


def original(text: str) -> Any:
    return Hook.parse(text).load_original()


def read_replaced(hook: str, replacement: str, read: str, topic: Path = NOWHERE) -> Any:
    """Return what the hook `read` names in a mock with a replacement at the other hook."""
    parsed = Hook.parse(hook)
    with reimported_mock(parsed, lambda value: instead.make_replacement(replacement, topic, value, EffectCounter())):
        return original(read)


def test_hook_leads_to_a_value(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, object]] = [
        ("pd:INVALID_ARGUMENT.status", 400),
        ("pd:GRPC_NUMBERS[404]", 5),
        ("pd:ROUTES[GET /v1/api-key].path", "/v1/api-key"),
        ("pd:ROUTES[0].method", "GET"),
        ("pd:KEYS[mock-pd-blocked].blocked", True),
    ]
    for hook, value in cases:
        with subtests.test(hook=hook):
            assert original(hook) == value


def test_hook_that_leads_nowhere_is_refused(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, str]] = [
        ("pd.errors", "is no hook"),
        ("pd.errors:INVALID_ARGUMENT", "is no hook"),
        ("core:MAX_BODY", r"is ambiguous: \S+\.control, \S+\.arrivals define it"),
        ("pd:JSONResponse", "has no 'JSONResponse'"),
        ("pd:_TABLE", "is private"),
        ("pd:NO_SUCH", "has no 'NO_SUCH'"),
        ("pd:INVALID_ARGUMENT.stature", "has no 'stature'"),
        ("pd:GRPC_NUMBERS[418]", "no items"),
        ("pd:ROUTES[GET].path", "several items"),
        ("pd:INVALID_ARGUMENT[0]", "has no items"),
        ("pd:INVALID_ARGUMENT()", "is no function"),
    ]
    for hook, message in cases:
        with subtests.test(hook=hook), pytest.raises(HookError, match=message):
            original(hook)


def test_module_that_imports_the_name_has_the_replacement() -> None:
    importer = read_replaced("pd:UNKNOWN_PATH", '{"status": 410}', "pd:Gateway.admit")
    assert importer.__globals__["UNKNOWN_PATH"].status == 410


def test_value_built_from_the_original_has_the_replacement() -> None:
    row = read_replaced("pd:NOT_FOUND.status", "410", "pd:UNKNOWN_PATH")
    assert row.status == 410


def test_function_in_a_route_table_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "topic.py").write_text(TOPIC, encoding="utf-8")
    hook = Hook.parse("pd:tokenize_text")
    with reimported_mock(
        hook, lambda value: instead.make_replacement("@other_kind", tmp_path / "topic.tsv", value, EffectCounter())
    ):
        handler = original("pd:ROUTES[POST /v1/tokenize-text].handler")
        with pytest.raises(original("core:Refusal"), match="tokenize_text"):
            handler(None)


def test_item_is_removed() -> None:
    routes = read_replaced("pd:ROUTES[GET /v1/api-key]", "-", "pd:ROUTES")
    assert len(routes) == len(original("pd:ROUTES")) - 1


def test_default_of_a_dataclass_is_replaced() -> None:
    team = read_replaced("pd:Team.zero_data_retention", "true", "pd:Team")
    assert (team("a").zero_data_retention, team("a", zero_data_retention=False).zero_data_retention) == (True, False)


def test_property_and_method_return_a_literal() -> None:
    broke = read_replaced("pd:Team.can_pay", "true", "pd:BROKE")
    assert broke.can_pay is True
    keys = read_replaced("pd:Key.allows", "false", "pd:KEYS")
    assert keys["mock-pd-inference"].allows("any", "thing") is False


def test_value_inside_a_result_is_replaced_if_it_is_there() -> None:
    described = read_replaced("pd:describe_key()[acls]", "-", "pd:describe_key")
    key = original("pd:KEYS[mock-pd-blocked]")
    assert original("pd:describe_key")(key).keys() - described(key).keys() == {"acls"}
    elsewhere = read_replaced("pd:describe_key()[none]", "1", "pd:describe_key")
    assert elsewhere(key) == original("pd:describe_key")(key)


def test_literal_has_the_type_of_the_original(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, object, object]] = [
        ("[1, 2]", (3,), (1, 2)),
        ('["a"]', frozenset({"b"}), frozenset({"a"})),
        ("[[1, 2]]", ((3, 4),), ((1, 2),)),
        ("-", 1, REMOVED),
        ("null", "text", None),
        ('{"is_item": true}', Step("field", False), Step("field", True)),
    ]
    for replacement, like, value in cases:
        with subtests.test(replacement=replacement):
            assert instead.make_replacement(replacement, NOWHERE, like, EffectCounter()) == value


def test_replacement_without_meaning_is_refused(subtests: pytest.Subtests) -> None:
    for replacement in ["410 Gone", "@nothing", "=pd:NO_SUCH", "@_private"]:
        with subtests.test(replacement=replacement), pytest.raises(HookError):
            instead.check_replacement(replacement, NOWHERE, None)


def reject(body: object, *, extra: bool = False) -> None: ...


def test_replacement_with_fewer_parameters_is_refused(tmp_path: Path, subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, str]] = [
        ("lambda body, **named: None", ""),
        ("lambda *given, extra: None", ""),
        ("lambda body: None", "takes no 'extra', as reject does"),
        ("lambda extra=False: None", ""),
        ("lambda *, extra: None", "takes 0 arguments, and reject needs 1"),
    ]
    for replacement_code, message in cases:
        with subtests.test(replacement_code=replacement_code):
            (tmp_path / "topic.py").write_text(f"def narrower(original):\n    return {replacement_code}\n")
            with pytest.raises(HookError, match=message) if message else nullcontext():
                instead.check_replacement("@narrower", tmp_path / "topic.tsv", reject)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    (tmp_path / "pd").mkdir()
    return tmp_path / "pd" / "topic.tsv"


GOOD = ("slug", "pd-2.7.6-400_bad_url-1", "pd:NOT_FOUND.status", "410", "pd/errors/*")


def test_mistake_in_a_row_is_one_line(table: Path, subtests: pytest.Subtests) -> None:
    cases: list[tuple[dict[int, str], str]] = [
        ({}, ""),
        ({0: "Not a slug"}, "is no slug"),
        ({1: "pd-9-none-1"}, "is no fact of pd"),
        ({1: "pd-2.7.6-zero_invoiced_limit_rejection-2"}, "no effect on the wire|is no fact"),
        ({1: ""}, "breaks no fact"),
        ({2: "pd:NO_SUCH"}, "pd has no 'NO_SUCH'"),
        ({2: "nobody:NO_SUCH"}, "nobody has no 'NO_SUCH'"),
        ({3: "many words"}, "is no JSON"),
        ({4: ""}, "nobody notices"),
        ({4: "nobody:"}, "nobody notices"),
        ({1: "pd-2.8.5-per_model_per_team-2"}, "nobody can observe it"),
        ({1: "pd-2.8.5-per_model_per_team-2", 4: "nobody: it takes a month"}, ""),
        ({4: "pd/errors/* nobody: it takes a month"}, "write either"),
        ({4: "pd/errors/none/such"}, "is no record"),
    ]
    for changes, message in cases:
        with subtests.test(changes=changes):
            cells = [changes.get(index, cell) for index, cell in enumerate(GOOD)]
            table.write_text("\t".join(COLUMNS) + "\n" + "\t".join(cells) + "\n", encoding="utf-8")
            lines = list(find_table_errors(read_mutants(["pd"], table.parents[1])))
            assert [bool(re.search(message, line)) for line in lines] == ([True] if message else [])


def test_two_rows_with_one_slug_are_refused() -> None:
    row = MockMutant(NOWHERE.parent / "pd" / "x.tsv", 2, *GOOD[:1], (GOOD[1],), GOOD[2], GOOD[3], (GOOD[4],))
    assert [line.rpartition(": ")[2] for line in find_table_errors([row, row])] == ["another row has this slug"]


def test_table_of_another_shape_is_refused(table: Path, subtests: pytest.Subtests) -> None:
    cases: list[str] = ["mutant\tfacts\n", "\t".join(COLUMNS) + "\nslug\ttoo few\n"]
    for text in cases:
        with subtests.test(text=text):
            table.write_text(text, encoding="utf-8")
            with pytest.raises(MutantTableError, match=r"columns|cells"):
                read_mutants(["pd"], table.parents[1])
