"""`catalog-probe`: dispatch of its commands, in a checkout and without one."""

from __future__ import annotations

import ast
import re
import runpy
import subprocess
import sys
from dataclasses import replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import pytest

from catalog_probe.cli import catalog_commands, main, new_commands, probe, report_commands, target_commands
from catalog_probe.probes.plugin.options import PROBES, list_options
from catalog_probe.reports.content.commands import format_cause_command, format_probe_command
from tests.harness.command import CHECKOUT, DEADLINE_S, child_environ
from tests.unit.reports.factories import make_finding, make_result, make_run

if TYPE_CHECKING:
    from pathlib import Path

    from catalog_probe.catalog.evidence.causes import Cause


ALL = [*main.COMMANDS, *main.GROUPS, *(f"{group} {own}" for group, names in main.GROUPS.items() for own in names)]

LINES, WIDTH = 60, 100
"""What a screen takes of a help."""


def test_the_help_of_each_command_fits_a_screen(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a report command it has an example, too."""
    monkeypatch.setenv("COLUMNS", "80")
    for command in [*ALL, "report history append", "report history list"]:
        assert main.main([*command.split(), "--help"]) == 0
        printed = capsys.readouterr().out
        assert not command.startswith("report ") or printed.count(f"catalog-probe {command}") > 1, command
        lines = printed.splitlines()
        assert lines[0].startswith("usage: "), command
        assert command in lines[0] or command == "mock"  # which has a parser of its own
        assert len(lines) <= LINES, command
        assert [line for line in lines if len(line) > WIDTH] == [], command


def test_the_overview_fits_a_small_screen_and_names_everything(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main([]) == main.main(["--help"]) == 0
    overview = capsys.readouterr().out
    assert overview.count("\n") / 2 <= 25
    words = set(re.findall(r"[a-z-]+", overview))
    assert {*main.COMMANDS, *main.GROUPS, *(own for names in main.GROUPS.values() for own in names)} <= words


BUILDERS = {
    "catalog": catalog_commands.build_parser,
    "report": report_commands.build_parser,
    "target": target_commands.build_parser,
    "new": new_commands.build_parser,
}


def test_the_overview_knows_each_command_of_a_group(
    capsys: pytest.CaptureFixture[str], subtests: pytest.Subtests
) -> None:
    for group in BUILDERS:
        with subtests.test(group):
            with pytest.raises(SystemExit):
                BUILDERS[group]().parse_args(["no-such-command"])
            offered = capsys.readouterr().err.partition("choose from")[2].partition(")")[0]
            assert {word.strip(" '") for word in offered.split(",")} == set(main.GROUPS[group])
            assert main.GROUPS.keys() == BUILDERS.keys()


UNNEEDED = {
    "--help": "pytest httpx grpc anyio jinja2 jsonschema probes reports catalog_probe/mockserver",
    "--version": "pytest httpx grpc anyio jinja2 jsonschema probes reports catalog_probe/mockserver",
    "catalog find --status 429": "pytest httpx grpc anyio jinja2 probes reports catalog_probe/mockserver",
    "identify pc examples/answer.txt": "pytest httpx grpc anyio jinja2 probes reports catalog_probe/mockserver",
    "report --help": "pytest httpx grpc anyio probes catalog_probe/mockserver",
    "probe --help": "pytest httpx grpc anyio catalog_probe/mockserver",
}


@pytest.mark.process
@pytest.mark.parametrize("command", UNNEEDED)
def test_a_command_imports_only_what_it_needs(command: str) -> None:
    program = "import sys; from catalog_probe.cli.main import main; main(sys.argv[1:]); print([*sys.modules])"
    line = [sys.executable, "-c", program, *command.split()]
    done = subprocess.run(
        line, cwd=CHECKOUT, env=child_environ({}), capture_output=True, text=True, check=True, timeout=DEADLINE_S
    )
    imported = {name.partition(".")[0] for name in ast.literal_eval(done.stdout.splitlines()[-1])}
    assert imported & {"catalog_probe"}
    assert imported & set(UNNEEDED[command].split()) == set()


def test_the_help_of_probe_is_of_our_options_and_points_to_those_of_pytest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["probe", "-k", "429", "--help"]) == 0
    printed = capsys.readouterr().out
    assert set(re.findall(r"^  (--[a-z-]+)", printed, re.MULTILINE)) == {
        "--help",
        *(option.flag for option in list_options()),
    }
    assert printed.splitlines()[-1].startswith("pytest's own options work too: -k ")


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["--version"]) == 0
    assert capsys.readouterr().out == f"catalog-probe {version('catalog-probe')}\n"


def test_a_library_that_is_missing_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "pytest"]:
        monkeypatch.setitem(sys.modules, name, None)
    assert main.main(["probe"]) == 4
    assert capsys.readouterr().err.startswith("catalog-probe: pytest is not installed here; ")


def test_check_covers_records_and_recipes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["check"]) == 0
    sound, fitting = capsys.readouterr().out.splitlines()
    assert sound.endswith("providers: fine")
    assert fitting.endswith("every record has a recipe or a reason")


def test_a_mistake_is_one_line_with_its_remedy(capsys: pytest.CaptureFixture[str]) -> None:
    cases: list[tuple[str, str]] = [
        ("upadte", "did you mean: catalog-probe catalog update"),
        ("reports", "did you mean: catalog-probe report"),
        ("report doctor", "did you mean: catalog-probe target doctor"),
        ("\x1b[31mx", "see `catalog-probe --help`"),
        ("new \x1b[31mx", "see `catalog-probe new --help`"),
    ]
    for typed, mend in cases:
        assert main.main(typed.split(" ")) == 4
        line = capsys.readouterr().err
        assert line.startswith("catalog-probe: "), typed
        assert line.endswith(f"; {mend}\n"), typed
        assert line.count("\n") == 1, typed
        assert "\x1b" not in line, typed


def test_the_module_is_the_same_command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["catalog_probe", "doctor"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("catalog_probe", run_name="__main__")
    assert ended.value.code == 4
    assert "catalog-probe target doctor" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("typed", "expected_arguments"),
    [
        (["-k", "429"], ["{probes}", "-k", "429"]),
        (["probes/test_errors.py::test_error[a/b]"], ["{probes}/test_errors.py::test_error[a/b]"]),
        (["probes", "-n", "2"], ["{probes}", "-n", "2"]),
    ],
)
def test_probes_are_those_of_the_package(
    typed: list[str], expected_arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[list[str]] = []

    def pytest_main(arguments: list[str], plugins: list[object]) -> int:
        assert isinstance(plugins[0], probe.OnlyProbes)
        ran.append(arguments)
        return 10

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(pytest, "main", pytest_main)
    assert main.main(["probe", *typed]) == 10, "pytest's own exit status"
    probes = str(PROBES)
    assert ran[0][-len(expected_arguments) :] == [argument.format(probes=probes) for argument in expected_arguments]
    assert ran[0][:2] == ["-p", "catalog_probe.probes.plugin.plugin"]


def test_without_a_checkout_the_printed_commands_are_those_of_the_package() -> None:
    there: Any = make_run()
    there = replace(there, invocation=replace(there.invocation, installed=True))
    drift = make_result("pa/errors/general/a", findings=(make_finding(),))
    assert format_probe_command(there, drift).startswith("catalog-probe probe 'probes/test_errors.py::test_error[")
    cause: Any = type("C", (), {"id": "pa-1"})()
    cause_shown: Cause = cause
    assert format_cause_command(there, cause_shown).startswith("catalog-probe probe --cause pa-1")
