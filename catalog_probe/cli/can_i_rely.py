"""`catalog-probe can-i-rely`: does what a client depends on hold?"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from catalog_probe.catalog.files import paths, provider_folders
from catalog_probe.catalog.files.store import Catalog
from catalog_probe.catalog.model.exits import Exit
from catalog_probe.catalog.rely import rely_file
from catalog_probe.catalog.rely.evaluation import DependencyResult, DependencyStatus, combine, evaluate_dependencies
from catalog_probe.catalog.text.phrases import format_count, shorten
from catalog_probe.catalog.text.sanitizing import sanitize_line
from catalog_probe.cli import parser
from catalog_probe.cli.parser import Parser

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator, Mapping, Sequence

    from catalog_probe.catalog.rely.evaluation import CellEvidence

# nothing was observed: the status of a run that was blind
STATUSES: Mapping[DependencyStatus, Exit] = {
    DependencyStatus.YES: Exit.FINE,
    DependencyStatus.NO: Exit.PROBLEMS,
    DependencyStatus.UNKNOWN: Exit.BLIND,
}

NAMED = 5
"""Observations named of one dependency; the others are counted."""

LONGEST = 200
"""Characters of a value."""


_DESCRIPTION = """\
Say whether what a client depends on holds. A rely.toml names that:

  [[rely]]
  on = ["pa/errors/general/rate_limit"]                 records; * stands for anything
  assertions = ["answer/status", "answer/header:*"]     default: all documented ones
  endpoints = ["pa/endpoints/messages/create_message"]  default: seen on some, differs on none
  why = "the retry loop"

The answer is no if a last observation mismatched, unknown if there was none for
`max_age_days` (default: 35), else yes.
Exit status: 0 yes, 1 no, 10 unknown, 4 wrong usage, a pattern that names
nothing among it.

  catalog-probe can-i-rely rely.toml
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Answer for one file; the exit status."""
    return parser.run(build_parser(), arguments, blamed=parser.find_first_problem)


def build_parser() -> Parser:
    """Build the parser of the command."""
    command = Parser(prog="catalog-probe can-i-rely", description=_DESCRIPTION)
    command.set_defaults(run_command=can_i_rely)
    parser.add_catalog_options(command, parser.parse_catalog_folder)
    command.add_argument("file", type=paths.locate, metavar="RELY_TOML", help="what it depends on")
    return command


def can_i_rely(args: Namespace) -> int:
    """Print the answer to each dependency of a file; the exit status is the answer to all of them."""
    rely = rely_file.read_rely_file(args.file)
    today = args.today or datetime.now(UTC).date()
    answers = evaluate_dependencies(rely, Catalog.load(*provider_folders.use(args.catalog)), today)
    total = combine(each.answer for each in answers)
    print(total)
    for each in answers:
        patterns = " ".join(each.dependency.on)
        why = f" ({each.dependency.why})" if each.dependency.why else ""
        amount = f"{format_count(each.assertions, 'assertion')} of {format_count(each.records, 'record')}"
        print(f"  {sanitize_line(f'{each.answer}: {shorten(patterns, LONGEST)}{why}, {amount}')}")
        for reason in _reasons(each):
            print(f"    {sanitize_line(reason)}")
    return STATUSES[total]


def _reasons(answer: DependencyResult) -> Iterator[str]:
    """What speaks against a yes: first what differs, then what nobody saw lately."""
    reasons = (*answer.differing, *answer.not_observed)
    yield from map(_format_evidence, reasons[:NAMED])
    if len(reasons) > NAMED:
        yield f"and {len(reasons) - NAMED} more"


def _format_evidence(evidence: CellEvidence) -> str:
    where = f" on {evidence.endpoint}" if evidence.endpoint else ""
    if evidence.mismatch:
        documented, observed = shorten(evidence.assertion.documented, LONGEST), shorten(evidence.mismatch, LONGEST)
        return f"{evidence.assertion.id}{where}: stated {documented}, observed {observed} on {evidence.on}"
    last = f"last seen on {evidence.on}" if evidence.on else "never seen"
    return f"{evidence.assertion.id}{where}: {last}"
