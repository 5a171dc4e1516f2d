"""`catalog-probe report`: make a run's views again, merge shards, compare runs, keep the history."""

from __future__ import annotations

import json
import shutil
import sys
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.evidence import earlier_runs, shards
from catalog_probe.catalog.evidence.earlier_runs import OUTCOME_LETTERS
from catalog_probe.catalog.evidence.results_file import EvidenceError
from catalog_probe.catalog.files import paths, provider_folders
from catalog_probe.catalog.model.errors import display_path
from catalog_probe.catalog.model.exits import Exit
from catalog_probe.catalog.text.sanitizing import escape_hidden_in_json, sanitize_row
from catalog_probe.cli import parser
from catalog_probe.cli.parser import Parser
from catalog_probe.reports import build, comparison
from catalog_probe.reports.content.words import OUTCOMES
from catalog_probe.reports.history.history_file import (
    append_to_history,
    build_history_path,
    find_only_target,
    load_history,
)
from catalog_probe.reports.news import feed, news
from catalog_probe.reports.run_lookup import find_run_folder, find_run_folder_or_none, read_named_run
from catalog_probe.reports.views import ci_annotations, terminal

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from catalog_probe.catalog.evidence.results import Run
    from catalog_probe.catalog.model import Json
    from catalog_probe.cli.parser import Command

EPILOG = """\
A RUN is a run's folder, its results.jsonl, or its name under reports/out
(`latest` is the last one).

  catalog-probe report build latest                  report.html, summary.md, junit.xml again
  catalog-probe report build SHARD SHARD --out DIR   one run of several, in whatever order
  catalog-probe report show latest                   what the terminal said at the end of the run
  catalog-probe report show latest --annotate github  the causes as annotations of GitHub
  catalog-probe report open                          the last report in a browser
  catalog-probe report diff RUN_A RUN_B              which outcomes and assertions differ
  catalog-probe report history append latest         remember it, for the strips of later reports
  catalog-probe report history list --target live    the nights that are remembered
  catalog-probe report feed                          what changed on the wire, as an Atom feed
  catalog-probe report news                          what the last run has to tell, as JSON
"""


RUN = "a run's folder, its results.jsonl, or its name under reports/out"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit status."""
    return parser.run(build_parser(), arguments)


def _with_home(command: Command) -> Command:
    """The command, where the home of a run's providers may be named."""

    def run(asked: argparse.Namespace) -> int:
        provider_folders.use(asked.catalog)
        return command(asked)

    return run


def build_parser() -> Parser:
    """Build the parser of the group, with one of its own for each command."""
    group = Parser(
        prog="catalog-probe report",
        description="Views of what a run saw. All are made from results.jsonl alone.",
        epilog=EPILOG,
    )
    commands = group.add_subparsers(required=True, metavar="COMMAND")
    command = _add(commands, "build", "make report.html, summary.md and junit.xml again; merge shards")
    command.add_argument("runs", nargs="+", metavar="RUN", help=RUN)
    command.add_argument(
        "--out", type=Path, metavar="DIR", help="merge the runs into DIR, with their own results.jsonl"
    )
    command.set_defaults(run_command=_build)
    command = _add(commands, "show", "print the summary of a run")
    command.add_argument("run", metavar="RUN", nargs="?", default="latest", help=f"{RUN} (default: latest)")
    command.add_argument("--quiet", action="store_true", help="only the verdict and what needs attention")
    command.add_argument("--annotate", choices=ci_annotations.FORMATS, help="as annotations of this CI system instead")
    command.set_defaults(run_command=_show)
    command = _add(commands, "diff", "compare two runs: which outcomes and assertions differ; exit 1 if any do")
    command.add_argument("before", metavar="RUN_A", help=RUN)
    command.add_argument("after", metavar="RUN_B", help="the one it is compared with")
    command.set_defaults(run_command=_diff)
    command = _add(commands, "history", "remember a run, or list what is remembered")
    kept = command.add_subparsers(required=True, metavar="append | list")
    each = _add(kept, "append", "add a run's line to the history, once", within="history ")
    each.add_argument("run", metavar="RUN", help=RUN)
    _add_folder(each)
    each.set_defaults(run_command=_append)
    each = _add(kept, "list", "the runs remembered of a target, one a line", within="history ")
    _of_history(each)
    each.set_defaults(run_command=_list)
    command = _add(commands, "feed", "print what changed on the wire as an Atom feed, from the history")
    command.add_argument("run", metavar="RUN", nargs="?", help="a run of the target, if --target does not name it")
    _of_history(command)
    command.set_defaults(run_command=_feed)
    command = _add(commands, "news", "print what a run has to tell anybody who is called, as one small JSON")
    command.add_argument("run", metavar="RUN", nargs="?", help="a run of the history (default: the last one)")
    _of_history(command)
    command.set_defaults(run_command=_news)
    command = _add(commands, "open", "open a run's report in a browser")
    command.add_argument("run", metavar="RUN", nargs="?", default="latest", help=f"{RUN} (default: latest)")
    command.set_defaults(run_command=_open)
    for each in (*commands.choices.values(), *kept.choices.values()):
        each.add_argument(
            "--catalog",
            type=parser.parse_catalog_folder,
            metavar="DIR",
            help="the home of the providers, if it has moved",
        )
        if each.get_default("run_command") is not None:
            each.set_defaults(run_command=_with_home(each.get_default("run_command")))
    return group


def _add(commands: Any, name: str, told: str, within: str = "") -> Parser:
    """A command that is told as the list of all tells it, with those of the examples that are its own."""
    own = [line for line in EPILOG.splitlines() if line.startswith(f"  catalog-probe report {within}{name}")]
    added: Parser = commands.add_parser(
        name, help=told, description=f"{told[0].upper()}{told[1:]}.", epilog="\n".join(own)
    )
    return added


def _of_history(command: argparse.ArgumentParser) -> None:
    command.add_argument("--target", help="whose history (default: the run's, the only one there is, or live)")
    _add_folder(command)


def _add_folder(command: argparse.ArgumentParser) -> None:
    """Where histories lie."""
    command.add_argument(
        "--history",
        dest="folder",
        type=paths.locate,
        default=paths.history_folder(),
        metavar="DIR",
        help="where histories lie (default: reports/history)",
    )


def _build(asked: argparse.Namespace) -> int:
    folders = [find_run_folder(name) for name in asked.runs]
    if asked.out is not None:
        for each in shards.list_missing_shards(build.build_merged(folders, asked.out).policy):
            print(f"shard {each} is missing: the verdict speaks of the others alone")
    elif len(folders) > 1:
        raise EvidenceError(f"{len(folders)} runs make one report", "say where with --out DIR")
    else:
        build.build(folders[0])
    folder = asked.out or folders[0]
    print(folder / "report.html")
    return 0


def _show(asked: argparse.Namespace) -> int:
    run, results = read_named_run(asked.run)
    if asked.annotate:
        print("\n".join(ci_annotations.render(run, results)))
        return 0
    width = shutil.get_terminal_size((terminal.WIDTH, 24)).columns
    print(terminal.render(run, results, width=width, colour=sys.stdout.isatty(), quiet=asked.quiet))
    return 0


def _diff(asked: argparse.Namespace) -> int:
    differences = comparison.render(read_named_run(asked.before), read_named_run(asked.after))
    print(differences or "nothing differs")
    return Exit.PROBLEMS if differences else Exit.FINE


def _append(asked: argparse.Namespace) -> int:
    run, results = read_named_run(asked.run)
    damaged: list[str] = []
    added = append_to_history(asked.folder, run, results, damaged)
    _tell_of_damage(damaged)
    file = display_path(build_history_path(asked.folder, run.target))
    print(sanitize_row(f"{file}: {run.run} {'added' if added else 'was there already'}"))
    return 0


def _list(asked: argparse.Namespace) -> int:
    for line in _remembered(asked):
        print(sanitize_row(f"{line['today']}  {line['run']}  {_tally(line['outcomes'])}"))
    return 0


def _feed(asked: argparse.Namespace) -> int:
    rows = earlier_runs.parse_history_lines(_remembered(asked))
    print(feed.render(asked.target, rows), end="")
    return 0


def _news(asked: argparse.Namespace) -> int:
    rows = earlier_runs.parse_history_lines(_remembered(asked))
    known = {row.run for row in rows}
    meant = asked.run or rows[-1].run
    run = meant if meant in known else _described(meant).run
    told = news.build_news(asked.target, rows, run)
    print(json.dumps(escape_hidden_in_json(told), ensure_ascii=False, indent=2))
    return 0


def _remembered(asked: argparse.Namespace) -> list[dict[str, Json]]:
    if not asked.target and getattr(asked, "run", None) and find_run_folder_or_none(asked.run) is not None:
        asked.target = _described(asked.run).target
    asked.target = asked.target or find_only_target(asked.folder) or "live"
    damaged: list[str] = []
    lines = load_history(asked.folder, asked.target, damage_notes=damaged)
    _tell_of_damage(damaged)
    if not lines:
        kept = build_history_path(asked.folder, asked.target)
        mend = "`catalog-probe report history append latest` adds the last run"
        raise EvidenceError("no run is remembered", mend, file=kept)
    return lines


def _tell_of_damage(damaged: Sequence[str]) -> None:
    """Name the damaged lines of a history on stderr: a command goes on without them."""
    sys.stderr.writelines(f"{sanitize_row(f'catalog-probe: {line}')}\n" for line in damaged)


def _open(asked: argparse.Namespace) -> int:
    page = find_run_folder(asked.run) / "report.html"
    if not page.is_file():
        raise EvidenceError("is not there", f"make it with `catalog-probe report build {asked.run}`", file=page)
    print(page)
    webbrowser.open(page.resolve().as_uri())
    return 0


def _described(name: str) -> Run:
    return read_named_run(name)[0]


def _tally(letters: str) -> str:
    counts = [(letters.count(OUTCOME_LETTERS[outcome]), name) for outcome, name in OUTCOMES.items()]
    return ", ".join(f"{number} {name}" for number, name in counts if number)
