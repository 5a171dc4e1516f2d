"""Declares the options of probes, and refuses them where they make no sense."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from catalog_probe.catalog.files import provider_folders
from catalog_probe.catalog.files.manifest import providers
from catalog_probe.catalog.model import KINDS
from catalog_probe.catalog.model.errors import UserError
from catalog_probe.probes.targets.target import Cost
from catalog_probe.reports.views.ci_annotations import FORMATS

if TYPE_CHECKING:
    import pytest

# The folder of the probes.
PROBES = provider_folders.shipped_folder("probes")


class UsageError(UserError):
    """The command line cannot be used: one line saying why, and what to do."""


@dataclass(frozen=True, slots=True)
class Option:
    """One option, for the parsers of pytest and of argparse."""

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
    def settings(self) -> dict[str, Any]:
        """The arguments of `addoption` and `add_argument` besides the flag."""
        default: list[str] | bool | None = []
        if self.action in ("store", "store_true"):
            default = False if self.action == "store_true" else None
        optional = {"metavar": self.metavar, "choices": self.choices, "nargs": self.nargs}
        settings = {name: value for name, value in optional.items() if value is not None}
        return {"help": self.help, "action": self.action, "default": default, **settings}


def list_options() -> tuple[Option, ...]:
    """Return the options of `pytest probes` and `catalog-probe probe`."""
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
            "send nothing, and judge recorded exchanges: a HAR, JSON lines of exchanges, the folder of a run, or a "
            "folder of such; with --target, only exchanges with that target",
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
            "probe the records of this folder; also a provider folder, with recipes and targets beside its records",
            metavar="DIR",
        ),
        Option("--out", f"leave runs in this folder; default: {provider_folders.RUNS}", metavar="DIR"),
        Option("--today", "the observed date to write, as 2026-01-31", metavar="DATE"),
    )


def add_options(parser: pytest.Parser) -> None:
    """Declare the options to pytest."""
    group = parser.getgroup("catalog probe", "probing providers against the catalog (only with `pytest probes`)")
    for option in list_options():
        group.addoption(option.flag, **option.settings)


def refuse_without_probes(config: pytest.Config) -> None:
    """Refuse our options if no probe is selected: pytest would ignore them.

    Raises:
        UsageError: an option was given.
    """
    # `--traffic` takes several values, and so also the folder of probes if that comes after it.
    for recording in config.getoption("traffic"):
        if Path(recording).resolve() == PROBES:
            raise UsageError(f"--traffic takes {recording} for a recording", "write `pytest probes --traffic FILE…`")
    flags = [option.flag for option in list_options() if config.getoption(option.name)]
    if flags:
        raise UsageError(f"{flags[0]} is an option of probes only", f"write `pytest probes {' '.join(flags)} …`")


def refuse_empty_values(config: pytest.Config) -> None:
    """Refuse an empty value.

    A script's unset variable must not mean "all" or "the mock".
    """
    for option in list_options():
        value = config.getoption(option.name)
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, str) and not text.strip(" ,"):
                raise UsageError(f"{option.flag}: its value is empty", "give one, or leave the option out")
