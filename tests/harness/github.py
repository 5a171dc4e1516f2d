"""A fake of GitHub's client `gh`, with runs of the nightly workflow and their artifacts."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.harness.command import CHECKOUT

if TYPE_CHECKING:
    from pathlib import Path

OWN = "team/catalog"
GH = """\
import json, pathlib, shutil, sys, urllib.parse
state = pathlib.Path(__file__).parent / "github"
if sys.argv[1] == "api":
    answers = json.loads((state / "api.json").read_text())
    path, _, query = sys.argv[2].partition("?")
    query = dict(urllib.parse.parse_qsl(query))
    if path not in answers:
        sys.exit(f"gh: HTTP 403 {path}")
    answer = answers[path]
    if "workflow_runs" in answer:
        fields = {"head_branch": query.get("branch"), "event": query.get("event")}
        runs = [
            run
            for run in answer["workflow_runs"]
            if run["is_listed_always"] or all(value in (None, run[field]) for field, value in fields.items())
        ]
        size = min(int(query.get("per_page", 30)), 100)
        start = (int(query.get("page", 1)) - 1) * size
        answer = {"total_count": len(runs), "workflow_runs": runs[start : start + size]}
    print(json.dumps(answer))
else:
    command, action, number, *options = sys.argv[1:]
    options = dict(zip(options[::2], options[1::2]))
    with (state / "downloads").open("a") as log:
        print(number, options["--name"], file=log)
    artifact = state / number / options["--name"]
    if not artifact.is_dir():
        sys.exit("no artifact matches any of the names or patterns provided")
    shutil.copytree(artifact, options["--dir"])
"""


@dataclass
class GitHub:
    """The state behind the client at `tools/gh`; runs are listed like GitHub lists them, the last first."""

    tools: Path
    runs: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._state.mkdir(parents=True)
        (self.tools / "gh").write_text(f"#!{sys.executable}\n{GH}")
        (self.tools / "gh").chmod(0o755)
        self._answer()

    @property
    def _state(self) -> Path:
        return self.tools / "github"

    @property
    def downloads(self) -> list[str]:
        """Each run and artifact that was requested."""
        log = self._state / "downloads"
        return log.read_text().splitlines() if log.exists() else []

    def run(self, number: int, **changes: Any) -> int:
        """Add a run of the nightly workflow, and return its number. With `is_listed_always` no filter leaves it out."""
        run = {
            "id": number,
            "name": "nightly",
            "display_title": "nightly",
            "event": "schedule",
            "head_branch": "main",
            "head_repository": {"full_name": OWN},
            "is_listed_always": False,
        }
        self.runs.insert(0, {**run, **changes})
        self._answer()
        return number

    def artifact(self, number: int, name: str) -> Path:
        """Make the folder of an artifact of a run, and return it."""
        folder = self._state / str(number) / name
        folder.mkdir(parents=True)
        return folder

    def refuse(self) -> None:
        """Refuse all requests from now on, as for a token that may read no actions."""
        (self._state / "api.json").write_text("{}")

    def _answer(self) -> None:
        answers = {
            "repos/{owner}/{repo}": {"full_name": OWN, "default_branch": "main"},
            "repos/{owner}/{repo}/actions/workflows/nightly.yml/runs": {"workflow_runs": self.runs},
        }
        (self._state / "api.json").write_text(json.dumps(answers))


def copy_scripts(root: Path, *names: str) -> None:
    """Copy these scripts of `.ci` into a checkout."""
    (root / ".ci").mkdir(parents=True, exist_ok=True)
    for name in names:
        shutil.copy(CHECKOUT / ".ci" / name, root / ".ci" / name)
