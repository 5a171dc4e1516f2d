"""A folder without records is refused in the same words by every command that is given one: nothing of it is fine."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

import catalog
from catalog.model import homes
from catalog.model.errors import CatalogError
from catalog.model.exits import Exit
from probes.commands import everything
from tests.harness.command import pytest_here

COMMANDS = """
catalog check
catalog show
catalog find 429
catalog facts 2:7.4
catalog identify pc
catalog export csv
catalog can-i-rely rely.toml
catalog update latest
catalog explain
catalog accept pa/errors --reason known
probes check
probes coverage
probes doctor
probes variables
probes cleanup
reports build latest
reports show
reports diff a b
reports history list
"""


def said(folder: Path) -> str:
    return f"{folder}: is no folder of records; name a folder that holds pa/, pb/, …"


@pytest.mark.parametrize("command", COMMANDS.strip().splitlines())
def test_every_command_says_so(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    module, *words = command.split()
    assert import_module(f"{module}.__main__").main([*words, "--catalog", str(tmp_path)]) == Exit.USAGE
    assert capsys.readouterr() == ("", f"{module}: {said(tmp_path)}\n")


def test_so_does_whatever_else_is_given_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert everything.main(["check", "--catalog", str(tmp_path)]) == Exit.USAGE
    assert pytest_here("probes", "--catalog", str(tmp_path), "--plan") == Exit.USAGE
    assert capsys.readouterr().err.split("\n")[:2] == [
        f"catalog: {said(tmp_path)}",
        f"ERROR: {said(tmp_path)}",
    ]
    with pytest.raises(CatalogError, match="is no folder of records"):
        catalog.load(tmp_path)


def test_a_home_may_have_none_yet(tmp_path: Path) -> None:
    manifests = homes.Home(tmp_path).manifests
    manifests.mkdir()
    (manifests / "pe.toml").touch()
    homes.Home(tmp_path).records.mkdir()
    assert homes.demanded(tmp_path) == (tmp_path.resolve() / "records",)
