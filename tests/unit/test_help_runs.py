"""What the help of a command says to type runs as it stands, in a checkout that has what it names."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from catalog.__main__ import main as catalog_main
from reports import history
from reports.__main__ import main as reports_main
from tests.harness.checkouts import as_checkout
from tests.unit.reports import sample
from tests.unit.reports.making import result, run

COMMANDS: dict[str, Callable[[list[str]], int]] = {
    "catalog": catalog_main,
    "reports": reports_main,
}
HELPED = [
    ("reports", "feed"),
    ("reports", "news"),
    ("catalog", "can-i-rely"),
]

RELY = """\
[[rely]]
on = ["pa/errors/general/rate_limit"]
"""


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a run, its history and a rely.toml."""
    as_checkout(tmp_path, monkeypatch)
    probed = result("pa/errors/general/overloaded")
    (tmp_path / "rely.toml").write_text(RELY)
    sample.write(tmp_path / "reports/out/latest", run(run="latest"), [probed])
    history.append(tmp_path / "reports" / "history", run(run="latest"), [probed])
    return tmp_path


def examples(text: str) -> list[list[str]]:
    """The commands of ours that a help shows, without what another program does with their output."""
    found = re.findall(r"^ +python -m (.+?)(?: {2,}.*)?$", text, re.MULTILINE)
    return [shlex.split(re.split(r" [|>]", each)[0]) for each in found]


@pytest.mark.usefixtures("checkout")
@pytest.mark.parametrize(("module", "command"), HELPED)
def test_each_example_runs(module: str, command: str, checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert COMMANDS[module]([command, "--help"]) == 0
    shown = examples(capsys.readouterr().out)
    assert shown
    for own, *arguments in shown:
        if own not in COMMANDS:
            continue  # the mock serves until it is told to stop
        status = COMMANDS[own](arguments)
        assert status == (10 if own == "catalog" else 0), f"{own} {arguments}: {capsys.readouterr().err}"
        assert capsys.readouterr().out
