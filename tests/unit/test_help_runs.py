"""What the help of a command says to type runs as it stands, in a checkout that has what it names."""

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

HELPED = ("report feed", "report news", "can-i-rely")

RELY = """\
[[rely]]
on = ["pa/errors/general/rate_limit"]
"""


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a run, its history and a rely.toml."""
    use_as_checkout(tmp_path, monkeypatch)
    probed = make_result("pa/errors/general/overloaded")
    (tmp_path / "rely.toml").write_text(RELY)
    write_run(tmp_path / "reports/out/latest", make_run(run="latest"), [probed])
    append_to_history(tmp_path / "reports" / "history", make_run(run="latest"), [probed])
    return tmp_path


def examples(text: str) -> list[list[str]]:
    """The commands of ours that a help shows, without what another program does with their output."""
    found = re.findall(r"^ +catalog-probe (.+?)(?: {2,}.*)?$", text, re.MULTILINE)
    return [shlex.split(re.split(r" [|>]", each)[0]) for each in found]


@pytest.mark.usefixtures("checkout")
@pytest.mark.parametrize("command", HELPED)
def test_each_example_runs(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*command.split(), "--help"]) == 0
    shown = examples(capsys.readouterr().out)
    assert shown
    for arguments in shown:
        assert main(arguments) == (10 if command == "can-i-rely" else 0), f"{arguments}: {capsys.readouterr().err}"
        assert capsys.readouterr().out
