"""Every command in the README and in docs/ works as a reader would type it."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)

NOT_HERE = ("nox", "python -m pip install nox", "git", "open ", "pre-commit", "export ", "mv ", "cp ", "cd ")
"""Commands that CI runs (nox), or that are a person's own business."""

OF_LIVE_TARGETS = {
    name
    for target in (ROOT / "probes" / "targets").glob("*.toml")
    for name in re.findall(r"env:(\w+)", target.read_text(encoding="utf-8"))
}
"""Settings and keys of real providers: no test may use those of the person who runs it."""

LONG_LIVED = "python -m mockserver"

MAY_END_WITH = {"doctor": {0, 1}, "cleanup": {0, 1}, "--target live": {0, 1, 5, 10}}
"""Without keys a live target has something missing, and a run on it is blind; both say so and are no mistake."""


def commands() -> Iterator[tuple[str, str]]:
    for page in PAGES:
        for block in FENCE.findall(page.read_text(encoding="utf-8")):
            for line in block.splitlines():
                command = line.split("  #")[0].strip()
                if command and not command.startswith("#"):
                    yield page.name, command


COMMANDS = list(dict.fromkeys(command for _, command in commands()))
RUN_HERE = [each for each in COMMANDS if not each.startswith(NOT_HERE)]


@pytest.fixture(scope="module")
def a_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a `latest` run, for the commands that read one."""
    out = tmp_path_factory.mktemp("out")
    done = run(["pytest", "probes", "--provider", "pd", "-q", "--out", str(out)])
    assert done.returncode == 0, done.stdout + done.stderr
    return out


@pytest.mark.parametrize("command", [each for each in RUN_HERE if not each.startswith(LONG_LIVED)])
def test_the_command_works(command: str, a_run: Path) -> None:
    words = shlex.split(command.replace("reports/out", str(a_run)))
    if words[0] == "pytest":
        words += ["--out", str(a_run)] if "--plan" not in words else []
    if words[:3] == ["python", "-m", "reports"] and words[3] != "history":
        words = [str(a_run / word) if word == "latest" else word for word in words]
    done = run(words)
    allowed = next((codes for part, codes in MAY_END_WITH.items() if part in command), {0})
    assert done.returncode in allowed, f"{command}\n{done.stdout}\n{done.stderr}"
    assert "Traceback" not in done.stdout + done.stderr


def test_nox_sessions_that_are_named_exist() -> None:
    named = {
        name for command in COMMANDS for name in re.findall(r"nox -s ((?:\w+ ?)+)", command) for name in name.split()
    }
    sessions = set(re.findall(r"^def (\w+)\(session: nox.Session\)", (ROOT / "noxfile.py").read_text(), re.MULTILINE))
    assert named
    assert named <= sessions


def test_links_between_pages_lead_somewhere() -> None:
    broken = [
        f"{page.name}: {link}"
        for page in PAGES
        for link in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8"))
        if not (page.parent / link).exists()
    ]
    assert broken == []


def run(words: list[str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *words[1:]] if words[0] == "python" else [sys.executable, "-m", *words]
    environ = {
        key: value for key, value in os.environ.items() if key not in OF_LIVE_TARGETS and not key.startswith("PYTEST_")
    }
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, env=environ, check=False)
