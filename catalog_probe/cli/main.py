"""The program `catalog-probe`: its overview, and the module of each command."""

from __future__ import annotations

import difflib
import sys
from typing import TYPE_CHECKING

from catalog_probe.catalog.model.errors import MAX_MESSAGE_LENGTH, Exit
from catalog_probe.catalog.text.output_streams import make_output_failsafe
from catalog_probe.catalog.text.readable_text import sanitize_line
from catalog_probe.cli import parser
from catalog_probe.installation import describe_missing_library

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PROGRAM = "catalog-probe"

COMMANDS = ("probe", "nightly", "mock", "check", "identify", "completion")
"""Commands outside groups."""

GROUPS: Mapping[str, Sequence[str]] = {
    "catalog": ("show", "find", "facts", "explain", "export", "update", "accept"),
    "report": ("build", "show", "open", "diff", "history", "news"),
    "target": ("doctor", "coverage", "variables", "cleanup"),
    "new": ("provider", "record"),
}
"""The commands of each group. Listed here, so that help and suggestions import no group."""

OVERVIEW = """\
usage: catalog-probe COMMAND …, or catalog-probe GROUP COMMAND …

Check what four generative-model APIs document, on a mock that comes along or on
the providers themselves.

  probe     probe every record; takes what `pytest probes` takes (default: the mock)
  nightly   a whole night: clean up, probe, write back, report; --init github
  mock      serve the providers, simulated
  check     validate the records and their recipes
  identify  say which record an answer is, and whether to send the request again
  completion  the script by which bash, zsh or fish completes all this
  catalog   show, find, facts, explain, export, update, accept
  report    build, show, open, diff, history, news
  target    doctor, coverage, variables, cleanup
  new       provider, record

examples:
  catalog-probe probe --provider pa -k 429
  catalog-probe report open latest
  curl -i … | catalog-probe identify pc
  catalog-probe catalog find --status 429 quota
  PA_API_KEY=… catalog-probe probe --target live --provider pa

`catalog-probe … --help` says more of each; `--version` says which release this is.
"""


class _Overview(parser.Parser):
    def format_help(self) -> str:
        return OVERVIEW


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command of the first words, and return its exit status."""
    make_output_failsafe()
    name, *remaining = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    if name in ("-h", "--help"):
        return parser.run(_Overview(prog=PROGRAM), ["--help"])
    if name == "--version":
        return _print_version()
    if name not in (*COMMANDS, *GROUPS):
        return _refuse(f"no command is called {name!r}", _suggest(name) or f"see `{PROGRAM} --help`")
    if name in GROUPS and remaining and not remaining[0].startswith("-") and remaining[0] not in GROUPS[name]:
        mend = _suggest(remaining[0], within=name) or f"see `{PROGRAM} {name} --help`"
        return _refuse(f"no command of {name} is called {remaining[0]!r}", mend)
    try:
        return _run(name, remaining)
    except ModuleNotFoundError as error:  # raised by the import of a command
        message = describe_missing_library(error)
        if not message:
            raise
        return _refuse(message)
    except SystemExit as ended:  # argparse exits after the mock's help and usage errors
        return ended.code if isinstance(ended.code, int) else Exit.FINE


def _run(name: str, arguments: Sequence[str]) -> int:
    # Import only what the command needs: `identify` and `catalog find` load no pytest, httpx or grpc.
    match name:
        case "probe":
            from catalog_probe.cli import probe

            return probe.main(arguments)
        case "nightly":
            from catalog_probe.cli import nightly

            return nightly.main(arguments)
        case "mock":
            from catalog_probe.mockserver.__main__ import main as serve

            return serve(list(arguments))
        case "check":
            from catalog_probe.cli import check

            return check.main(arguments)
        case "identify":
            from catalog_probe.cli import identify

            return identify.main(arguments)
        case "completion":
            from catalog_probe.cli import completion

            return completion.main(arguments)
        case "catalog":
            from catalog_probe.cli import catalog_commands

            return catalog_commands.main(arguments)
        case "report":
            from catalog_probe.cli import report_commands

            return report_commands.main(arguments)
        case "target":
            from catalog_probe.cli import target_commands

            return target_commands.main(arguments)
        case _:
            from catalog_probe.cli import new_commands

            return new_commands.main(arguments)


def _print_version() -> int:
    from importlib.metadata import PackageNotFoundError, version

    try:
        sys.stdout.write(f"{PROGRAM} {version(PROGRAM)}\n")
    except PackageNotFoundError:  # a checkout without an install
        return _refuse("it is not installed, so its version is not known", "`python -m pip install -e .` installs it")
    return Exit.FINE


def _suggest(word: str, within: str = "") -> str:
    """Suggest commands that are similar to a word, with their group: `target doctor` for `doctor`."""
    full_names: dict[str, list[str]] = {name: [name] for name in (*COMMANDS, *GROUPS)}
    for group, commands in GROUPS.items():
        for command in commands:
            full_names.setdefault(command, []).append(f"{group} {command}")
    matches = difflib.get_close_matches(word, full_names, n=1, cutoff=0.7)
    if not matches:
        return ""
    names = full_names[matches[0]]
    names = [name for name in names if within and name.startswith(f"{within} ")] or names
    return f"did you mean: {' or '.join(f'{PROGRAM} {name}' for name in names)}"


def _refuse(what: str, mend: str = "") -> int:
    message = f"{what}; {mend}" if mend else what
    sys.stderr.write(f"{PROGRAM}: {sanitize_line(message, MAX_MESSAGE_LENGTH)}\n")
    return Exit.USAGE
