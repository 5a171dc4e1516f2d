"""`catalog-probe completion`: the script by which a shell completes commands and options."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from catalog_probe.catalog.model.errors import Exit
from catalog_probe.cli import catalog_commands, check, identify, new_commands, nightly, parser, probe
from catalog_probe.cli import report_commands as report
from catalog_probe.cli import target_commands as target
from catalog_probe.cli.parser import Parser
from catalog_probe.mockserver import __main__ as mock

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

SHELLS = ("bash", "zsh", "fish")

_DESCRIPTION = """\
Print the script by which your shell completes commands and options.

  bash  catalog-probe completion bash > ~/.local/share/bash-completion/completions/catalog-probe
  zsh   catalog-probe completion zsh > "${fpath[1]}/_catalog-probe"
  fish  catalog-probe completion fish > ~/.config/fish/completions/catalog-probe.fish
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the script for a shell; return the exit status."""
    return parser.run(build_parser(), arguments)


def build_parser() -> Parser:
    """Build the parser of the command."""
    command = Parser(prog="catalog-probe completion", description=_DESCRIPTION)
    command.add_argument("shell", choices=SHELLS, help="your shell")
    command.set_defaults(run_command=_print_script)
    return command


def _print_script(args: argparse.Namespace) -> int:
    import shtab  # only this command needs it

    sys.stdout.write(shtab.complete(build_whole_parser(), shell=args.shell))
    return Exit.FINE


def build_whole_parser() -> Parser:
    """Build one parser with all commands and groups; a run of the program builds only that of its own command."""
    whole = Parser(prog="catalog-probe")
    commands = whole.add_subparsers(metavar="COMMAND")
    parts = {
        "probe": probe.build_parser(),
        "nightly": nightly.build_parser(),
        "mock": mock.build_parser("catalog-probe mock"),
        "check": check.build_parser(),
        "identify": identify.build_parser(),
        "completion": build_parser(),
        "catalog": catalog_commands.build_parser(),
        "report": report.build_parser(),
        "target": target.build_parser(),
        "new": new_commands.build_parser(),
    }
    for name, part in parts.items():
        commands.add_parser(name, help=name, parents=[part], add_help=False)  # without help shtab takes it for hidden
    return whole
