"""`catalog-probe report`: rebuild a run's views, merge shards, compare runs, keep the history."""

from __future__ import annotations

import json
import shutil
import sys
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.evidence import completeness, earlier_runs
from catalog_probe.catalog.evidence.results_file import EvidenceError
from catalog_probe.catalog.files import provider_folders
from catalog_probe.catalog.model import Outcome
from catalog_probe.catalog.model.errors import Exit, display_path
from catalog_probe.catalog.text.readable_text import escape_hidden_in_json, sanitize_row
from catalog_probe.cli import parser
from catalog_probe.cli.parser import Parser
from catalog_probe.reports import build, comparison, news
from catalog_probe.reports.build import find_run_folder, find_run_folder_or_none, read_named_run
from catalog_probe.reports.history import append_to_history, build_history_path, find_only_target, load_history
from catalog_probe.reports.views import ci_annotations, terminal

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from catalog_probe.catalog.model import Json
    from catalog_probe.cli.parser import Command

EPILOG = """\
A RUN is a run's folder, its results.jsonl, or its name under reports/out
(`latest` is the last one).

  catalog-probe report build latest                  report.html, summary.md, junit.xml again
  catalog-probe report build SHARD SHARD --out DIR   one run of several, in any order
  catalog-probe report show latest                   the summary that ended the run
  catalog-probe report show latest --annotate github  the causes as annotations of GitHub
  catalog-probe report open                          the last report in a browser
  catalog-probe report diff RUN_A RUN_B              which outcomes and assertions differ
  catalog-probe report history append latest         add it to the history, for later reports
  catalog-probe report history list --target live    the runs in the history
  catalog-probe report news                          what is new in the last run, as JSON
"""

RUN_HELP = "a run's folder, its results.jsonl, or its name under reports/out"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command, and return its exit status."""
    return parser.run(build_parser(), arguments)


def _with_provider_folder(command: Command) -> Command:
    """Return the command with the provider folder of `--catalog` in use."""

    def run(args: argparse.Namespace) -> int:
        provider_folders.use(args.catalog)
        return command(args)

    return run


def build_parser() -> Parser:
    """Build the parser of the group and its commands."""
    group = Parser(
        prog="catalog-probe report",
        description="Views of a run. All are made from results.jsonl alone.",
        epilog=EPILOG,
    )
    commands = group.add_subparsers(required=True, metavar="COMMAND")
    command = _add(commands, "build", "make report.html, summary.md and junit.xml again; merge shards")
    command.add_argument("runs", nargs="+", metavar="RUN", help=RUN_HELP)
    command.add_argument(
        "--out", type=Path, metavar="DIR", help="merge the runs into DIR, with their own results.jsonl"
    )
    command.set_defaults(run_command=_build)
    command = _add(commands, "show", "print the summary of a run")
    command.add_argument("run", metavar="RUN", nargs="?", default="latest", help=f"{RUN_HELP} (default: latest)")
    command.add_argument("--quiet", action="store_true", help="only the verdict and what needs attention")
    command.add_argument("--annotate", choices=ci_annotations.FORMATS, help="as annotations of this CI system instead")
    command.set_defaults(run_command=_show)
    command = _add(commands, "diff", "compare two runs: which outcomes and assertions differ; exit 1 if any do")
    command.add_argument("before", metavar="RUN_A", help=RUN_HELP)
    command.add_argument("after", metavar="RUN_B", help="the run that it is compared with")
    command.set_defaults(run_command=_diff)
    command = _add(commands, "history", "add a run to the history, or list the runs in it")
    history_commands = command.add_subparsers(required=True, metavar="append | list")
    append = _add(history_commands, "append", "add a run's line to the history, once", within="history ")
    append.add_argument("run", metavar="RUN", help=RUN_HELP)
    _add_history_folder(append)
    append.set_defaults(run_command=_append)
    listing = _add(history_commands, "list", "list the runs of a target, one per line", within="history ")
    _add_history_options(listing)
    listing.set_defaults(run_command=_list)
    command = _add(commands, "news", "print what is new in a run as one small JSON, for alerts")
    command.add_argument("run", metavar="RUN", nargs="?", help="a run of the history (default: the last one)")
    _add_history_options(command)
    command.set_defaults(run_command=_news)
    command = _add(commands, "open", "open a run's report in a browser")
    command.add_argument("run", metavar="RUN", nargs="?", default="latest", help=f"{RUN_HELP} (default: latest)")
    command.set_defaults(run_command=_open)
    for command_parser in (*commands.choices.values(), *history_commands.choices.values()):
        command_parser.add_argument(
            "--catalog",
            type=parser.parse_catalog_folder,
            metavar="DIR",
            help="the provider folder, if it has moved",
        )
        run_command = command_parser.get_default("run_command")
        if run_command is not None:
            command_parser.set_defaults(run_command=_with_provider_folder(run_command))
    return group


def _add(commands: Any, name: str, summary: str, within: str = "") -> Parser:
    """Add a command. Its help repeats the summary of the list, and the examples of this command."""
    examples = [line for line in EPILOG.splitlines() if line.startswith(f"  catalog-probe report {within}{name}")]
    added: Parser = commands.add_parser(
        name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.", epilog="\n".join(examples)
    )
    return added


def _add_history_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--target", help="whose history (default: the run's, the only one there is, or live)")
    _add_history_folder(command)


def _add_history_folder(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--history",
        dest="folder",
        type=provider_folders.locate,
        default=provider_folders.history_folder(),
        metavar="DIR",
        help="where histories lie (default: reports/history)",
    )


def _build(args: argparse.Namespace) -> int:
    folders = [find_run_folder(name) for name in args.runs]
    if args.out is not None:
        for shard in completeness.list_missing_shards(build.build_merged(folders, args.out).policy):
            print(f"shard {shard} is missing: the verdict speaks of the others alone")
    elif len(folders) > 1:
        raise EvidenceError(f"{len(folders)} runs make one report", "say where with --out DIR")
    else:
        build.build(folders[0])
    folder = args.out or folders[0]
    print(folder / "report.html")
    return 0


def _show(args: argparse.Namespace) -> int:
    run, results = read_named_run(args.run)
    if args.annotate:
        print("\n".join(ci_annotations.render(run, results)))
        return 0
    width = shutil.get_terminal_size((terminal.WIDTH, 24)).columns
    print(terminal.render(run, results, width=width, colour=sys.stdout.isatty(), quiet=args.quiet))
    return 0


def _diff(args: argparse.Namespace) -> int:
    differences = comparison.render(read_named_run(args.before), read_named_run(args.after))
    print(differences or "nothing differs")
    return Exit.PROBLEMS if differences else Exit.FINE


def _append(args: argparse.Namespace) -> int:
    run, results = read_named_run(args.run)
    damaged: list[str] = []
    added = append_to_history(args.folder, run, results, damaged)
    _report_damage(damaged)
    file = display_path(build_history_path(args.folder, run.target))
    print(sanitize_row(f"{file}: {run.run} {'added' if added else 'was there already'}"))
    return 0


def _list(args: argparse.Namespace) -> int:
    for line in _load_history(args):
        print(sanitize_row(f"{line['today']}  {line['run']}  {_count_outcomes(line['outcomes'])}"))
    return 0


def _news(args: argparse.Namespace) -> int:
    rows = earlier_runs.parse_history_lines(_load_history(args))
    name = args.run or rows[-1].run
    run = name if name in {row.run for row in rows} else read_named_run(name)[0].run
    content = news.build_news(args.target, rows, run)
    print(json.dumps(escape_hidden_in_json(content), ensure_ascii=False, indent=2))
    return 0


def _load_history(args: argparse.Namespace) -> list[dict[str, Json]]:
    """Load the history of a target, and set `args.target` if the option does not name it."""
    if not args.target and getattr(args, "run", None) and find_run_folder_or_none(args.run) is not None:
        args.target = read_named_run(args.run)[0].target
    args.target = args.target or find_only_target(args.folder) or "live"
    damaged: list[str] = []
    lines = load_history(args.folder, args.target, damage_notes=damaged)
    _report_damage(damaged)
    if not lines:
        file = build_history_path(args.folder, args.target)
        mend = f"`catalog-probe nightly --target {args.target}` makes the first one"
        if provider_folders.latest_run().exists():
            mend = "`catalog-probe report history append latest` adds the last run"
        run = getattr(args, "run", None)
        raise EvidenceError(f"the history has no run{f' {run!r}, nor any other' if run else ''}", mend, file=file)
    return lines


def _report_damage(damaged: Sequence[str]) -> None:
    """Name the damaged lines of a history on stderr. The command goes on without them."""
    sys.stderr.writelines(f"{sanitize_row(f'catalog-probe: {line}')}\n" for line in damaged)


def _open(args: argparse.Namespace) -> int:
    page = find_run_folder(args.run) / "report.html"
    if not page.is_file():
        raise EvidenceError("is not there", f"make it with `catalog-probe report build {args.run}`", file=page)
    print(page)
    webbrowser.open(page.resolve().as_uri())
    return 0


def _count_outcomes(letters: str) -> str:
    counts = [(letters.count(outcome.letter), outcome.words) for outcome in Outcome]
    return ", ".join(f"{number} {name}" for number, name in counts if number)
