"""Python that is a command, wherever the interpreter lies."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.harness.scripts import write_script


@pytest.mark.parametrize("folder", ["plain", "with spaces", 'it\'s "$HOME"', "long" * 60])
def test_a_script_is_run_by_this_python_whatever_its_path(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = tmp_path / folder / "python"
    python.parent.mkdir()
    python.symlink_to(Path(sys.executable).resolve())
    monkeypatch.setattr(sys, "executable", str(python))
    script = tmp_path / folder / "script"
    write_script(script, "-IS", "import sys\nprint(sys.executable, sys.argv, sys.flags.isolated)\n")
    done = subprocess.run([script, "one", "two words"], capture_output=True, text=True, check=True)
    assert done.stdout == f"{python} {[str(script), 'one', 'two words']} 1\n"
