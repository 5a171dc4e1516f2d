"""Five nights, for pictures and for trying what is told of them: `python -m tests.harness.nights FOLDER [IMAGES]`.

Four are runs as any other, over the command line, of a live target that is a mock in truth: a calm one, one on which
providers changed three things, one with a dead key, and one on which a key lost a scope; before each lie calm ones.
The fifth is a thousand records that no catalog has.
"""

from __future__ import annotations

import shutil
import sys
import tomllib
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.evidence.results_file import RESULTS, read_run
from catalog_probe.catalog.files.provider_folders import PACKAGE
from catalog_probe.reports import build
from catalog_probe.reports.page import html
from catalog_probe.reports.views import terminal
from tests.harness.command import pytest_probes
from tests.harness.engines import PREFIXES
from tests.harness.fault_changes import body, instead, removed, status
from tests.harness.fault_proxy import Stand, standing
from tests.harness.faults import Fault, Where
from tests.harness.target_files import toml
from tests.unit.reports import sample

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

TODAY = date(2026, 11, 21)
BEFORE = 3
"""Calm nights before each."""

ROLES = frozenset({"inference", "admin", "compliance", "compliance_audit", "management"})
"""The keys that an ordinary account has; none of them meets a limit."""

WIDTHS = (80, 200)

REFUSAL = '{"type":"error","error":{"type":"permission_error","message":"Your key may not use this resource."}}'


@dataclass(frozen=True)
class Night:
    """What the providers do on it, and the variables that are not as on other nights."""

    faults: tuple[Fault, ...] = ()
    environ: Mapping[str, str] = field(default_factory=dict)


PROBES: Mapping[str, Any] = {"control": False}


def _renamed(raw: bytes) -> bytes:
    return raw.replace(b"invalid_api_key", b"incorrect_api_key_provided")


NIGHTS: Mapping[str, Night] = {
    "calm": Night(),
    "causes": Night(
        (
            Fault(Where(provider="pc", statuses=(401,)), answer=body(_renamed)),
            Fault(Where(**PROBES, provider="pb", path="generateContent", statuses=(400,)), answer=status({400: 422})),
            Fault(Where(**PROBES, provider="pa", statuses=(404,)), answer=removed("request-id")),
        )
    ),
    "blind": Night(environ={"PC_INFERENCE_KEY": "deleted-since"}),
    "lost": Night((Fault(Where(provider="pa", path="/compliance", statuses=(200,)), answer=instead(403, REFUSAL)),)),
}


@dataclass(frozen=True)
class Made:
    """A target file, and the variables that it needs."""

    path: Path
    environ: Mapping[str, str]


def live_target(path: Path, base: str) -> Made:
    """All providers of the mock at one address, as a live target: with keys from the environment."""
    data = tomllib.loads((PACKAGE.targets / "mock.toml").read_text(encoding="utf-8"))
    environ: dict[str, str] = {}
    providers: dict[str, Any] = {}
    for name, table in data["providers"].items():
        plain = {key: value for key, value in table.items() if value != "embedded" and key != "credentials"}
        plain |= {"timeout_s": 10}
        keys = {role: f"{name}_{role}_key".upper() for role in table["credentials"] if role in ROLES}
        environ |= {variable: table["credentials"][role] for role, variable in keys.items()}
        addresses = {key: f"{base}{prefix}" for key, prefix in PREFIXES[name].items()}
        providers[name] = {**plain, **addresses, "credentials": {role: f"env:{each}" for role, each in keys.items()}}
    top = {"name": "staging", "live": True, "allow": ["free"], "reprobe_after_s": 0}
    path.write_text(toml({**top, "providers": providers}), encoding="utf-8")
    return Made(path, environ)


def probe(made: Made, out: Path, day: date, *arguments: str, environ: Mapping[str, str] | None = None) -> Any:
    return pytest_probes(
        out,
        "--target",
        str(made.path),
        "--today",
        day.isoformat(),
        "--depth",
        "quick",
        *arguments,
        environ={**made.environ, **(environ or {})},
    )


@contextmanager
def stage(folder: Path) -> Iterator[tuple[Stand, Made]]:
    """A mock behind which faults can stand, and the target that asks it."""
    with standing() as stand:
        stand.behind()
        yield stand, live_target(folder / "staging.toml", stand.base)


def make(folder: Path, *names: str) -> dict[str, Path]:
    """The folders of the nights of these names, made anew."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    found: dict[str, Path] = {}
    with stage(folder) as (stand, made):
        for back in range(BEFORE, 0, -1):
            probe(made, folder / "before", TODAY - timedelta(days=back))
        for name in names:
            night, out = NIGHTS[name], folder / name
            stand.behind(*night.faults)
            out.mkdir()
            shutil.copytree(folder / "before" / "history", out / "history")
            ran = probe(made, out, TODAY, environ=night.environ)
            (out / "terminal.txt").write_text(ran.said, encoding="utf-8")
            found[name] = ran.folder
    return found


def thousand(folder: Path) -> Path:
    """The folder of a run of a thousand records."""
    written = sample.write(folder, *sample.many(1000))
    build.build(written)
    return written


def pictures(runs: Mapping[str, Path], images: Path) -> None:
    """The first screen of each night, and what a terminal of 80 and of 200 columns says of it."""
    from tests.system.browser.chromium import WIDE, chromium

    images.mkdir(parents=True, exist_ok=True)
    with chromium() as browser:
        for name, folder in runs.items():
            run, results = read_run(folder / RESULTS)
            run = replace(run, invocation=replace(run.invocation, target=run.target, out=""))  # no path of this machine
            page = folder / "shown.html"
            page.write_text(html.render(run, results), encoding="utf-8")
            tab = browser.new_page(viewport=WIDE)
            tab.goto(page.as_uri())
            tab.screenshot(path=images / f"night-{name}.png")
            tab.close()
            for width in WIDTHS:
                told = terminal.summary(run, results, width=width)
                (images / f"night-{name}-{width}.txt").write_text(f"{told}\n", encoding="utf-8")


def main() -> None:
    """Make the nights in a folder, and their pictures in another where one is named."""
    folder, *images = map(Path, sys.argv[1:])
    runs = {**make(folder, *NIGHTS), "thousand": thousand(folder / "thousand")}
    for title, lies in runs.items():
        print(f"{title}: {lies}")
    if images:
        pictures(runs, images[0])


if __name__ == "__main__":
    main()
