"""The scripts by which shells complete commands and options."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from catalog_probe.cli.completion import SHELLS, build_whole_parser
from catalog_probe.cli.main import COMMANDS, GROUPS, main

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("shell", SHELLS)
def test_each_script_knows_every_command(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    for name in (*COMMANDS, *GROUPS, *(command for commands in GROUPS.values() for command in commands)):
        assert name in script, name
    for option in ("--provider", "--accepted-differences", "--only"):
        assert option.removeprefix("--") in script, option


def test_the_whole_parser_has_the_commands_of_the_program() -> None:
    words = build_whole_parser().format_help()
    assert all(name in words for name in (*COMMANDS, *GROUPS))


@pytest.mark.process
@pytest.mark.parametrize(
    ("typed", "completed"), [("rep", "report"), ("catalog fi", "find"), ("probe --prov", "--provider")]
)
def test_bash_completes(typed: str, completed: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["completion", "bash"])
    script = tmp_path / "completion.bash"
    script.write_text(capsys.readouterr().out)
    words = f"catalog-probe {typed}"
    number = len(typed.split())
    ask = f'source {script}; COMP_WORDS=({words}); COMP_CWORD={number}; _shtab_catalog_probe; echo "${{COMPREPLY[@]}}"'
    answer = subprocess.run(["bash", "-c", ask], capture_output=True, text=True, check=True)
    assert answer.stdout.split() == [completed]
