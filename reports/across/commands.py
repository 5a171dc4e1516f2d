"""`python -m reports matrix` and `upgrade`: several runs beside each other, and what a revision makes otherwise."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from catalog.evidence.results_file import drawing_on
from catalog.model import places
from catalog.model.errors import shown
from catalog.model.exits import Exit, highest
from catalog.model.visible import line, tree
from reports import build
from reports.across import page, table, upgrade_told
from reports.across.as_json import as_json
from reports.across.comparison import Comparison
from reports.across.table import Rows
from reports.across.upgrade import Upgrade
from reports.named import folder_of, read

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from catalog.command_line import Parser
    from reports.across.comparison import Row

PAGE = "matrix.html"

MATRIX = """\
Columns are runs: of a provider, a gateway, a mock (`stands_for` of a target), of regions or of revisions. A cell is the
share of the documented assertions, endpoint by endpoint, that were seen as documented, of those that were looked at.

  python -m reports matrix RUN RUN                                  families; the page too, and where it is
  python -m reports matrix RUN RUN RUN --query 'count:1(drifted)'   the odd one out
  python -m reports matrix RUN RUN --query 'seq(conforms drifted)'  as documented in one, otherwise in the next
  python -m reports matrix RUN RUN --query 'none(conforms)'         judged, and never as documented: likely our catalog
  python -m reports matrix RUN RUN --rows assertions --query 'provider:pa status:429'
  python -m reports matrix RUN RUN --json                           for programs

Exits 0; 4 where a run or a query cannot be read; 5 where the query finds nothing.
"""


UPGRADE = """\
Compares what was asked under one revision with the same under another: requests that were accepted and now fail, fields
that were renamed, the same code for another reason. Only what has a verdict in both runs is compared.

  pytest probes --provider pa                          the usual revision
  pytest probes --provider pa --revision 2026-10-21    another one
  python -m reports upgrade RUN_OLD RUN_NEW            what is otherwise, each with its evidence
  python -m reports upgrade RUN_OLD RUN_NEW --json     for programs

Exits 0 where nothing is otherwise, 1 where something is, 10 where more than a fifth could not be compared; 4 where a
run cannot be read.
"""


def add_matrix(commands: argparse._SubParsersAction[Parser]) -> None:
    """Declare the command."""
    command = commands.add_parser("matrix", help="several runs beside each other", epilog=MATRIX)
    command.add_argument("runs", nargs="+", metavar="RUN", help="its folder, its results.jsonl, or its name")
    command.add_argument("-q", "--query", default="", metavar="QUERY", help="only the records that it finds")
    command.add_argument(
        "--rows",
        type=str,
        choices=[str(each) for each in Rows],
        help="how far rows are opened; default: families, and records where there is a query",
    )
    command.add_argument("--json", action="store_true", help="print JSON, and write no page")
    command.add_argument(
        "--out",
        type=places.meant,
        default=places.runs(),
        metavar="DIR",
        help=f"write {PAGE} there; default: reports/out",
    )
    command.set_defaults(run_command=_matrix)


def add_upgrade(commands: argparse._SubParsersAction[Parser]) -> None:
    """Declare the command."""
    command = commands.add_parser("upgrade", help="what another revision makes otherwise", epilog=UPGRADE)
    command.add_argument("old", metavar="RUN_OLD", help="the run under the older revision: its folder or its name")
    command.add_argument("new", metavar="RUN_NEW", help="the run under the newer one")
    command.add_argument("--json", action="store_true", help="print JSON, each change with where its exchanges are")
    command.set_defaults(run_command=_upgrade)


def _upgrade(asked: argparse.Namespace) -> int:
    folders = [folder_of(name) for name in (asked.old, asked.new)]
    told = [read(name) for name in (asked.old, asked.new)]
    reports = [_report(folder, Path.cwd()) for folder in folders]
    with drawing_on(place=", ".join(map(shown, folders))):
        upgrade = Upgrade(*told)
        said = upgrade_told.as_json(upgrade, reports) if asked.json else upgrade_told.as_text(upgrade, reports)
        found = {Exit.PROBLEMS} if upgrade.changes else {Exit.FINE}
        status = highest(found | ({Exit.BLIND} if upgrade.blind else set()))
    print(json.dumps(tree(said), ensure_ascii=False, indent=2) if asked.json else said)
    return status


def _matrix(asked: argparse.Namespace) -> int:
    folders = [folder_of(name) for name in asked.runs]
    told = (read(name, in_memory=0) for name in asked.runs)  # a matrix shows no exchange
    with drawing_on(place=", ".join(map(shown, folders))):
        comparison = Comparison(told)
        rows = comparison.found(asked.query)
        said, drawn = _said(asked, comparison, rows, folders)
    print(said)
    if drawn is not None:
        asked.out.mkdir(parents=True, exist_ok=True)
        build.write(asked.out / PAGE, (drawn,))
        print(f"\n{asked.out / PAGE}")
    return Exit.FINE if rows else Exit.NOTHING_SELECTED


def _said(
    asked: argparse.Namespace, comparison: Comparison, rows: Sequence[Row], folders: Sequence[Path]
) -> tuple[str, str | None]:
    """What is printed, and the page if there is to be one."""
    reports = [_report(folder, asked.out) for folder in folders]
    if asked.json:
        return json.dumps(tree(as_json(comparison, rows, reports)), ensure_ascii=False, indent=2), None
    opened = Rows(asked.rows or (Rows.RECORDS if asked.query else Rows.FAMILIES))
    nothing = f"{line(comparison.sentence)}\n\nno record fits {line(asked.query)}"
    said = table.render(comparison, rows, opened) if rows else nothing
    return said, page.render(comparison, reports)


def _report(folder: Path, seen_from: Path) -> str:
    """Where a run's report lies, as a link in a page of another folder; nothing where it was never made."""
    report = folder / "report.html"
    return quote(os.path.relpath(report, seen_from).replace(os.sep, "/")) if report.is_file() else ""
