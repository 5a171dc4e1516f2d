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

# An unknown answer has the status of a blind run.
STATUSES: Mapping[DependencyStatus, Exit] = {
    DependencyStatus.YES: Exit.FINE,
    DependencyStatus.NO: Exit.PROBLEMS,
    DependencyStatus.UNKNOWN: Exit.BLIND,
}

MAX_NAMED = 5  # observations of one dependency; the others are counted
MAX_VALUE = 200  # characters


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
    """Answer for one file, and return the exit status."""
    return parser.run(build_parser(), arguments, find_problem=parser.find_first_problem)


def build_parser() -> Parser:
    """Build the parser of the command."""
    command = Parser(prog="catalog-probe can-i-rely", description=_DESCRIPTION)
    command.set_defaults(run_command=can_i_rely)
    parser.add_catalog_options(command, parser.parse_catalog_folder)
    command.add_argument("file", type=paths.locate, metavar="RELY_TOML", help="what it depends on")
    return command


def can_i_rely(args: Namespace) -> int:
    """Print the answer for each dependency of a file, and return the status of all of them."""
    rely = rely_file.read_rely_file(args.file)
    today = args.today or datetime.now(UTC).date()
    answers = evaluate_dependencies(rely, Catalog.load(*provider_folders.use(args.catalog)), today)
    total = combine(answer.answer for answer in answers)
    print(total)
    for answer in answers:
        patterns = shorten(" ".join(answer.dependency.on), MAX_VALUE)
        reason = f" ({answer.dependency.why})" if answer.dependency.why else ""
        amount = f"{format_count(answer.assertions, 'assertion')} of {format_count(answer.records, 'record')}"
        print(f"  {sanitize_line(f'{answer.answer}: {patterns}{reason}, {amount}')}")
        for reason in _list_reasons(answer):
            print(f"    {sanitize_line(reason)}")
    return STATUSES[total]


def _list_reasons(answer: DependencyResult) -> Iterator[str]:
    """Yield what speaks against a yes: first what differs, then what was not observed lately."""
    evidence = (*answer.differing, *answer.not_observed)
    yield from map(_format_evidence, evidence[:MAX_NAMED])
    if len(evidence) > MAX_NAMED:
        yield f"and {len(evidence) - MAX_NAMED} more"


def _format_evidence(evidence: CellEvidence) -> str:
    endpoint = f" on {evidence.endpoint}" if evidence.endpoint else ""
    if evidence.mismatch:
        documented, observed = shorten(evidence.assertion.documented, MAX_VALUE), shorten(evidence.mismatch, MAX_VALUE)
        return f"{evidence.assertion.id}{endpoint}: stated {documented}, observed {observed} on {evidence.on}"
    last = f"last seen on {evidence.on}" if evidence.on else "never seen"
    return f"{evidence.assertion.id}{endpoint}: {last}"
