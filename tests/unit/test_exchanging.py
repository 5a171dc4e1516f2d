"""Mutants: which code they change, how they are named, and how it is exchanged in memory."""

from __future__ import annotations

import ast
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

import pytest

from tests.harness import mutate
from tests.harness.exchanging import exchange_constants, find_changed_function
from tests.harness.mutate import Mutant, list_mutants, resume_by_module
from tests.harness.mutations import changes

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from types import CodeType

# A constant is exchanged in all modules that hold the same object under its name, and small numbers are one object:
# the name must be one that no module of ours has, or the tests after this one meet the mutant.
PLAIN = """
MOST_IN_PLAIN = 3
KNOWN = ("a",)

def few(number, most=5):
    return [each for each in range(number) if each < MOST_IN_PLAIN][:most]

class Held:
    def all(self, *, known=KNOWN):
        def inner():
            return known
        return inner()
"""


def compile_code(text: str) -> CodeType:
    return compile(text, "plain.py", "exec", dont_inherit=True)


def test_outermost_changed_function_is_found() -> None:
    cases: list[tuple[str, str, str]] = [
        ("each < MOST_IN_PLAIN", "each > MOST_IN_PLAIN", "few"),
        ("return known", "return None", "Held.all"),
    ]
    for before, after, function in cases:
        codes = find_changed_function(compile_code(PLAIN), compile_code(PLAIN.replace(before, after)))
        assert codes is not None, before
        assert {code.co_qualname for code in codes} == {function}, before
        assert codes[0] != codes[1], before


def test_change_outside_of_functions_is_no_changed_function() -> None:
    cases: list[tuple[str, str]] = [
        ("MOST_IN_PLAIN = 3", "MOST_IN_PLAIN = 4"),
        ("most=5", "most=6"),
        ("class Held", "class H"),
    ]
    for before, after in cases:
        assert find_changed_function(compile_code(PLAIN), compile_code(PLAIN.replace(before, after))) is None


@pytest.fixture
def plain_module(monkeypatch: pytest.MonkeyPatch) -> Any:
    """An imported module, with another one that has imported from it."""
    module, importer = ModuleType("plain"), ModuleType("importer")
    module.__file__ = "plain.py"
    exec(compile_code(PLAIN), vars(module))
    vars(importer).update(MOST_IN_PLAIN=vars(module)["MOST_IN_PLAIN"], KNOWN=vars(module)["KNOWN"])
    for loaded_module in (module, importer):
        monkeypatch.setitem(sys.modules, loaded_module.__name__, loaded_module)
    return module


def test_constant_is_exchanged_in_every_module_that_imported_it(plain_module: Any) -> None:
    held = plain_module.Held()
    assert exchange_constants(
        plain_module, compile_code(PLAIN.replace("MOST_IN_PLAIN = 3", "MOST_IN_PLAIN = 1").replace('("a",)', '("b",)'))
    )
    assert (plain_module.MOST_IN_PLAIN, plain_module.KNOWN) == (1, ("b",))
    assert (vars(sys.modules["importer"])["MOST_IN_PLAIN"], vars(sys.modules["importer"])["KNOWN"]) == (1, ("b",))
    assert plain_module.few(9) == [0]
    assert held.all() == ("b",), "the default of an argument, too"


def test_object_in_sys_modules_without_attributes_is_skipped(
    plain_module: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "no_module", cast("ModuleType", object()))
    assert exchange_constants(plain_module, compile_code(PLAIN.replace("MOST_IN_PLAIN = 3", "MOST_IN_PLAIN = 1")))
    assert vars(sys.modules["importer"])["MOST_IN_PLAIN"] == 1


def test_equal_constants_are_not_exchanged(plain_module: Any) -> None:
    few = plain_module.few
    assert not exchange_constants(plain_module, compile_code(PLAIN))
    assert plain_module.few is few
    assert exchange_constants(plain_module, compile_code(PLAIN.replace("most=5", "most=1")))
    assert plain_module.few(9) == [0]


def test_mutants_have_unique_names_and_change_their_lines() -> None:
    mutants = list(list_mutants("catalog_probe/catalog/envelopes/formats.py"))
    assert len({mutant.name for mutant in mutants}) == len(mutants)
    assert all(mutant.line in mutant.lines for mutant in mutants)
    assert all(mutant.code() != mutant.original_code() for mutant in mutants)


def test_part_of_a_path_and_line_select_mutants() -> None:
    path = "catalog_probe/catalog/envelopes/formats.py"
    mutants = list(list_mutants(path))
    line = mutants[0].line
    assert all(mutant.is_selected_by([]) and mutant.is_selected_by(["other.py", "formats"]) for mutant in mutants)
    assert not any(mutant.is_selected_by(["other.py"]) for mutant in mutants)
    selected = [mutant for mutant in mutants if mutant.is_selected_by([f"formats.py:{line}"])]
    assert selected == [mutant for mutant in mutants if mutant.line == line]


def test_missing_test_file_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = tmp_path / "mutated.toml"
    settings.write_text(
        '[tests]\n"catalog_probe/catalog/envelopes/formats.py" = ["tests/unit/probes/test_gone.py"]\n[equivalent]\n'
    )
    monkeypatch.setattr(mutate, "SETTINGS", settings)
    assert mutate.main(["--list"]) == 4
    assert "no such file: tests/unit/probes/test_gone.py;" in capsys.readouterr().out
    settings.write_text(
        '[tests]\n"catalog_probe/catalog/envelopes/formats.py" = ["tests/unit/probes/test_formats.py"]\n[equivalent]\n'
    )
    assert mutate.main(["--list"]) == 0


def test_journal_is_used_until_the_module_or_its_tests_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutate, "CHECKOUT", tmp_path)
    (tmp_path / "one.py").write_text("ONE = 1\n")
    (tmp_path / "two.py").write_text("TWO = 2 + 2\n")
    for test in ("test_one.py", "test_two.py"):
        (tmp_path / test).write_text("")
    tests = {"one.py": ["test_one.py"], "two.py": ["test_two.py"]}
    mutants = [Mutant(path, 0, 1, range(1, 2), "", f"{path}: {number}") for path in tests for number in range(3)]
    tested_paths = list[str]()

    def run_mutants(mutants: Sequence[Mutant]) -> Sequence[Mutant]:
        tested_paths.append(mutants[0].path)
        return mutants[:1]

    def list_survivors() -> list[str]:
        tested_paths.clear()
        return [mutant.name for mutant in resume_by_module(mutants, tests, tmp_path / "kept.jsonl", run_mutants)]

    assert (list_survivors(), tested_paths) == (["one.py: 0", "two.py: 0"], ["one.py", "two.py"])
    assert (list_survivors(), tested_paths) == (["one.py: 0", "two.py: 0"], [])
    (tmp_path / "test_two.py").write_text("assert True\n")
    assert (list_survivors(), tested_paths) == (["one.py: 0", "two.py: 0"], ["two.py"])
    (tmp_path / "one.py").write_text("ONE = 2\n")
    assert (list_survivors(), tested_paths) == (["one.py: 0", "two.py: 0"], ["one.py"])
    assert (list_survivors(), tested_paths) == (["one.py: 0", "two.py: 0"], [])


def test_mutant_keeps_its_name_when_its_lines_move(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutate, "CHECKOUT", tmp_path)
    for name, text in (("one.py", PLAIN), ("moved.py", f"FIRST = 'line'\n{PLAIN}")):
        (tmp_path / name).write_text(text)
    names = {mutant.name for mutant in list_mutants("one.py")}
    assert "few: each < MOST_IN_PLAIN  ->  each <= MOST_IN_PLAIN" in names
    assert "MOST_IN_PLAIN: 3  ->  4" in names
    assert {mutant.name for mutant in list_mutants("moved.py")} == names | {"FIRST: 'line'  ->  'linex'"}


def test_line_without_testable_behaviour_has_no_mutants() -> None:
    cases: list[str] = [
        "def f() -> bool: return False",
        "def f() -> str: return ''",
        "Names = Mapping['str', 'str']",
        "T = TypeVar('T')",
        "MAX_NAMES = 5",
        "BODY_BYTES = 1024",
    ]
    for line in cases:
        descriptions = [change.description for change in changes(ast.parse(line))]
        assert [text for text in descriptions if text not in ("False  ->  True", "''  ->  'x'")] == [], line
