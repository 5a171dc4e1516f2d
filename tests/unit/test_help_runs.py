"""The example commands of a help text run as printed, in a checkout that has their files."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

import pytest

from catalog_probe.cli.main import main
from catalog_probe.reports.history.history_file import append_to_history
from tests.harness.checkouts import use_as_checkout
from tests.unit.catalog.catalog_factories import write_run
from tests.unit.reports.factories import make_result, make_run

if TYPE_CHECKING:
    from pathlib import Path

COMMANDS = ("report feed", "report news")


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a run and its history."""
    use_as_checkout(tmp_path, monkeypatch)
    result = make_result("pa/errors/general/overloaded")
    write_run(tmp_path / "reports/out/latest", make_run(run="latest"), [result])
    append_to_history(tmp_path / "reports" / "history", make_run(run="latest"), [result])
    return tmp_path


def list_examples(text: str) -> list[list[str]]:
    """Return the arguments of our commands in a help text, without pipes and redirections."""
    command_lines = re.findall(r"^ +catalog-probe (.+?)(?: {2,}.*)?$", text, re.MULTILINE)
    return [shlex.split(re.split(r" [|>]", command_line)[0]) for command_line in command_lines]


@pytest.mark.usefixtures("checkout")
@pytest.mark.parametrize("command", COMMANDS)
def test_each_help_example_runs(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*command.split(), "--help"]) == 0
    commands = list_examples(capsys.readouterr().out)
    assert commands
    for arguments in commands:
        assert main(arguments) == 0, f"{arguments}: {capsys.readouterr().err}"
        assert capsys.readouterr().out
