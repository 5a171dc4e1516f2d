"""The options that only probes know: declared, and refused where no probe is asked for, or without a value."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from catalog.model import KINDS, places
from catalog.model.errors import Mendable
from catalog.reading.manifest import providers
from probes.target.target import Cost
from reports.ci_annotations import FORMATS

if TYPE_CHECKING:
    import pytest

HERE = Path(__file__).parent.parent


class UsageError(Mendable):
    """Something in the command line cannot be used: one line saying what, and what to do."""


def add(parser: pytest.Parser) -> None:
    """Declare the options (DESIGN.md, contract 1)."""
    group = parser.getgroup("catalog probe", "probing providers against the catalog (only with `pytest probes`)")
    group.addoption(
        "--target",
        default=None,
        metavar="NAME_OR_TOML",
        help="where to probe: a shipped target (mock, live) or the path of a TOML file; default: the embedded mock",
    )
    group.addoption(
        "--provider",
        action="append",
        default=[],
        metavar="NAME",
        help=f"only this provider ({', '.join(providers())}); may be given again, or several with commas",
    )
    group.addoption(
        "--kind",
        action="append",
        default=[],
        metavar="KIND",
        help=f"only this kind of record ({', '.join(KINDS)}); may be given again",
    )
    group.addoption(
        "--allow",
        action="append",
        default=[],
        metavar="COSTS",
        help=f"also send probes of these cost classes ({', '.join(Cost)}); default: what the target allows",
    )
    group.addoption("--update", action="store_true", help="write what was seen back into the records (live targets)")
    group.addoption(
        "--shard",
        default=None,
        metavar="I/N",
        help="only this share of the lanes, as 2/3; with the same other options the shards make up the whole",
    )
    group.addoption(
        "--expect-all",
        action="store_true",
        help="any selected record without a verdict makes the run blind (exit 10), unless its cost is not allowed",
    )
    group.addoption(
        "--depth",
        default=None,
        metavar="DEPTH",
        help="on which of its endpoints an error is looked at: quick (the first), rotate (also tonight's share of the "
        "others: all of them in four weeks) or full (all); default: full on a mock, rotate live",
    )
    group.addoption(
        "--revision",
        action="append",
        default=[],
        metavar="REVISION",
        help="ask for this revision in place of the usual one, and only of the providers that have it: VALUE "
        "or PROVIDER:VALUE; may be given again. Nothing of such a run goes into the records",
    )
    group.addoption(
        "--cause",
        action="append",
        default=[],
        metavar="ID",
        help="only the records that a cause made drift, by its id in a report (pa-3f2a9c01); may be given again",
    )
    group.addoption(
        "--traffic",
        action="extend",
        nargs="+",
        default=[],
        metavar="FILE",
        help="send nothing, and judge exchanges that were recorded: a HAR, JSON lines of exchanges, the folder of a "
        "run, or a folder of such; with --target, only what was exchanged with that target",
    )
    group.addoption(
        "--annotate",
        default=None,
        choices=FORMATS,
        help="also print what fails the run as annotations of this CI system, one for each cause",
    )
    group.addoption("--plan", action="store_true", help="print what would be sent, with upper bounds, and send nothing")
    group.addoption(
        "--catalog",
        default=None,
        metavar="DIR",
        help="probe the records of this folder, or of a home: its providers, with recipes and targets beside them",
    )
    group.addoption("--out", default=None, metavar="DIR", help=f"leave runs in this folder; default: {places.RUNS}")
    group.addoption("--today", default=None, metavar="DATE", help="the observed date to write, as 2026-01-31")


OF_PROBES = (
    *("target", "provider", "kind", "allow", "update", "shard", "expect_all", "depth", "cause"),
    "revision",
    *("traffic", "annotate", "plan", "catalog", "out", "today"),
)
"""The options that `add` declares, by the names under which pytest keeps them."""


def refuse_elsewhere(config: pytest.Config) -> None:
    """Refuse our options where no probe is asked for: the project's own tests would run, and say nothing of them.

    Raises:
        UsageError: one was given.
    """
    given = [f"--{name.replace('_', '-')}" for name in OF_PROBES if config.getoption(name)]
    swallowed = [each for each in config.getoption("traffic") if Path(each).resolve() == HERE]
    if swallowed:
        raise UsageError(f"--traffic takes {swallowed[0]} for a recording", "write `pytest probes --traffic FILE…`")
    if given:
        raise UsageError(f"{given[0]}: only probes know it", f"write `pytest probes {' '.join(given)} …`")


def refuse_empty(config: pytest.Config) -> None:
    """Refuse an option without a value, as a script's unset variable makes it: it never means all, nor the mock."""
    for name in OF_PROBES:
        given = config.getoption(name)
        for value in given if isinstance(given, list) else [given]:
            if isinstance(value, str) and not value.strip(" ,"):
                raise UsageError(f"--{name.replace('_', '-')}: its value is empty", "give one, or leave the option out")
