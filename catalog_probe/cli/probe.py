"""`catalog-probe probe`: run pytest on the probes of the installed package."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from catalog_probe.catalog.files import provider_folders
from catalog_probe.catalog.model.errors import MAX_MESSAGE_LENGTH
from catalog_probe.catalog.text.readable_text import sanitize_line
from catalog_probe.cli import parser
from catalog_probe.cli.parser import Parser
from catalog_probe.probes.plugin.options import PROBES, list_options

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pytest

_DESCRIPTION = """\
Probe every record, or those that are named as in a checkout: probes/test_errors.py::…

  catalog-probe probe                              all, on the embedded mock; needs no key
  catalog-probe probe --provider pa -k 429
  catalog-probe probe --target live --plan         what would be sent to real providers
"""

# pytest takes the settings of the project that it is in, for instance of a checkout around `.venv`. With its
# `filterwarnings = error`, or its `addopts`, no probe would run. Therefore no file with settings is read.
_NO_SETTINGS = ("-c", os.devnull)

# `nightly` loads httpx before pytest: pytest then warns that it can no longer rewrite the assertions of anyio's plugin.
_NO_WARNING = ("-W", "ignore:Module already imported so cannot be rewritten:pytest.PytestAssertRewriteWarning")

_PYTEST = "pytest's own options work too: -k EXPRESSION, -n WORKERS, -x, --lf, -q, …"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run pytest on the probes of the package, and return its exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if {"-h", "--help"} & set(words):
        return parser.run(build_parser(), ["--help"])
    import pytest

    located = [_locate(word) for word in words]
    default = [] if located != words else [str(PROBES)]  # no probe was named
    cache = f"cache_dir={provider_folders.base_folder() / '.cache' / 'pytest'}"
    options = ["-p", "catalog_probe.probes.plugin.plugin", "--rootdir", str(PROBES.parent), "-o", cache]
    return int(pytest.main([*options, *_NO_SETTINGS, *_NO_WARNING, *default, *located], plugins=[OnlyProbes()]))


def build_parser() -> Parser:
    """Build the parser that prints the help; pytest parses the options themselves."""
    command = Parser(
        prog="catalog-probe probe",
        usage="catalog-probe probe [PROBE …] [OPTION …]",
        description=_DESCRIPTION,
        epilog=_PYTEST,
        add_help=False,
    )
    command.add_argument("--help", "-h", action="help", help="print this; `pytest --help` prints pytest's own options")
    for option in list_options():
        command.add_argument(option.flag, **option.settings)
    return command


class OnlyProbes:
    """A pytest plugin that refuses paths outside the probes."""

    def pytest_configure(self, config: pytest.Config) -> None:
        import pytest

        for argument in () if hasattr(config, "workerinput") else config.args:
            path = Path(config.invocation_params.dir, argument.partition("::")[0]).resolve()
            if path.exists() and path != PROBES and PROBES not in path.parents:
                mend = "a catalog of your own is named by `--catalog DIR`, recordings by `--traffic FILE`"
                raise pytest.UsageError(f"{sanitize_line(argument, MAX_MESSAGE_LENGTH)}: no probes are there; {mend}")


def _locate(argument: str) -> str:
    """Turn `probes/test_errors.py::…` into a path in the package; return anything else unchanged."""
    first_folder = argument.partition("::")[0].partition("/")[0]
    return str(PROBES.parent / argument) if first_folder == PROBES.name and not Path(argument).exists() else argument
