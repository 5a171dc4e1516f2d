"""Make the pictures of the docs from real runs: `python -m tests.harness.pictures [FOLDER]` (default: docs/images).

Each run is a night of a live target that is a mock in truth, probed over the command line like any other: one on which
the providers changed three things, and one on which a key was deleted. A calm night comes before both.
"""

from __future__ import annotations

import html
import shutil
import subprocess
import sys
import tomllib
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.evidence.results_file import RESULTS_FILE, ResultsWriter, read_run
from catalog_probe.catalog.files.provider_folders import SHIPPED
from catalog_probe.reports.build import build
from tests.harness.command import CHECKOUT, CommandResult, child_environ, pytest_probes
from tests.harness.engines import PATHS
from tests.harness.fault_changes import edit_body, remove_headers, set_status
from tests.harness.fault_proxy import FaultServer, serving_faults
from tests.harness.faults import Fault, FaultScope
from tests.harness.target_files import toml
from tests.system.browser.chromium import WIDE, chromium, wait_until_arrived

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from playwright.sync_api import Browser

IMAGES = CHECKOUT / "docs" / "images"

FOLDER = CHECKOUT / ".cache" / "pictures"
"""Where the runs are made, and stay until the next time."""

TODAY = date(2026, 11, 21)

RATE = 50.0
"""Requests a second and key: the mock need not be spared."""

DEADLINE_S = 1800
"""A night takes a minute on a machine of its own, and many on a busy one."""

COLUMNS = 100

FIRST_LINES, LAST_LINES = 20, 17
"""What a terminal's picture keeps of a long output: the causes, and the summary at the end."""

ROLES = frozenset({"inference", "admin", "compliance", "compliance_audit", "management"})
"""The keys that an ordinary account has; none of them meets a limit."""

RECORD = "pb/errors/general/temperature_out_of_range"
"""Drifts on the night of the changes; the picture of a record shows it."""

TERMINAL = """<!doctype html><meta charset="utf-8"><style>
body {{ margin: 0; background: #16181d; }}
pre {{ display: inline-block; margin: 0; padding: 16px 20px; color: #d7dae0; font: 13px/1.4 monospace; }}
b {{ color: #8fd3a8; }}
</style><pre><b>$ {command}</b>
{output}</pre>"""


@dataclass(frozen=True)
class NightFaults:
    """What the providers do on it, and the variables that differ from those of other nights."""

    faults: tuple[Fault, ...] = ()
    environ: Mapping[str, str] = field(default_factory=dict)


def _rename_code(raw: bytes) -> bytes:
    return raw.replace(b"invalid_api_key", b"incorrect_api_key_provided")


PROBES: Mapping[str, Any] = {"control": False}

NIGHTS: Mapping[str, NightFaults] = {
    "changed": NightFaults(
        (
            Fault(FaultScope(provider="pc", statuses=(401,)), answer=edit_body(_rename_code)),
            Fault(
                FaultScope(**PROBES, provider="pb", path="generateContent", statuses=(400,)),
                answer=set_status({400: 422}),
            ),
            Fault(FaultScope(**PROBES, provider="pa", statuses=(404,)), answer=remove_headers("request-id")),
        )
    ),
    "blind": NightFaults(environ={"PC_INFERENCE_KEY": "deleted-since"}),
}


@dataclass(frozen=True)
class PictureTarget:
    """A target file, and the variables that it needs."""

    path: Path
    environ: Mapping[str, str]


def write_target(path: Path, base: str) -> PictureTarget:
    """Write a live target of all providers of the mock at one address, with keys from the environment."""
    data = tomllib.loads((SHIPPED.targets / "mock.toml").read_text(encoding="utf-8"))
    environ: dict[str, str] = {}
    providers: dict[str, Any] = {}
    for name, table in data["providers"].items():
        plain = {key: value for key, value in table.items() if value != "embedded" and key != "credentials"}
        keys = {role: f"{name}_{role}_key".upper() for role in table["credentials"] if role in ROLES}
        environ |= {variable: table["credentials"][role] for role, variable in keys.items()}
        addresses = {key: f"{base}{prefix}" for key, prefix in PATHS[name].items()}
        credentials = {role: f"env:{variable}" for role, variable in keys.items()}
        providers[name] = {**plain, **addresses, "timeout_s": 30, "rate": RATE, "credentials": credentials}
    top = {"name": "staging", "live": True, "allow": ["free"], "reprobe_after_s": 0}
    path.write_text(toml({**top, "providers": providers}), encoding="utf-8")
    return PictureTarget(path, environ)


def probe(target: PictureTarget, out: Path, day: date, environ: Mapping[str, str]) -> CommandResult:
    """Probe all records of one night."""
    options = ("--target", str(target.path), "--today", day.isoformat(), "--depth", "quick")
    return pytest_probes(out, *options, environ={**target.environ, **environ}, deadline_s=DEADLINE_S)


@contextmanager
def faulty_mock(folder: Path) -> Iterator[tuple[FaultServer, PictureTarget]]:
    """A mock behind which faults can be put, and the target that asks it."""
    with serving_faults() as fault_server:
        fault_server.target_behind()
        yield fault_server, write_target(folder / "staging.toml", fault_server.base)


def make_runs() -> dict[str, Path]:
    """Probe all nights anew; the folder of each run by the night's name."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    runs: dict[str, Path] = {}
    with faulty_mock(FOLDER) as (fault_server, target):
        probe(target, FOLDER / "before", TODAY - timedelta(days=1), {})
        for name, night in NIGHTS.items():
            fault_server.target_behind(*night.faults)
            out = FOLDER / name
            out.mkdir()
            shutil.copytree(FOLDER / "before" / "history", out / "history")
            runs[name] = probe(target, out, TODAY, night.environ).folder
            hide_folder(runs[name])
    return runs


def hide_folder(run: Path) -> None:
    """Build a run's views anew, with commands that name no folder of this machine."""
    header, results = read_run(run / RESULTS_FILE)
    header = replace(header, invocation=replace(header.invocation, target=header.target, out=""))
    (run / RESULTS_FILE).unlink()
    with ResultsWriter(run / RESULTS_FILE, header) as writer:
        for result in results:
            writer.append(result.to_json())
    build(run)


def draw_report(browser: Browser, run: Path, image: Path, *, record: str = "") -> None:
    """Draw the first screen of a report, or its screen with a record open."""
    tab = browser.new_page(viewport=WIDE)
    tab.goto((run / "report.html").as_uri() + (f"#{record}" if record else ""))
    if record:
        wait_until_arrived(tab)
    tab.screenshot(path=image)
    tab.close()


def shorten(text: str) -> str:
    """The first and last lines of a text, and how many lie between them."""
    lines = text.splitlines()
    left_out = len(lines) - FIRST_LINES - LAST_LINES
    if left_out <= 0:
        return text
    return "\n".join([*lines[:FIRST_LINES], f"[… {left_out} lines …]", *lines[-LAST_LINES:]])


def draw_terminal(browser: Browser, run: Path, image: Path) -> None:
    """Draw what `catalog-probe report show` prints of a run."""
    shown = subprocess.run(
        [sys.executable, "-m", "catalog_probe", "report", "show", str(run)],
        env=child_environ({"COLUMNS": str(COLUMNS), "NO_COLOR": "1"}),
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        check=True,
    )
    text = html.escape(shorten(shown.stdout))
    page = TERMINAL.format(command="catalog-probe report show latest", output=text)
    tab = browser.new_page()
    tab.set_content(page)
    tab.locator("pre").screenshot(path=image)
    tab.close()


def main() -> None:
    """Make the runs, and draw them."""
    draw(make_runs(), Path(sys.argv[1]) if sys.argv[1:] else IMAGES)


def draw(runs: Mapping[str, Path], images: Path) -> None:
    """Draw the four pictures of the docs."""
    images.mkdir(parents=True, exist_ok=True)
    with chromium() as browser:
        draw_report(browser, runs["changed"], images / "report.png")
        draw_report(browser, runs["changed"], images / "record.png", record=RECORD)
        draw_terminal(browser, runs["changed"], images / "terminal.png")
        draw_terminal(browser, runs["blind"], images / "terminal-blind.png")


if __name__ == "__main__":
    main()
