"""The table of clients and behaviours, printed at the end of a run."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

PAGE = Path(__file__).with_name("README.md")
ITEM = re.compile(r"test_independent\.py::test_(\w+)\[(.+)\]")
SHOWN = {"passed": "yes", "skipped": "–", "failed": "NO", "error": "NO"}

HEAD = """# What clients do on the mock

`yes`: the client returns, raises and retries as expected. `–`: it has no such call.
`SAY_ANEW=1 nox -s clients` writes this page.

These tests can fail: `mutants.tsv` has, for each behaviour, a mutant of the mock and the client whose test notices it.
`faults.tsv` has what official SDKs do on each documented fault: the class raised, the number of attempts, and the
mutant that no other row notices.
"""

SECTIONS = {
    "newest": "The official SDKs",
    "old": "Earlier releases of them",
    "independent": "Clients that were not written by providers",
}
"""Value of the variable `CLIENTS` -> title of that run's table."""

Cells = Mapping[tuple[str, str], str]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Show the table of the clients that this run asked."""
    cells = {
        (found[2], found[1].replace("_", " ")): SHOWN[outcome]
        for outcome in SHOWN
        for report in terminalreporter.stats.get(outcome, ())
        if (found := ITEM.search(getattr(report, "nodeid", ""))) is not None
    }
    asked = {client for (client, _), told in cells.items() if told != SHOWN["skipped"]}
    if not asked:
        return
    text = table({(client, behaviour): told for (client, behaviour), told in cells.items() if client in asked})
    terminalreporter.section("clients")
    terminalreporter.write_line(text)
    if os.environ.get("SAY_ANEW"):
        PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), os.environ["CLIENTS"], text), encoding="utf-8")


def page(before: str, section: str, text: str) -> str:
    """Return the page with a new table in one of its sections."""
    tables = {key: _section(before, title) for key, title in SECTIONS.items()}
    tables[section] = text
    return HEAD + "".join(f"\n## {title}\n\n{tables[key]}\n" for key, title in SECTIONS.items() if tables[key])


def _section(page: str, title: str) -> str:
    return page.partition(f"\n## {title}\n\n")[2].partition("\n\n")[0].strip()


def table(cells: Cells) -> str:
    """Format a Markdown table: clients as rows, behaviours as columns, both sorted."""
    clients, behaviours = (sorted({key[part] for key in cells}) for part in (0, 1))
    rows = [["client", *behaviours], ["---"] * (len(behaviours) + 1)]
    rows += [[client, *(cells.get((client, behaviour), "") for behaviour in behaviours)] for client in clients]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
