"""`catalog-probe`: each command of ours by one name, wherever the package lies."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from catalog.model import homes
from probes.commands import everything
from reports.commands import ask_again, this_probe
from tests.harness.checkouts import as_checkout
from tests.unit.catalog.catalog_making import write_catalog
from tests.unit.reports.making import finding, result, run

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from catalog.evidence.causes import Cause


@pytest.fixture(autouse=True)
def _no_home_is_left_named() -> Iterator[None]:
    yield
    homes.use(None)


COMMANDS = [each for commands in everything.OF_MODULES.values() for each in commands]


@pytest.mark.parametrize("command", [*COMMANDS, *everything.WHOLE, everything.CHECK])
def test_each_command_of_a_module_goes_by_its_name(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert everything.main([command, "--help"]) == 0
    said = capsys.readouterr()
    assert said.out.startswith("usage: ")
    assert command in everything.USAGE


def test_no_command_of_a_module_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    for module, commands in everything.OF_MODULES.items():
        own = __import__(f"{module}.__main__", fromlist=["main"])
        assert own.main(["no-such-command"]) == 4
        offered = capsys.readouterr().err.partition("choose from")[2].partition(")")[0]
        assert {each.strip(" '") for each in offered.split(",")} == {*commands, everything.CHECK}


def test_check_is_both_checks(capsys: pytest.CaptureFixture[str]) -> None:
    assert everything.main(["check"]) == 0
    sound, fitting = capsys.readouterr().out.splitlines()
    assert sound.endswith("providers: fine")
    assert fitting.endswith("every record has a recipe or a reason")


@pytest.mark.parametrize("option", [("--catalog", "records"), ("--catalog=records",)])
def test_records_that_are_sound_and_have_no_recipes_do_not_pass(
    option: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    as_checkout(tmp_path, monkeypatch)
    write_catalog(tmp_path / "records")
    assert everything.main(["check", *option]) == 1
    said = capsys.readouterr().out
    assert ": fine\n" in said
    assert said.rstrip().endswith("misfits")


def test_what_is_not_sound_is_not_asked_for_its_recipes(capsys: pytest.CaptureFixture[str]) -> None:
    assert everything.main(["check", "--catalog", "nowhere"]) == 4
    assert everything.main(["check", "--fixed"]) == 4
    said = capsys.readouterr()
    assert said.err.count("\n") == 2
    assert said.out == ""


@pytest.mark.parametrize(
    ("typed", "told"), [("chek", "did you mean check?"), ("\x1b[31mx", "see `catalog-probe --help`")]
)
def test_a_slip_is_one_line(typed: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert everything.main([typed]) == 4
    said = capsys.readouterr().err
    assert told in said
    assert said.count("\n") == 1
    assert "\x1b" not in said


@pytest.mark.parametrize(
    ("typed", "given"),
    [
        (["-k", "429"], ["{probes}", "-k", "429"]),
        (["probes/test_errors.py::test_error[a/b]"], ["{probes}/test_errors.py::test_error[a/b]"]),
        (["probes", "-n", "2"], ["{probes}", "-n", "2"]),
    ],
)
def test_probes_are_those_of_the_package(
    typed: list[str], given: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[list[str]] = []

    def pytest_main(arguments: list[str], plugins: list[object]) -> int:
        assert isinstance(plugins[0], everything.OnlyProbes)
        ran.append(arguments)
        return 10

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(pytest, "main", pytest_main)
    assert everything.main(["probe", *typed]) == 10, "pytest's own exit status"
    probes = str(everything.PROBES)
    assert ran[0][-len(given) :] == [each.format(probes=probes) for each in given]
    assert ran[0][:2] == ["-p", "probes.suite.plugin"]


def test_without_a_checkout_the_printed_commands_are_those_of_the_package() -> None:
    there: Any = run()
    there = replace(there, asked=replace(there.asked, installed=True))
    drift = result("pa/errors/general/a", findings=(finding(),))
    assert this_probe(there, drift).startswith("catalog-probe probe 'probes/test_errors.py::test_error[")
    cause: Any = type("C", (), {"id": "pa-1"})()
    told: Cause = cause
    assert ask_again(there, told).startswith("catalog-probe probe --cause pa-1")
