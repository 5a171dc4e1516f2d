"""The table client by behaviour, made from the run: printed at its end, and written to the docs with SAY_ANEW=1."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from tests.harness.command import CHECKOUT

if TYPE_CHECKING:
    import pytest

PAGE = CHECKOUT / "docs" / "clients.md"
ITEM = re.compile(r"test_independent\.py::test_(\w+)\[(.+)\]")
SHOWN = {"passed": "yes", "skipped": "–", "failed": "NO", "error": "NO"}

HEAD = """# Clients that were not written here

What each makes of the mock's answers: `yes` where it gives, raises and repeats what is expected, `–` where it has no
such call, or is not installed. Made by `SAY_ANEW=1 nox -s clients`, from `tests/system/clients/independent.py`.

"""

Cells = Mapping[tuple[str, str], str]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Show the table of the clients that this run asked."""
    cells = {
        (found[2], found[1].replace("_", " ")): SHOWN[outcome]
        for outcome in SHOWN
        for report in terminalreporter.stats.get(outcome, ())
        if (found := ITEM.search(getattr(report, "nodeid", ""))) is not None
    }
    if not cells:
        return
    text = table(cells)
    terminalreporter.section("clients")
    terminalreporter.write_line(text)
    if os.environ.get("SAY_ANEW"):
        PAGE.write_text(HEAD + text + "\n", encoding="utf-8")


def table(cells: Cells) -> str:
    """A Markdown table: a client a row, a behaviour a column, each in the order of its name."""
    clients, behaviours = (sorted({key[part] for key in cells}) for part in (0, 1))
    rows = [["client", *behaviours], ["---"] * (len(behaviours) + 1)]
    rows += [[client, *(cells.get((client, behaviour), "") for behaviour in behaviours)] for client in clients]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
