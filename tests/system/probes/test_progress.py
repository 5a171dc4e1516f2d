"""What a terminal shows while a run goes on, and what CI logs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.harness.terminals import run_in_terminal

if TYPE_CHECKING:
    from pathlib import Path

CHOSEN = ("--provider", "pd", "-k", "invalid_argument or models")
LETTERS = re.compile(r"^probes\S+ [.sF]+", re.MULTILINE)


def test_a_terminal_has_one_line_that_counts(tmp_path: Path) -> None:
    status, written = run_in_terminal(tmp_path / "out", *CHOSEN, "-n", "2", columns=70)
    assert status == 0, written
    drawn = [each.rstrip() for each in re.findall(r"\r(\d+ of \d+[^\r\n]*)", written)]
    assert drawn, written
    total = int(drawn[-1].split()[2])
    assert drawn[-1] == f"{total} of {total} done", "what is done of all; nothing differs and nothing is waited for"
    assert max(map(len, drawn)) < 70
    assert not LETTERS.search(written)
    assert written.rstrip().endswith("oldest evidence today.") or "conform on the mock." in written.splitlines()[-1]


def test_ci_gets_no_progress_line(tmp_path: Path) -> None:
    status, written = run_in_terminal(tmp_path / "out", *CHOSEN, environ={"CI": "true"})
    assert status == 0, written
    assert not re.search(r"\r\d+ of", written)
    assert LETTERS.search(written.replace("\r\n", "\n"))
