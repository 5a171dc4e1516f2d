"""`catalog-probe`: every command of ours under one name, for who installed the package and has no checkout."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from catalog import command_line
from catalog.command_line import Parser
from catalog.model import places, visible
from catalog.model.errors import LONGEST, did_you_mean
from catalog.model.exits import Exit
from catalog.model.streams import speak_plainly

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pytest

PROBES = Path(__file__).parent.parent

OF_MODULES = {
    "catalog": (
        *("show", "find", "identify", "explain", "facts", "export"),
        *("can-i-rely", "update", "accept"),
    ),
    "probes": ("doctor", "coverage", "variables", "cleanup", "new"),
}
"""The commands that a module has under the same name: `catalog-probe show` is `python -m catalog show`."""

CHECK = "check"
CHECKED_BY = ("catalog", "probes")
"""Both have a command of this name; here it is the one and then the other, for a record needs to pass both."""

WHOLE = {"mock": "catalog_probe.mockserver", "report": "reports"}
"""The names that stand for all commands of a module: `catalog-probe report show` is `python -m reports show`."""

PROBE = "probe"

USAGE = """\
usage: catalog-probe COMMAND …

Probe what four generative-model APIs document, on the mock that comes along or on the providers themselves.

  probe      probe every record; takes what `pytest probes` takes. Without more: on the mock, needs no key
  mock       serve the providers, simulated
  report     build, show, compare and open what runs left
  identify   say which record an answer is, and whether it may be sent again
  find show explain facts export            read the catalog
  can-i-rely does what your client depends on hold
  check      is the catalog sound, and do records and recipes fit? both `check`s, of catalog and of probes
  update accept                             write back what was seen, and keep what is known to diverge
  doctor coverage variables cleanup         is a target ready, what can be looked at, what was left behind
  new        begin a provider or a record of your own

examples:
  catalog-probe probe --provider pa -k 429
  PA_API_KEY=… catalog-probe probe --target live --provider pa
  catalog-probe report open latest
  curl -i … | catalog-probe identify pc
  catalog-probe can-i-rely rely.toml

`catalog-probe COMMAND --help` says more of each.
"""


class _Overview(Parser):
    def format_help(self) -> str:
        return USAGE


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command that the first word names; its exit status."""
    speak_plainly()
    command, *rest = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    if command in ("-h", "--help"):
        return command_line.run(_Overview(prog="catalog-probe"), ["--help"])
    if command == PROBE:
        return _probe(rest)
    if command == CHECK:
        return _check(rest)
    if command in WHOLE:
        return _run(WHOLE[command], rest)
    for module, commands in OF_MODULES.items():
        if command in commands:
            return _run(module, [command, *rest])
    known = [PROBE, CHECK, *WHOLE, *(each for commands in OF_MODULES.values() for each in commands)]
    mend = did_you_mean(command, known) or "see `catalog-probe --help`"
    sys.stderr.write(f"catalog-probe: no command is called {visible.line(repr(command), LONGEST)}; {mend}\n")
    return Exit.USAGE


def _check(arguments: Sequence[str]) -> int:
    """Whether the catalog is sound; where it is, whether its recipes fit. Options are those of the former."""
    catalog, probes = CHECKED_BY
    asked = Parser(add_help=False)
    asked.add_argument("--catalog")
    asked.add_argument("--help", "-h", action="store_true")
    chosen, _ = asked.parse_known_args(arguments)
    status = _run(catalog, [CHECK, *arguments])
    if chosen.help:
        sys.stdout.write(f"\nThen, where all is fine: python -m {probes} check [--catalog DIR]\n")
    if status != Exit.FINE or chosen.help:
        return status
    return _run(probes, [CHECK, *(() if chosen.catalog is None else ("--catalog", chosen.catalog))])


def _run(module: str, arguments: Sequence[str]) -> int:
    # by its name: whoever probes must not know the mock, and no command needs the imports of another
    try:
        return int(import_module(f"{module}.__main__").main(list(arguments)))
    except SystemExit as ended:  # argparse ends the process for help and for arguments that cannot be used
        return int(ended.code or 0)


def _probe(arguments: Sequence[str]) -> int:
    """pytest on the probes of the package, as a checkout has it: whole, or those that are named as there."""
    import pytest  # for this command alone

    named = [_of_package(each) for each in arguments]
    everything = [] if any(each != was for each, was in zip(named, arguments, strict=True)) else [str(PROBES)]
    cache = f"cache_dir={places.home() / '.cache' / 'pytest'}"
    ours = ["-p", "probes.suite.plugin", "--rootdir", str(PROBES.parent), "-o", cache]
    return int(pytest.main([*ours, *everything, *named], plugins=[OnlyProbes()]))


class OnlyProbes:
    """The plugin object that refuses what else pytest would run: whoever writes `probe` means probes and no tests."""

    def pytest_configure(self, config: pytest.Config) -> None:
        import pytest  # loaded by then

        for argument in () if hasattr(config, "workerinput") else config.args:
            path = Path(config.invocation_params.dir, argument.partition("::")[0]).resolve()
            if path.exists() and path != PROBES and PROBES not in path.parents:
                mend = "a catalog of your own is named by `--catalog DIR`, recordings by `--traffic FILE`"
                raise pytest.UsageError(f"{visible.line(argument, LONGEST)}: no probes are there; {mend}")


def _of_package(argument: str) -> str:
    """`probes/test_errors.py::…` wherever the package lies; anything else as it is."""
    first = argument.partition("::")[0].partition("/")[0]
    return str(PROBES.parent / argument) if first == PROBES.name and not Path(argument).exists() else argument
