"""What a mutant changes is put where it lives: code of a function, a constant in all that imported it, a default."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

import pytest

from tests.harness import mutate
from tests.harness.exchanging import exchange_constants, replacement
from tests.harness.mutate import Mutant, by_module, mutants

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


def compiled(text: str) -> CodeType:
    return compile(text, "plain.py", "exec", dont_inherit=True)


@pytest.mark.parametrize(
    ("before", "after", "function"),
    [("each < MOST_IN_PLAIN", "each > MOST_IN_PLAIN", "few"), ("return known", "return None", "Held.all")],
)
def test_the_outermost_function_that_differs_is_exchanged(before: str, after: str, function: str) -> None:
    found = replacement(compiled(PLAIN), compiled(PLAIN.replace(before, after)))
    assert found is not None
    assert {code.co_qualname for code in found} == {function}
    assert found[0] != found[1]


@pytest.mark.parametrize(
    ("before", "after"), [("MOST_IN_PLAIN = 3", "MOST_IN_PLAIN = 4"), ("most=5", "most=6"), ("class Held", "class H")]
)
def test_what_is_in_no_function_has_no_code_of_its_own(before: str, after: str) -> None:
    assert replacement(compiled(PLAIN), compiled(PLAIN.replace(before, after))) is None


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A module as it was imported, and another one that has imported from it."""
    module, importer = ModuleType("plain"), ModuleType("importer")
    module.__file__ = "plain.py"
    exec(compiled(PLAIN), vars(module))
    vars(importer).update(MOST_IN_PLAIN=vars(module)["MOST_IN_PLAIN"], KNOWN=vars(module)["KNOWN"])
    for each in (module, importer):
        monkeypatch.setitem(sys.modules, each.__name__, each)
    return module


def test_a_constant_is_exchanged_wherever_it_was_imported(plain: Any) -> None:
    held = plain.Held()
    assert exchange_constants(
        plain, compiled(PLAIN.replace("MOST_IN_PLAIN = 3", "MOST_IN_PLAIN = 1").replace('("a",)', '("b",)'))
    )
    assert (plain.MOST_IN_PLAIN, plain.KNOWN) == (1, ("b",))
    assert (vars(sys.modules["importer"])["MOST_IN_PLAIN"], vars(sys.modules["importer"])["KNOWN"]) == (1, ("b",))
    assert plain.few(9) == [0]
    assert held.all() == ("b",), "the default of an argument, too"


def test_what_a_library_puts_among_modules_may_hold_nothing(plain: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "no_module", cast("ModuleType", object()))
    assert exchange_constants(plain, compiled(PLAIN.replace("MOST_IN_PLAIN = 3", "MOST_IN_PLAIN = 1")))
    assert vars(sys.modules["importer"])["MOST_IN_PLAIN"] == 1


def test_what_is_the_same_is_not_exchanged(plain: Any) -> None:
    few = plain.few
    assert not exchange_constants(plain, compiled(PLAIN))
    assert plain.few is few
    assert exchange_constants(plain, compiled(PLAIN.replace("most=5", "most=1")))
    assert plain.few(9) == [0]


def test_a_mutant_is_named_by_its_line_and_by_which_of_several_alike_it_is() -> None:
    found = list(mutants("catalog_probe/catalog/envelopes/formats.py"))
    assert len({mutant.key for mutant in found}) == len(found)
    assert all(mutant.line in mutant.lines for mutant in found)
    assert all(mutant.code() != mutant.unchanged() for mutant in found)


def test_mutants_are_named_by_part_of_a_path_and_by_line() -> None:
    path = "catalog_probe/catalog/envelopes/formats.py"
    found = list(mutants(path))
    line = found[0].line
    assert all(mutant.is_named_by([]) and mutant.is_named_by(["other.py", "formats"]) for mutant in found)
    assert not any(mutant.is_named_by(["other.py"]) for mutant in found)
    of_a_line = [mutant for mutant in found if mutant.is_named_by([f"formats.py:{line}"])]
    assert of_a_line == [mutant for mutant in found if mutant.line == line]


def test_a_file_of_tests_that_is_gone_holds_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    core = tmp_path / "mutated.toml"
    core.write_text(
        '[tests]\n"catalog_probe/catalog/envelopes/formats.py" = ["tests/unit/probes/test_gone.py"]\n[equivalent]\n'
    )
    monkeypatch.setattr(mutate, "CORE", core)
    assert mutate.main(["--list"]) == 4
    assert "no file is called tests/unit/probes/test_gone.py;" in capsys.readouterr().out
    core.write_text(
        '[tests]\n"catalog_probe/catalog/envelopes/formats.py" = ["tests/unit/probes/test_formats.py"]\n[equivalent]\n'
    )
    assert mutate.main(["--list"]) == 0


def test_what_is_kept_of_a_module_stands_for_it_until_it_or_a_test_of_it_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mutate, "CHECKOUT", tmp_path)
    (tmp_path / "one.py").write_text("ONE = 1\n")
    (tmp_path / "two.py").write_text("TWO = 2 + 2\n")
    for test in ("test_one.py", "test_two.py"):
        (tmp_path / test).write_text("")
    tests = {"one.py": ["test_one.py"], "two.py": ["test_two.py"]}
    found = [Mutant(path, 0, 1, range(1, 2), "", f"{path}: {number}") for path in tests for number in range(3)]
    asked = list[str]()

    def tried(some: Sequence[Mutant]) -> Sequence[Mutant]:
        asked.append(some[0].path)
        return some[:1]

    def survived() -> list[str]:
        asked.clear()
        return [mutant.key for mutant in by_module(found, tests, tmp_path / "kept.jsonl", tried)]

    assert (survived(), asked) == (["one.py: 0", "two.py: 0"], ["one.py", "two.py"])
    assert (survived(), asked) == (["one.py: 0", "two.py: 0"], [])
    (tmp_path / "test_two.py").write_text("assert True\n")
    assert (survived(), asked) == (["one.py: 0", "two.py: 0"], ["two.py"])
    (tmp_path / "one.py").write_text("ONE = 2\n")
    assert (survived(), asked) == (["one.py: 0", "two.py: 0"], ["one.py"])
    assert (survived(), asked) == (["one.py: 0", "two.py: 0"], [])
