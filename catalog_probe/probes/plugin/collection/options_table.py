"""The options that only probes know: declared, and refused where no probe is asked for, or without a value."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from catalog_probe.catalog.files import paths
from catalog_probe.catalog.files.manifest import providers
from catalog_probe.catalog.model import KINDS
from catalog_probe.catalog.model.errors import UserError
from catalog_probe.probes.targets.target import Cost
from catalog_probe.reports.views.ci_annotations import FORMATS

if TYPE_CHECKING:
    import pytest

PROBES = paths.shipped_folder("probes")
"""The folder of the probes."""


class UsageError(UserError):
    """Something in the command line cannot be used: one line saying what, and what to do."""


@dataclass(frozen=True, slots=True)
class Option:
    """One option, for pytest's parser as for argparse's."""

    flag: str
    help: str
    action: Literal["store", "store_true", "append", "extend"] = "store"
    metavar: str | None = None
    choices: tuple[str, ...] | None = None
    nargs: Literal["+"] | None = None

    @property
    def name(self) -> str:
        """The name under which pytest keeps its value."""
        return self.flag.removeprefix("--").replace("-", "_")

    @property
    def default(self) -> list[str] | bool | None:
        """The value where it is not given."""
        if self.action == "store_true":
            return False
        return None if self.action == "store" else []

    @property
    def settings(self) -> dict[str, Any]:
        """What `addoption` and `add_argument` take besides the flag."""
        shape = {"metavar": self.metavar, "choices": self.choices, "nargs": self.nargs}
        given = {name: value for name, value in shape.items() if value is not None}
        return {"help": self.help, "action": self.action, "default": self.default, **given}


def options() -> tuple[Option, ...]:
    """The options of `pytest probes` and `catalog-probe probe` (DESIGN.md, contract 1)."""
    return (
        Option(
            "--target",
            "where to probe: a shipped target (mock, live) or the path of a TOML file; default: the embedded mock",
            metavar="NAME_OR_TOML",
        ),
        Option(
            "--provider",
            f"only this provider ({', '.join(providers())}); may be given again, or several with commas",
            action="append",
            metavar="NAME",
        ),
        Option(
            "--kind",
            f"only this kind of record ({', '.join(KINDS)}); may be given again",
            action="append",
            metavar="KIND",
        ),
        Option(
            "--allow",
            f"also send probes of these cost classes ({', '.join(Cost)}); default: what the target allows",
            action="append",
            metavar="COSTS",
        ),
        Option("--update", "write what was seen back into the records (live targets)", action="store_true"),
        Option(
            "--shard",
            "only this share of the lanes, as 2/3; with the same other options the shards make up the whole",
            metavar="I/N",
        ),
        Option(
            "--expect-all",
            "any selected record without a verdict makes the run blind (exit 10), unless its cost is not allowed",
            action="store_true",
        ),
        Option(
            "--depth",
            "on which of its endpoints an error is probed: quick (the first), rotate (also tonight's share of the "
            "others: all of them in four weeks) or full (all); default: full on a mock, rotate live",
            metavar="DEPTH",
        ),
        Option(
            "--revision",
            "ask for this revision in place of the usual one, and only of the providers that have it: VALUE or "
            "PROVIDER:VALUE; may be given again. Nothing of such a run goes into the records",
            action="append",
            metavar="REVISION",
        ),
        Option(
            "--cause",
            "only the records that a cause made drift, by its id in a report (pa-3f2a9c01); may be given again",
            action="append",
            metavar="ID",
        ),
        Option(
            "--traffic",
            "send nothing, and judge exchanges that were recorded: a HAR, JSON lines of exchanges, the folder of a "
            "run, or a folder of such; with --target, only what was exchanged with that target",
            action="extend",
            nargs="+",
            metavar="FILE",
        ),
        Option(
            "--annotate",
            "also print what fails the run as annotations of this CI system, one for each cause",
            choices=FORMATS,
        ),
        Option("--plan", "print what would be sent, with upper bounds, and send nothing", action="store_true"),
        Option(
            "--catalog",
            "probe the records of this folder, or of a home: its providers, with recipes and targets beside them",
            metavar="DIR",
        ),
        Option("--out", f"leave runs in this folder; default: {paths.RUNS}", metavar="DIR"),
        Option("--today", "the observed date to write, as 2026-01-31", metavar="DATE"),
    )


def add(parser: pytest.Parser) -> None:
    """Declare the options to pytest."""
    group = parser.getgroup("catalog probe", "probing providers against the catalog (only with `pytest probes`)")
    for option in options():
        group.addoption(option.flag, **option.settings)


def refuse_elsewhere(config: pytest.Config) -> None:
    """Refuse our options where no probe is asked for: the project's own tests would run, and say nothing of them.

    Raises:
        UsageError: one was given.
    """
    given = [option.flag for option in options() if config.getoption(option.name)]
    swallowed = [each for each in config.getoption("traffic") if Path(each).resolve() == PROBES]
    if swallowed:
        raise UsageError(f"--traffic takes {swallowed[0]} for a recording", "write `pytest probes --traffic FILE…`")
    if given:
        raise UsageError(f"{given[0]}: only probes know it", f"write `pytest probes {' '.join(given)} …`")


def refuse_empty(config: pytest.Config) -> None:
    """Refuse an option without a value, as a script's unset variable makes it: it never means all, nor the mock."""
    for option in options():
        given = config.getoption(option.name)
        for value in given if isinstance(given, list) else [given]:
            if isinstance(value, str) and not value.strip(" ,"):
                raise UsageError(f"{option.flag}: its value is empty", "give one, or leave the option out")
